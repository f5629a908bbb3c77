/* Columns for the C driver, made with counted release callbacks and with every
 * buffer ending at a page that may not be touched. */
#ifndef CDRIVER_H
#define CDRIVER_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "arrowmask.h"

static const char *test_name = "";
static int failures;

#define CHECK(ok, ...)                                      \
  do {                                                      \
    if (!(ok)) {                                            \
      failures++;                                           \
      fprintf(stderr, "FAIL %s (line %d): ", test_name, __LINE__); \
      fprintf(stderr, __VA_ARGS__);                         \
      fputc('\n', stderr);                                  \
      if (failures > 20) exit(1);                           \
    }                                                       \
  } while (0)

/* ---- memory ---- */

#define MAX_PARTS 8

struct guarded {
  void *map;
  size_t map_size;
  uint8_t *bytes;
};

static struct guarded guard_new(const void *from, size_t n) {
  size_t page = (size_t)sysconf(_SC_PAGESIZE);
  size_t body = (n + page - 1) / page * page;
  struct guarded g;
  g.map_size = body + page;
  g.map = mmap(NULL, g.map_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (g.map == MAP_FAILED) abort();
  mprotect((uint8_t *)g.map + body, page, PROT_NONE);
  g.bytes = (uint8_t *)g.map + body - n;
  if (n) memcpy(g.bytes, from, n);
  return g;
}

/* ---- columns ---- */

struct owner {
  int n, n_made; /* buffers, children: the tests change the counts of the array */
  struct guarded parts[MAX_PARTS];
  const void *buffers[MAX_PARTS];
};

static long schemas_released, arrays_released, released_twice;

static void count_schema(struct ArrowSchema *s) {
  schemas_released++;
  for (int64_t i = 0; s->children && i < (s->n_children == 2 ? 2 : 1); i++) {
    if (s->children[i]->release) s->children[i]->release(s->children[i]);
    free(s->children[i]);
  }
  free(s->children);
  if (s->dictionary) {
    if (s->dictionary->release) s->dictionary->release(s->dictionary);
    free(s->dictionary);
  }
  if (!s->release) released_twice++;
  s->release = NULL;
}

static void count_array(struct ArrowArray *a) {
  struct owner *o = a->private_data;
  arrays_released++;
  if (!a->release) {
    released_twice++;
    return;
  }
  for (int i = 0; i < o->n; i++)
    if (o->parts[i].map) munmap(o->parts[i].map, o->parts[i].map_size);
  for (int64_t i = 0; a->children && i < o->n_made; i++) {
    if (a->children[i]->release) a->children[i]->release(a->children[i]);
    free(a->children[i]);
  }
  free(a->children);
  if (a->dictionary) {
    if (a->dictionary->release) a->dictionary->release(a->dictionary);
    free(a->dictionary);
  }
  free(o);
  a->release = NULL;
}

struct column {
  struct ArrowSchema schema;
  struct ArrowArray array;
};

static void column_init(struct column *c, const char *format, int64_t rows) {
  memset(c, 0, sizeof *c);
  struct owner *o = calloc(1, sizeof *o);
  c->schema.format = format;
  c->schema.name = "c";
  c->schema.flags = ARROW_FLAG_NULLABLE;
  c->schema.release = count_schema;
  c->array.length = rows;
  c->array.buffers = o->buffers;
  c->array.private_data = o;
  c->array.release = count_array;
}

static void column_buffer(struct column *c, const void *from, size_t n, int null_pointer) {
  struct owner *o = c->array.private_data;
  if (!null_pointer) {
    o->parts[o->n] = guard_new(from, n);
    o->buffers[o->n] = o->parts[o->n].bytes;
  }
  c->array.n_buffers = ++o->n;
}

static void column_free(struct column *c) {
  if (c->array.release) c->array.release(&c->array);
  if (c->schema.release) c->schema.release(&c->schema);
}

/* The values of every test column, by row modulo 4: "", "abc", NULL, a long one.
 * Views reach into a data buffer for the long one only. */
static const char *const VALUES[4] = {"", "abc", NULL, "the quick brown fox jumps over"};
static const char *const SHA256[4] = {
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
    NULL,
    "fa85c34fa89174a6eb3e0952ab27c375a0cff3a79db24ad48cb83b8ca77daf5a",
};

static size_t value_len(int64_t i) { return VALUES[i % 4] ? strlen(VALUES[i % 4]) : 0; }

static void column_validity(struct column *c, int64_t rows, int none) {
  uint8_t *bits = calloc(1, rows / 8 + 1);
  for (int64_t i = 0; i < rows; i++)
    if (VALUES[i % 4]) bits[i / 8] |= 1 << (i % 8);
  column_buffer(c, bits, (rows + 7) / 8, none);
  free(bits);
}

/* rows of text or bytes in layout u, U, z, Z, vu or vz; the first `skip` rows
 * lie before the array's offset. */
static void column_text(struct column *c, const char *format, int64_t rows, int64_t skip) {
  int64_t all = rows + skip, at = 0;
  column_init(c, format, rows);
  c->array.offset = skip;
  c->array.null_count = -1;
  column_validity(c, all, 0);
  char *data = malloc(32 * all + 32);
  if (format[0] == 'v') {
    uint8_t *views = calloc(16, all + 1);
    const char *text = VALUES[3];
    int32_t n, where[2] = {0, 0};
    for (int64_t i = 0; i < all; i++) {
      n = (int32_t)value_len(i);
      memcpy(views + 16 * i, &n, 4);
      if (n <= 12) {
        if (n) memcpy(views + 16 * i + 4, VALUES[i % 4], n);
      } else {
        memcpy(views + 16 * i + 4, text, 4);
        memcpy(views + 16 * i + 8, where, 8);
      }
    }
    int64_t length = (int64_t)strlen(text);
    column_buffer(c, views, 16 * all, 0);
    column_buffer(c, text, length, 0);
    column_buffer(c, &length, 8, 0);
    free(views);
  } else {
    int32_t *small = malloc(4 * (all + 1));
    int64_t *large = malloc(8 * (all + 1));
    for (int64_t i = 0; i <= all; i++) {
      small[i] = (int32_t)at;
      large[i] = at;
      if (i < all) {
        if (value_len(i)) memcpy(data + at, VALUES[i % 4], value_len(i));
        at += value_len(i);
      }
    }
    if (format[0] == 'u' || format[0] == 'z')
      column_buffer(c, small, 4 * (all + 1), 0);
    else
      column_buffer(c, large, 8 * (all + 1), 0);
    column_buffer(c, data, at, 0);
    free(small);
    free(large);
  }
  free(data);
}

/* rows that refer to a dictionary of the four values, by index of int8. */
static void column_dictionary(struct column *c, int64_t rows, int64_t skip) {
  struct column values;
  column_text(&values, "u", 4, 0);
  column_init(c, "c", rows);
  c->array.offset = skip;
  c->array.null_count = 0;
  column_buffer(c, NULL, 0, 1);
  int8_t *index = malloc(rows + skip + 1);
  for (int64_t i = 0; i < rows + skip; i++) index[i] = i % 4;
  column_buffer(c, index, rows + skip, 0);
  free(index);
  c->schema.dictionary = malloc(sizeof values.schema);
  *c->schema.dictionary = values.schema;
  c->array.dictionary = malloc(sizeof values.array);
  *c->array.dictionary = values.array;
}

/* a struct, a list or any other parent of one text column */
static void column_parent(struct column *c, const char *format, int64_t rows) {
  struct column child;
  column_text(&child, "u", rows, 0);
  column_init(c, format, rows);
  column_buffer(c, NULL, 0, 1);
  c->schema.n_children = c->array.n_children = 1;
  ((struct owner *)c->array.private_data)->n_made = 1;
  c->schema.children = malloc(sizeof(void *));
  c->schema.children[0] = malloc(sizeof child.schema);
  *c->schema.children[0] = child.schema;
  c->array.children = malloc(sizeof(void *));
  c->array.children[0] = malloc(sizeof child.array);
  *c->array.children[0] = child.array;
}

/* a run-end encoded column: every value of the four, `each` rows long */
static void column_runs(struct column *c, int32_t each) {
  struct column ends, values;
  int32_t e[4] = {each, 2 * each, 3 * each, 4 * each};
  column_init(&ends, "i", 4);
  column_buffer(&ends, NULL, 0, 1);
  column_buffer(&ends, e, sizeof e, 0);
  column_text(&values, "u", 4, 0);
  column_init(c, "+r", 4 * each);
  c->schema.n_children = c->array.n_children = 2;
  ((struct owner *)c->array.private_data)->n_made = 2;
  c->schema.children = malloc(2 * sizeof(void *));
  c->array.children = malloc(2 * sizeof(void *));
  for (int i = 0; i < 2; i++) {
    struct column *from = i ? &values : &ends;
    c->schema.children[i] = malloc(sizeof from->schema);
    *c->schema.children[i] = from->schema;
    c->array.children[i] = malloc(sizeof from->array);
    *c->array.children[i] = from->array;
  }
}

/* a table of two text columns, secret and open, read from row `skip` on */
static void column_table(struct column *c, int64_t rows, int64_t skip) {
  column_init(c, "+s", rows);
  c->array.offset = skip;
  column_buffer(c, NULL, 0, 1);
  c->schema.n_children = c->array.n_children = 2;
  ((struct owner *)c->array.private_data)->n_made = 2;
  c->schema.children = malloc(2 * sizeof(void *));
  c->array.children = malloc(2 * sizeof(void *));
  for (int i = 0; i < 2; i++) {
    struct column child;
    column_text(&child, "u", rows + skip + 2, 0); /* children may be longer */
    child.schema.name = i ? "open" : "secret";
    c->schema.children[i] = malloc(sizeof child.schema);
    *c->schema.children[i] = child.schema;
    c->array.children[i] = malloc(sizeof child.array);
    *c->array.children[i] = child.array;
  }
}

/* ---- streams ---- */

static long streams_released;

struct source {
  const char *kind; /* "table" or a text format */
  int batches, fail_at, no_schema, spoil;
  int64_t rows, skip;
};

static void source_make(struct source *src, struct column *c) {
  if (!strcmp(src->kind, "table"))
    column_table(c, src->rows, src->skip);
  else
    column_text(c, src->kind, src->rows, src->skip);
}

static int source_schema(struct ArrowArrayStream *s, struct ArrowSchema *out) {
  struct source *src = s->private_data;
  struct column c;
  if (src->no_schema) return EIO;
  source_make(src, &c);
  *out = c.schema;
  c.array.release(&c.array);
  arrays_released--;
  if (!strcmp(src->kind, "table")) arrays_released -= 2;
  return 0;
}

static int source_next(struct ArrowArrayStream *s, struct ArrowArray *out) {
  struct source *src = s->private_data;
  struct column c;
  if (src->fail_at && src->fail_at-- == 1) return EIO;
  if (src->batches-- <= 0) {
    out->release = NULL;
    return 0;
  }
  source_make(src, &c);
  c.schema.release(&c.schema);
  *out = c.array;
  if (src->spoil) out->n_buffers = 7;
  return 0;
}

static const char *source_error(struct ArrowArrayStream *s) {
  (void)s;
  return "the disk is full";
}

static void source_release(struct ArrowArrayStream *s) {
  streams_released++;
  if (!s->release) released_twice++;
  s->release = NULL;
}

static void source_init(struct ArrowArrayStream *s, struct source *src) {
  s->get_schema = source_schema;
  s->get_next = source_next;
  s->get_last_error = source_error;
  s->release = source_release;
  s->private_data = src;
}

/* The text of row i of a result; NULL for a NULL. */
static const char *text_at(const struct ArrowSchema *s, const struct ArrowArray *a, int64_t i, size_t *n) {
  if (s->dictionary) {
    int64_t at = i + a->offset;
    const uint8_t *valid = a->buffers[0];
    if (valid && !(valid[at / 8] >> (at % 8) & 1)) return NULL;
    return text_at(s->dictionary, a->dictionary, ((const int8_t *)a->buffers[1])[at], n);
  }
  if (!strcmp(s->format, "+r")) {
    const int32_t *ends = a->children[0]->buffers[1];
    int64_t run = 0;
    while (ends[run + a->children[0]->offset] <= i + a->offset) run++;
    return text_at(s->children[1], a->children[1], run, n);
  }
  i += a->offset;
  const uint8_t *valid = a->buffers[0];
  if (valid && !(valid[i / 8] >> (i % 8) & 1)) return NULL;
  if (!strcmp(s->format, "vu")) {
    const uint8_t *v = (const uint8_t *)a->buffers[1] + 16 * i;
    int32_t w[4];
    memcpy(w, v, 16);
    *n = w[0];
    return w[0] <= 12 ? (const char *)v + 4 : (const char *)a->buffers[2 + w[2]] + w[3];
  }
  if (!strcmp(s->format, "U")) {
    const int64_t *o = a->buffers[1];
    *n = o[i + 1] - o[i];
    return (const char *)a->buffers[2] + o[i];
  }
  const int32_t *o = a->buffers[1];
  *n = o[i + 1] - o[i];
  return (const char *)a->buffers[2] + o[i];
}

#endif
