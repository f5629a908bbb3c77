/* The functions of arrowmask.h: each hands over to its Go counterpart. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "_cgo_export.h"
#include "arrowmask.h"
#include "bridge.h"

/* A forked child has the library's memory but not its threads: calling into Go
 * would wait for ever. */
static volatile int forked = 0;

static void in_child(void) { forked = 1; }

__attribute__((constructor)) static void watch_fork(void) { pthread_atfork(NULL, NULL, in_child); }

void *am_malloc(size_t n) { return malloc(n); }

/* Release callbacks of exports: all of a structure lies in private_data. */

void am_release_schema(struct ArrowSchema *s) {
  for (int64_t i = 0; i < s->n_children; i++)
    if (s->children[i]->release) s->children[i]->release(s->children[i]);
  if (s->dictionary && s->dictionary->release) s->dictionary->release(s->dictionary);
  s->release = NULL;
  free(s->private_data);
}

void am_release_array(struct ArrowArray *a) {
  for (int64_t i = 0; i < a->n_children; i++)
    if (a->children[i]->release) a->children[i]->release(a->children[i]);
  if (a->dictionary && a->dictionary->release) a->dictionary->release(a->dictionary);
  a->release = NULL;
  free(a->private_data);
}

void am_call_release_array(struct ArrowArray *a) {
  if (a->release) a->release(a);
}

void am_call_release_schema(struct ArrowSchema *s) {
  if (s->release) s->release(s);
}

/* The library. */

int32_t arrowmask_abi_version(void) { return ARROWMASK_ABI_VERSION; }

void arrowmask_free(void *p) { free(p); }

char *arrowmask_report(void) { return forked ? NULL : am_go_report(); }

int arrowmask_selftest(char **report) {
  if (report) *report = NULL;
  return forked ? ARROWMASK_EFORK : am_go_selftest(report);
}

/* Handles. */

size_t arrowmask_last_error(arrowmask_handle h, char *buf, size_t size) {
  static const char why[] = "the library was loaded before this process was forked; load it in the worker";
  if (!forked) return am_go_last_error(h, buf, size);
  if (buf && size > 0) {
    strncpy(buf, why, size - 1);
    buf[size - 1] = 0;
  }
  return sizeof why - 1;
}

int arrowmask_release(arrowmask_handle h) { return forked ? ARROWMASK_EFORK : am_go_release(h); }

int arrowmask_keyring_new(arrowmask_handle *out) {
  if (out) *out = 0;
  return forked ? ARROWMASK_EFORK : am_go_keyring_new(out);
}

int arrowmask_keyring_add(arrowmask_handle keyring, const char *name, const void *key, size_t n) {
  return forked ? ARROWMASK_EFORK : am_go_keyring_add(keyring, (char *)name, (void *)key, n);
}

/* Kernels. */

int arrowmask_kernel_new(const char *options, arrowmask_handle keyring, arrowmask_handle *out) {
  if (out) *out = 0;
  return forked ? ARROWMASK_EFORK : am_go_kernel_new((char *)options, keyring, out);
}

int arrowmask_kernel_bind(arrowmask_handle kernel, const struct ArrowSchema *const *types,
                          const struct ArrowArray *const *scalars, int64_t n_args, struct ArrowSchema *out) {
  if (out) memset(out, 0, sizeof *out);
  return forked ? ARROWMASK_EFORK : am_go_kernel_bind(kernel, (void *)types, (void *)scalars, n_args, out);
}

int arrowmask_kernel_execute(arrowmask_handle kernel, const struct ArrowArray *const *args, int64_t n_args,
                             int64_t n_rows, struct ArrowArray *out) {
  if (out) memset(out, 0, sizeof *out);
  return forked ? ARROWMASK_EFORK : am_go_kernel_execute(kernel, (void *)args, n_args, n_rows, out);
}
