/* The functions of arrowmask.h: each hands over to its Go counterpart. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#ifdef __linux__
#include <sys/mman.h>
#endif

#include "_cgo_export.h"
#include "arrowmask.h"
#include "bridge.h"

/* A forked child has the library's memory but not its threads: calling into Go
 * would wait for ever. */
static volatile int forked = 0;

static void in_child(void) { forked = 1; }

bool am_forked(void) { return forked; }

const char am_fork_text[] = "the library was loaded before this process was forked; load it in the worker";

__attribute__((constructor)) static void watch_fork(void) { pthread_atfork(NULL, NULL, in_child); }

/* Fresh memory costs a page fault every 4 KiB, which for a large result is more
 * than the digests do; with huge pages, one every 2 MiB. */
void *am_malloc(size_t n) {
#ifdef MADV_HUGEPAGE
  const size_t huge = 2u << 20;
  void *p = NULL;
  if (n >= 4 * huge) {
    if (posix_memalign(&p, huge, n)) return NULL;
    madvise(p, n, MADV_HUGEPAGE);
    return p;
  }
#endif
  return malloc(n);
}

/* Release callbacks of exports: all of a structure lies in private_data, a block
 * of malloc. That of an array begins with the blocks of its large buffers. */

struct blocks {
  int64_t n;
  void *block[];
};

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
  struct blocks *more = a->private_data;
  for (int64_t i = 0; i < more->n; i++) free(more->block[i]);
  free(more);
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
  if (!forked) return am_go_last_error(h, buf, size);
  if (buf && size > 0) {
    strncpy(buf, am_fork_text, size - 1);
    buf[size - 1] = 0;
  }
  return sizeof am_fork_text - 1;
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

/* Policies and maskers. */

int arrowmask_policy_new(const char *options, const void *policies, size_t n, arrowmask_handle *out) {
  if (out) *out = 0;
  return forked ? ARROWMASK_EFORK : am_go_policy_new((char *)options, (void *)policies, n, out);
}

int arrowmask_policy_plan(arrowmask_handle policy, const char *request, const struct ArrowSchema *table, void **plan, size_t *n) {
  if (plan) *plan = NULL;
  if (n) *n = 0;
  return forked ? ARROWMASK_EFORK : am_go_policy_plan(policy, (char *)request, (struct ArrowSchema *)table, plan, n);
}

int arrowmask_masker_new(const char *options, arrowmask_handle keyring, const void *plan, size_t n,
                         const struct ArrowSchema *table, arrowmask_handle *out) {
  if (out) *out = 0;
  return forked ? ARROWMASK_EFORK
                : am_go_masker_new((char *)options, keyring, (void *)plan, n, (struct ArrowSchema *)table, out);
}

/* Streams. The stream that comes in lies in the private data of the one that
 * goes out; Go sees one array at a time. */

struct stream {
  arrowmask_handle handle;
  struct ArrowArrayStream in;
  int failed; /* the latest call did */
  char text[1024];
};

static int stream_failed(struct stream *s, int rc) {
  s->failed = rc != 0;
  if (rc) arrowmask_last_error(s->handle, s->text, sizeof s->text);
  return rc;
}

static int stream_schema(struct ArrowArrayStream *self, struct ArrowSchema *out) {
  struct stream *s = self->private_data;
  memset(out, 0, sizeof *out);
  return stream_failed(s, forked ? ARROWMASK_EFORK : am_go_stream_schema(s->handle, out));
}

static int stream_next(struct ArrowArrayStream *self, struct ArrowArray *out) {
  struct stream *s = self->private_data;
  struct ArrowArray batch;
  memset(out, 0, sizeof *out);
  if (forked) return stream_failed(s, ARROWMASK_EFORK);
  memset(&batch, 0, sizeof batch);
  int rc = s->in.get_next(&s->in, &batch);
  if (rc) {
    am_go_stream_fail(s->handle, rc, (char *)(s->in.get_last_error ? s->in.get_last_error(&s->in) : NULL));
    return stream_failed(s, rc);
  }
  if (!batch.release) return stream_failed(s, 0); /* the end */
  rc = am_go_stream_next(s->handle, &batch, out);
  batch.release(&batch);
  return stream_failed(s, rc);
}

static const char *stream_error(struct ArrowArrayStream *self) {
  struct stream *s = self->private_data;
  return s->failed ? s->text : NULL;
}

static void stream_release(struct ArrowArrayStream *self) {
  struct stream *s = self->private_data;
  if (s->in.release) s->in.release(&s->in);
  arrowmask_release(s->handle);
  free(s);
  self->release = NULL;
}

int arrowmask_stream(arrowmask_handle h, struct ArrowArrayStream *in, struct ArrowArrayStream *out) {
  if (out) memset(out, 0, sizeof *out);
  if (!in || !in->release) return ARROWMASK_EINVAL;
  struct stream *s = NULL;
  struct ArrowSchema schema;
  memset(&schema, 0, sizeof schema);
  int rc = forked ? ARROWMASK_EFORK : !out || !in->get_schema || !in->get_next ? ARROWMASK_EINVAL : 0;
  if (!rc && !(s = calloc(1, sizeof *s))) rc = ARROWMASK_ENOMEM;
  if (!rc && (rc = in->get_schema(in, &schema))) {
    am_go_stream_fail(h, rc, (char *)(in->get_last_error ? in->get_last_error(in) : NULL));
    schema.release = NULL; /* nothing was written */
  }
  if (!rc) rc = am_go_stream_open(h, &schema, &s->handle);
  if (schema.release) schema.release(&schema);
  if (rc) {
    in->release(in);
    in->release = NULL;
    free(s);
    return rc;
  }
  s->in = *in;
  in->release = NULL;
  out->get_schema = stream_schema;
  out->get_next = stream_next;
  out->get_last_error = stream_error;
  out->release = stream_release;
  out->private_data = s;
  return 0;
}

int arrowmask_array_copy(const struct ArrowSchema *schema, const struct ArrowArray *array, struct ArrowSchema *out_schema,
                         struct ArrowArray *out_array) {
  if (out_schema) memset(out_schema, 0, sizeof *out_schema);
  if (out_array) memset(out_array, 0, sizeof *out_array);
  return forked ? ARROWMASK_EFORK : am_go_array_copy((void *)schema, (void *)array, out_schema, out_array);
}
