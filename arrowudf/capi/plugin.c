/*
 * The symbols of a Polars expression plugin named arrowmask_eval. Its kwargs are
 * one text, pickled: {"options": "KEYRING OPTIONS"}, the handle of a keyring (0:
 * none) and the options of arrowmask_kernel_new.
 *
 * The interface is that of the crate polars-ffi, version 0.1: columns come and go
 * as structures of the C Data Interface. The plugin owns its inputs.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "_cgo_export.h"
#include "bridge.h"

struct series {
  struct ArrowSchema *field;
  struct ArrowArray **arrays;
  size_t len;
  void (*release)(struct series *);
  void *private_data;
};

static _Thread_local char plugin_error[1024];

uint32_t _polars_plugin_get_version(void) { return 1; /* 0.1 */ }

const char *_polars_plugin_get_last_error_message(void) { return plugin_error; }

/* The memory of a series that goes out. Whoever takes the series takes the arrays
 * out of it; what is left is released here. */
struct out {
  struct ArrowSchema field;
  struct ArrowArray **places;
  struct ArrowArray arrays[];
};

static void out_release(struct series *s) {
  struct out *o = s->private_data;
  if (!o) return;
  if (o->field.release) o->field.release(&o->field);
  free(o->places);
  free(o);
  s->private_data = NULL;
  s->release = NULL;
}

static void in_release(struct series *in, size_t n) {
  for (size_t i = 0; i < n; i++) {
    for (size_t j = 0; j < in[i].len; j++) am_call_release_array(in[i].arrays[j]);
    if (in[i].release) in[i].release(&in[i]);
  }
}

static int plugin_open(const struct ArrowSchema *field, size_t n, const uint8_t *kwargs, size_t size,
                       struct ArrowSchema *out, arrowmask_handle *h) {
  plugin_error[0] = 0;
  *h = 0;
  if (n != 1) {
    snprintf(plugin_error, sizeof plugin_error, "one column is needed, not %zu", n);
    return ARROWMASK_EINVAL;
  }
  char *options = NULL;
  arrowmask_handle keyring = 0;
  int rc = arrowmask_release(0);
  if (rc == ARROWMASK_EFORK) {
    arrowmask_last_error(0, plugin_error, sizeof plugin_error);
    return rc;
  }
  if (!(options = am_go_plugin_options((void *)kwargs, size, &keyring))) {
    snprintf(plugin_error, sizeof plugin_error, "kwargs are not as arrowmask.polars writes them");
    return ARROWMASK_EINVAL;
  }
  rc = arrowmask_kernel_new(options, keyring, h);
  free(options);
  if (!rc) rc = arrowmask_kernel_bind(*h, &field, NULL, 1, out);
  if (rc) arrowmask_last_error(*h, plugin_error, sizeof plugin_error);
  return rc;
}

void _polars_plugin_field_arrowmask_eval(const struct ArrowSchema *fields, size_t n, struct ArrowSchema *out,
                                         const uint8_t *kwargs, size_t size) {
  arrowmask_handle h;
  memset(out, 0, sizeof *out);
  plugin_open(fields, n, kwargs, size, out, &h);
  if (h) arrowmask_release(h);
}

void _polars_plugin_arrowmask_eval(struct series *in, size_t n, const uint8_t *kwargs, size_t size, struct series *ret,
                                   const void *context) {
  (void)context;
  struct series s;
  struct out *o = NULL;
  struct ArrowSchema field;
  arrowmask_handle h = 0;
  size_t done = 0;
  memset(ret, 0, sizeof *ret);
  memset(&field, 0, sizeof field);
  int rc = plugin_open(n == 1 ? in->field : NULL, n, kwargs, size, &field, &h);
  if (!rc) {
    o = calloc(1, sizeof *o + in->len * sizeof *o->arrays);
    if (o) o->places = calloc(in->len + 1, sizeof *o->places);
    if (!o || !o->places) {
      rc = ARROWMASK_ENOMEM;
      snprintf(plugin_error, sizeof plugin_error, "out of memory");
    }
  }
  for (; !rc && done < in->len; done++) {
    const struct ArrowArray *arg = in->arrays[done];
    o->places[done] = &o->arrays[done];
    rc = arrowmask_kernel_execute(h, &arg, 1, -1, &o->arrays[done]);
    if (rc) arrowmask_last_error(h, plugin_error, sizeof plugin_error);
  }
  if (!rc) {
    o->field = field;
    s.field = &o->field;
    s.arrays = o->places;
    s.len = in->len;
    s.release = out_release;
    s.private_data = o;
    *ret = s;
  } else {
    if (field.release) field.release(&field);
    for (size_t i = 0; o && i < done; i++) am_call_release_array(&o->arrays[i]);
    if (o) free(o->places);
    free(o);
  }
  if (h) arrowmask_release(h);
  in_release(in, n);
}
