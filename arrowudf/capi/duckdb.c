/*
 * The library as a DuckDB extension: functions of text in SQL, on DuckDB's own
 * vectors. A chunk of rows (up to 2048) is copied into one buffer with offsets, as
 * the kernels take it, hashed or masked by one call into Go, and handed to DuckDB
 * in one piece, which the result's values then point into.
 *
 * No Go code is on the stack while DuckDB runs: it may throw.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "_cgo_export.h"
#include "bridge.h"
#include "duckdb.h"

typedef void (*assign)(duckdb_handle vector, uint64_t row, const char *text, uint64_t length);

/* The part of the API that runs with every chunk. */
struct api {
  duckdb_handle (*chunk_vector)(duckdb_handle chunk, uint64_t column);
  uint64_t (*chunk_size)(duckdb_handle chunk);
  void *(*data)(duckdb_handle vector);
  uint64_t *(*validity)(duckdb_handle vector);
  void (*ensure_validity)(duckdb_handle vector);
  assign assign;
  void *(*extra_info)(duckdb_handle info);
  void (*set_error)(duckdb_handle info, const char *text);
};

/* What an argument after the text is. Both are the same in all rows of a chunk. */
enum shape { UNARY, WITH_NUMBER, EXPRESSION, EXPRESSION_OPTIONS };

/* A function that is registered in one database. */
struct function {
  struct api api;
  enum shape shape;
  arrowmask_handle go;
};

/* ---- memory of a thread ---- */

enum { MAX_ROWS = 2048, PIECE = 16 << 20, KEEP = 2 << 20, SLACK = 16 };

/* A chunk of at most DISTINCT values is evaluated once a value. */
enum { DISTINCT = 128, SLOTS = 4 * DISTINCT, PROBE = 64, NULL_ROW = UINT16_MAX };

struct scratch {
  struct am_duckdb_chunk chunk;
  size_t in_size;
  uint16_t value[MAX_ROWS]; /* of a row: where in values */
  struct duckdb_text values[DISTINCT + 1], answers[DISTINCT + 1];
  uint64_t values_valid[DISTINCT / 64 + 1];
  int32_t in_offsets[MAX_ROWS + 1], out_offsets[MAX_ROWS + 1];
  uint8_t out_valid[MAX_ROWS / 8];
};

static pthread_key_t scratch_key;
static pthread_once_t scratch_once = PTHREAD_ONCE_INIT;
static int scratch_failed;

static void scratch_free(void *p) {
  struct scratch *s = p;
  free(s->chunk.in_data);
  free(s->chunk.memory);
  free(s);
}

static void scratch_init(void) { scratch_failed = pthread_key_create(&scratch_key, scratch_free); }

static struct scratch *scratch_get(void) {
  pthread_once(&scratch_once, scratch_init);
  if (scratch_failed) return NULL;
  struct scratch *s = pthread_getspecific(scratch_key);
  if (s) return s;
  if (!(s = calloc(1, sizeof *s))) return NULL;
  if (pthread_setspecific(scratch_key, s)) {
    free(s);
    return NULL;
  }
  s->chunk.in_offsets = s->in_offsets;
  s->chunk.out_offsets = s->out_offsets;
  s->chunk.out_valid = s->out_valid;
  return s;
}

/* Makes a block at least size bytes long; what was in it is lost. */
static bool reserve(char **block, size_t *have, size_t size) {
  if (size <= *have) return true;
  free(*block);
  *have = 0;
  if (!(*block = am_malloc(size))) return false;
  *have = size;
  return true;
}

/* Rare large blocks do not stay. */
static void shrink(char **block, size_t *have) {
  if (*have <= KEEP) return;
  free(*block);
  *block = NULL;
  *have = 0;
}

bool am_duckdb_reserve(struct am_duckdb_chunk *c, size_t size) { return reserve(&c->memory, &c->memory_size, size); }

/* ---- text in ---- */

static bool is_valid(const uint64_t *valid, uint64_t row) { return !valid || valid[row / 64] >> (row % 64) & 1; }

static const char *bytes_of(const struct duckdb_text *t) {
  if (t->length <= DUCKDB_INLINE) return t->inlined;
  const char *at;
  memcpy(&at, t->at, sizeof at);
  return at;
}

/* Writes where rows from lo end in a buffer of their own, until it has PIECE bytes;
 * returns the row after the last. Equal to lo: that row is too long. */
static uint64_t measure(const struct duckdb_text *rows, const uint64_t *valid, uint64_t lo, uint64_t n, int32_t *offsets) {
  uint64_t end = 0, i = lo;
  offsets[0] = 0;
  if (!valid) {
    for (; i < n && end < PIECE && rows[i].length <= INT32_MAX - PIECE; i++) offsets[i + 1 - lo] = (int32_t)(end += rows[i].length);
    return i;
  }
  for (; i < n && end < PIECE; i++) {
    uint64_t length = is_valid(valid, i) ? rows[i].length : 0;
    if (length > INT32_MAX - PIECE) break;
    offsets[i + 1 - lo] = (int32_t)(end += length);
  }
  return i;
}

/* Copies n bytes, more than 12, without a call where there are few. */
static inline void copy(char *to, const char *from, uint32_t n) {
  if (n <= 16) {
    memcpy(to + n - 8, from + n - 8, 8);
    memcpy(to, from, 8);
  } else if (n <= 32) {
    memcpy(to, from, 16);
    memcpy(to + n - 16, from + n - 16, 16);
  } else if (n <= 64) {
    memcpy(to, from, 32);
    memcpy(to + n - 32, from + n - 32, 32);
  } else {
    memcpy(to, from, n);
  }
}

/* Copies the rows to where measure put them. There are SLACK bytes to spare. */
static void gather(const struct duckdb_text *rows, uint64_t n, const int32_t *offsets, char *data) {
  for (uint64_t i = 0; i < n; i++) {
    const struct duckdb_text *t = &rows[i];
    uint32_t length = (uint32_t)(offsets[i + 1] - offsets[i]);
    if (length > DUCKDB_INLINE) {
      copy(data + offsets[i], bytes_of(t), length);
    } else if (length) {
      memcpy(data + offsets[i], t->inlined, DUCKDB_INLINE);
    }
  }
}

/* ---- text out ---- */

static void set_null_row(uint64_t *valid, uint64_t row) { valid[row / 64] &= ~(UINT64_C(1) << (row % 64)); }

static bool answer_is_null(const struct am_duckdb_chunk *c, uint64_t i) { return c->out_nulls && !(c->out_valid[i / 8] >> (i % 8) & 1); }

/* Writes the values of a piece to rows, which need not be those of the result; their
 * bytes go into its memory. row is one of the result's that is written next. false:
 * DuckDB did not take them. */
static bool put(const struct api *api, duckdb_handle out, uint64_t row, const struct am_duckdb_chunk *c, struct duckdb_text *rows) {
  const int32_t *offsets = c->out_offsets;
  uint32_t total = (uint32_t)offsets[c->rows];
  const char *base = NULL;
  if (total > DUCKDB_INLINE) {
    /* One value as long as all: DuckDB copies it into the memory of the vector. */
    api->assign(out, row, c->out_data, total);
    if (!is_valid(api->validity(out), row)) return false;
    base = bytes_of((struct duckdb_text *)api->data(out) + row);
  }
  for (int64_t i = 0; i < c->rows; i++) {
    uint32_t length = (uint32_t)(offsets[i + 1] - offsets[i]);
    if (length > DUCKDB_INLINE) {
      /* Field by field: a structure on the stack would be written in parts, read
       * as a whole, and waited for. The prefix is nearer than in DuckDB's copy. */
      const char *at = base + offsets[i];
      rows[i].length = length;
      memcpy(rows[i].prefix, c->out_data + offsets[i], sizeof rows[i].prefix);
      memcpy(rows[i].at, &at, sizeof at);
    } else {
      struct duckdb_text t = {.length = length};
      if (length) memcpy(t.inlined, c->out_data + offsets[i], length);
      rows[i] = t;
    }
  }
  return true;
}

/* ---- chunks of few values ---- */

/* Finds the values of a chunk whose rows come from a dictionary: such rows are the
 * same 16 bytes, for a long value the same pointer. Returns how many there are, a
 * NULL at the end included; 0: too many to be worth it, or too long for one piece. */
static uint64_t distinct(const struct duckdb_text *rows, const uint64_t *valid, uint64_t n, struct scratch *s) {
  uint16_t slots[SLOTS] = {0}; /* one more than the place in values */
  uint64_t found = 0, bytes = 0;
  bool null = false;
  if (n < PROBE || n > MAX_ROWS) return 0;
  for (uint64_t i = 0; i < n; i++) {
    if (!is_valid(valid, i)) {
      s->value[i] = NULL_ROW;
      null = true;
      continue;
    }
    uint64_t word[2];
    memcpy(word, &rows[i], sizeof word);
    uint64_t slot = ((word[0] ^ word[1] * UINT64_C(0x9e3779b97f4a7c15)) * UINT64_C(0xd6e8feb86659fd93)) >> 32;
    while (slots[slot %= SLOTS] && memcmp(&s->values[slots[slot] - 1], word, sizeof word)) slot++;
    if (!slots[slot]) {
      bytes += rows[i].length;
      if (found == (i < PROBE ? PROBE / 4 : DISTINCT) || bytes >= PIECE) {
        memset(s->values, 0, found * sizeof s->values[0]);
        return 0;
      }
      memcpy(&s->values[found], word, sizeof word);
      slots[slot] = (uint16_t)++found;
    }
    s->value[i] = (uint16_t)(slots[slot] - 1);
  }
  memset(s->values_valid, 0xff, sizeof s->values_valid);
  if (null) set_null_row(s->values_valid, found++);
  return found;
}

/* Gives every row the answer for its value; a NULL's is the last of n. */
static void spread(const struct api *api, duckdb_handle out, uint64_t rows, const struct scratch *s, uint64_t n) {
  struct duckdb_text *to = api->data(out);
  if (s->chunk.out_nulls) api->ensure_validity(out);
  uint64_t *valid = s->chunk.out_nulls ? api->validity(out) : NULL;
  for (uint64_t i = 0; i < rows; i++) {
    uint64_t k = s->value[i] == NULL_ROW ? n - 1 : s->value[i];
    to[i] = s->answers[k];
    if (valid && answer_is_null(&s->chunk, k)) set_null_row(valid, i);
  }
}

/* ---- arguments that are the same in every row ---- */

static const char differs[] = "the arguments after the first must be the same for every row";

/* A number as a literal of the expression grammar. */
static const char *number(const struct api *api, duckdb_handle vector, uint64_t n, char *text, size_t size) {
  const int64_t *v = api->data(vector);
  const uint64_t *valid = api->validity(vector);
  bool null = !is_valid(valid, 0);
  for (uint64_t i = 1; i < n; i++)
    if (is_valid(valid, i) == null || (!null && v[i] != v[0])) return differs;
  if (null)
    snprintf(text, size, "NULL");
  else
    snprintf(text, size, "%lld", (long long)v[0]);
  return NULL;
}

/* Text; not copied. */
static const char *constant(const struct api *api, duckdb_handle vector, uint64_t n, const struct duckdb_text **out) {
  const struct duckdb_text *v = api->data(vector);
  const uint64_t *valid = api->validity(vector);
  if (!is_valid(valid, 0)) return "the expression and the options must not be NULL";
  for (uint64_t i = 1; i < n; i++) {
    if (!is_valid(valid, i)) return differs;
    if (memcmp(&v[i], &v[0], sizeof v[0]) == 0) continue;
    if (v[i].length != v[0].length || memcmp(bytes_of(&v[i]), bytes_of(&v[0]), v[0].length)) return differs;
  }
  *out = &v[0];
  return NULL;
}

/* What a call computes, besides the function itself; borrowed. */
struct argument {
  char digits[24];
  const char *text, *options;
  uint32_t length, options_length;
};

/* Reads the arguments after the first. NULL: they are good. */
static const char *read_argument(const struct function *f, duckdb_handle chunk, uint64_t n, struct argument *a) {
  const struct api *api = &f->api;
  const struct duckdb_text *t;
  const char *why = NULL;
  *a = (struct argument){.text = a->digits, .options = ""};
  if (f->shape == WITH_NUMBER) {
    why = number(api, api->chunk_vector(chunk, 1), n, a->digits, sizeof a->digits);
    a->length = (uint32_t)strlen(a->digits);
  }
  if (f->shape >= EXPRESSION) {
    if ((why = constant(api, api->chunk_vector(chunk, 1), n, &t))) return why;
    a->text = bytes_of(t);
    a->length = t->length;
  }
  if (f->shape == EXPRESSION_OPTIONS) {
    if ((why = constant(api, api->chunk_vector(chunk, 2), n, &t))) return why;
    a->options = bytes_of(t);
    a->options_length = t->length;
  }
  return why;
}

/* ---- the call ---- */

/* Why a call failed; own is for free. */
struct failure {
  const char *text;
  char *own;
};

static struct failure failed(const char *text) { return (struct failure){.text = text}; }

/* Brings the rows from lo on into s->chunk, as many as make a piece; returns the row
 * after them. */
static uint64_t take(struct scratch *s, const struct duckdb_text *rows, const uint64_t *valid, uint64_t lo, uint64_t n, struct failure *why) {
  struct am_duckdb_chunk *c = &s->chunk;
  uint64_t hi = measure(rows, valid, lo, n - lo > MAX_ROWS ? lo + MAX_ROWS : n, c->in_offsets);
  c->rows = (int64_t)(hi - lo);
  c->in_valid = (const uint8_t *)valid;
  c->in_bit = (int64_t)lo;
  if (hi == lo)
    *why = failed("a value is too long");
  else if (!reserve(&c->in_data, &s->in_size, (size_t)c->in_offsets[c->rows] + SLACK))
    *why = failed("no memory");
  else
    gather(rows + lo, hi - lo, c->in_offsets, c->in_data);
  return hi;
}

/* Evaluates the piece in s->chunk. The values of a query do not outlive it. */
static struct failure evaluate(const struct function *f, const struct argument *a, struct scratch *s) {
  struct am_duckdb_chunk *c = &s->chunk;
  struct failure why = {0};
  if (am_go_duckdb_call(f->go, (char *)a->text, a->length, (char *)a->options, a->options_length, c, &why.own))
    why.text = why.own ? why.own : "no memory";
  memset(c->in_data, 0, (size_t)c->in_offsets[c->rows] + SLACK);
  shrink(&c->in_data, &s->in_size);
  return why;
}

static const char not_utf8[] = "the result is not UTF-8";

/* The rows of a chunk one by one. */
static struct failure every_row(const struct function *f, const struct argument *a, struct scratch *s, const struct duckdb_text *rows, const uint64_t *valid, uint64_t n, duckdb_handle out) {
  const struct api *api = &f->api;
  struct am_duckdb_chunk *c = &s->chunk;
  struct failure why = {0};
  for (uint64_t lo = 0, hi; lo < n && !why.text; lo = hi) {
    hi = take(s, rows, valid, lo, n, &why);
    if (!why.text) why = evaluate(f, a, s);
    if (!why.text && !put(api, out, lo, c, (struct duckdb_text *)api->data(out) + lo)) why = failed(not_utf8);
    if (!why.text && c->out_nulls) {
      api->ensure_validity(out);
      uint64_t *out_valid = api->validity(out);
      for (uint64_t i = lo; i < hi; i++)
        if (answer_is_null(c, i - lo)) set_null_row(out_valid, i);
    }
    shrink(&c->memory, &c->memory_size);
  }
  return why;
}

static void run(const struct api *api, duckdb_handle info, duckdb_handle chunk, duckdb_handle out) {
  const struct function *f = api->extra_info(info);
  uint64_t n = api->chunk_size(chunk);
  if (n == 0) return;
  struct argument arg;
  struct scratch *s = scratch_get();
  struct failure why = failed(am_forked() ? am_fork_text : s ? read_argument(f, chunk, n, &arg) : "no memory");
  if (!why.text) {
    duckdb_handle column = api->chunk_vector(chunk, 0);
    const struct duckdb_text *rows = api->data(column);
    const uint64_t *valid = api->validity(column);
    uint64_t few = distinct(rows, valid, n, s);
    if (few) {
      take(s, s->values, s->values_valid, 0, few, &why);
      memset(s->values, 0, few * sizeof s->values[0]);
      if (!why.text) why = evaluate(f, &arg, s);
      if (!why.text && !put(api, out, 0, &s->chunk, s->answers)) why = failed(not_utf8);
      if (!why.text) spread(api, out, n, s, few);
      shrink(&s->chunk.memory, &s->chunk.memory_size);
    } else {
      why = every_row(f, &arg, s, rows, valid, n, out);
    }
  }
  if (why.text) api->set_error(info, why.text);
  free(why.own);
}

/* ---- registration ---- */

/* DuckDB tells a function of its own data only by a call into DuckDB, and more than
 * one DuckDB may live in a process: each has a body of its own. */
enum { MAX_DUCKDBS = 4 };
static struct api apis[MAX_DUCKDBS];
static pthread_mutex_t apis_lock = PTHREAD_MUTEX_INITIALIZER;

static void run_0(duckdb_handle i, duckdb_handle c, duckdb_handle o) { run(&apis[0], i, c, o); }
static void run_1(duckdb_handle i, duckdb_handle c, duckdb_handle o) { run(&apis[1], i, c, o); }
static void run_2(duckdb_handle i, duckdb_handle c, duckdb_handle o) { run(&apis[2], i, c, o); }
static void run_3(duckdb_handle i, duckdb_handle c, duckdb_handle o) { run(&apis[3], i, c, o); }

typedef void (*body)(duckdb_handle info, duckdb_handle chunk, duckdb_handle out);
static const body bodies[MAX_DUCKDBS] = {run_0, run_1, run_2, run_3};

static body body_of(const struct api *api) {
  body found = NULL;
  pthread_mutex_lock(&apis_lock);
  for (int i = 0; i < MAX_DUCKDBS && !found; i++) {
    if (!apis[i].extra_info) apis[i] = *api;
    if (apis[i].extra_info == api->extra_info && apis[i].assign == api->assign) found = bodies[i];
  }
  pthread_mutex_unlock(&apis_lock);
  return found;
}

static void function_free(void *p) {
  struct function *f = p;
  arrowmask_release(f->go);
  free(f);
}

#define ENTRY(type, position) ((type)table[position])

typedef duckdb_handle (*make)(void);
typedef duckdb_handle (*make_named)(const char *name);
typedef duckdb_handle (*make_type)(int type);
typedef void (*destroy)(duckdb_handle *);
typedef void (*change)(duckdb_handle);
typedef void (*add)(duckdb_handle, duckdb_handle);
typedef int (*add_checked)(duckdb_handle, duckdb_handle);
typedef void (*set_text)(duckdb_handle, const char *);
typedef void (*set_body)(duckdb_handle, body);
typedef void (*set_extra)(duckdb_handle, void *data, void (*free)(void *));
typedef const char *(*get_text)(void);
typedef int (*connect)(duckdb_handle database, duckdb_handle *connection);
typedef int (*query)(duckdb_handle connection, const char *sql, void *result);
typedef const char *(*result_text)(void *result);
typedef void (*result_end)(void *result);

/* The functions: the same names as arrowmask.duckdb gives them in Python. */
static const struct {
  const char *name;
  enum shape shape;
} functions[] = {
    {"am_md5", UNARY},
    {"am_sha1", UNARY},
    {"am_sha224", UNARY},
    {"am_sha256", UNARY},
    {"am_sha384", UNARY},
    {"am_sha512", UNARY},
    {"am_hex", UNARY},
    {"am_mask", UNARY},
    {"am_mask_hash", UNARY},
    {"am_mask_null", UNARY},
    {"am_sha2", WITH_NUMBER},
    {"am_mask_first_n", WITH_NUMBER},
    {"am_mask_last_n", WITH_NUMBER},
    {"am_mask_show_first_n", WITH_NUMBER},
    {"am_mask_show_last_n", WITH_NUMBER},
    {"am_eval", EXPRESSION},
    {"am_eval", EXPRESSION_OPTIONS},
};
enum { FUNCTIONS = sizeof functions / sizeof functions[0] };
static const char prefix[] = "am_";

/* Adds one function to a set. NULL: it is there. */
static const char *add_function(const duckdb_entry *table, const struct api *api, duckdb_handle set, const char *name, enum shape shape) {
  body own = body_of(api);
  if (!own) return "too many DuckDB libraries in one process";
  struct function *f = calloc(1, sizeof *f);
  if (!f) return "no memory";
  f->api = *api;
  f->shape = shape;
  if (am_go_duckdb_new((char *)(shape < EXPRESSION ? name + strlen(prefix) : ""), &f->go)) {
    function_free(f);
    return "no memory";
  }
  duckdb_handle text = ENTRY(make_type, DUCKDB_CREATE_LOGICAL_TYPE)(DUCKDB_TYPE_VARCHAR);
  duckdb_handle integer = ENTRY(make_type, DUCKDB_CREATE_LOGICAL_TYPE)(DUCKDB_TYPE_BIGINT);
  duckdb_handle sql = ENTRY(make, DUCKDB_CREATE_SCALAR_FUNCTION)();
  ENTRY(set_text, DUCKDB_SCALAR_FUNCTION_SET_NAME)(sql, name);
  add parameter = ENTRY(add, DUCKDB_SCALAR_FUNCTION_ADD_PARAMETER);
  parameter(sql, text);
  if (shape == WITH_NUMBER) parameter(sql, integer);
  if (shape >= EXPRESSION) parameter(sql, text);
  if (shape == EXPRESSION_OPTIONS) parameter(sql, text);
  ENTRY(add, DUCKDB_SCALAR_FUNCTION_SET_RETURN_TYPE)(sql, text);
  ENTRY(change, DUCKDB_SCALAR_FUNCTION_SET_SPECIAL_HANDLING)(sql); /* NULLs are ours to answer */
  ENTRY(set_extra, DUCKDB_SCALAR_FUNCTION_SET_EXTRA_INFO)(sql, f, function_free);
  ENTRY(set_body, DUCKDB_SCALAR_FUNCTION_SET_FUNCTION)(sql, own);
  int failed = ENTRY(add_checked, DUCKDB_ADD_SCALAR_FUNCTION_TO_SET)(set, sql);
  ENTRY(destroy, DUCKDB_DESTROY_SCALAR_FUNCTION)(&sql);
  ENTRY(destroy, DUCKDB_DESTROY_LOGICAL_TYPE)(&integer);
  ENTRY(destroy, DUCKDB_DESTROY_LOGICAL_TYPE)(&text);
  return failed ? "DuckDB refused a function" : NULL;
}

/* DuckDB would quietly add to a function that it knows already. The names of a
 * query's error are DuckDB's, so the error itself is asked for. */
static const char *taken(const duckdb_entry *table, duckdb_handle connection, char *text, size_t size) {
  static const char sql[] =
      "SELECT CASE WHEN count(*) > 0 THEN error('a function of that name exists: ' || min(function_name)) END "
      "FROM duckdb_functions() WHERE function_name IN (";
  char q[sizeof sql + FUNCTIONS * 40];
  size_t at = (size_t)snprintf(q, sizeof q, "%s", sql);
  for (int i = 0; i < FUNCTIONS; i++) at += (size_t)snprintf(q + at, sizeof q - at, "%s'%s'", i ? ", " : "", functions[i].name);
  snprintf(q + at, sizeof q - at, ")");
  uint64_t result[16] = {0}; /* a duckdb_result, which is smaller */
  const char *why = NULL;
  if (ENTRY(query, DUCKDB_QUERY)(connection, q, result)) {
    why = ENTRY(result_text, DUCKDB_RESULT_ERROR)(result);
    snprintf(text, size, "%s", why ? why : "the functions could not be looked up");
    why = text;
  }
  ENTRY(result_end, DUCKDB_DESTROY_RESULT)(result);
  return why;
}

static const char *add_functions(const duckdb_entry *table, const struct api *api, duckdb_handle connection) {
  const char *why = NULL;
  for (int i = 0, next; i < FUNCTIONS && !why; i = next) {
    duckdb_handle set = ENTRY(make_named, DUCKDB_CREATE_SCALAR_FUNCTION_SET)(functions[i].name);
    for (next = i; next < FUNCTIONS && !why && !strcmp(functions[next].name, functions[i].name); next++)
      why = add_function(table, api, set, functions[i].name, functions[next].shape);
    if (!why && ENTRY(add_checked, DUCKDB_REGISTER_SCALAR_FUNCTION_SET)(connection, set)) why = "DuckDB refused a function";
    ENTRY(destroy, DUCKDB_DESTROY_SCALAR_FUNCTION_SET)(&set);
  }
  return why;
}

/* Whether a DuckDB of this version has the second part of the API. */
static bool since_1_5_6(const char *version) {
  unsigned major = 0, minor = 0, patch = 0;
  if (!version || sscanf(version, "v%u.%u.%u", &major, &minor, &patch) != 3 || strchr(version, '-')) return false;
  return major > 1 || minor > 5 || (minor == 5 && patch >= 6);
}

static bool load(duckdb_handle info, const struct duckdb_access *access) {
  const duckdb_entry *table = access->get_api(info, "v1.2.0");
  if (!table) return false; /* DuckDB has set the error */
  if (am_forked()) {
    access->set_error(info, am_fork_text);
    return false;
  }
  struct api api = {
      .chunk_vector = ENTRY(duckdb_handle(*)(duckdb_handle, uint64_t), DUCKDB_DATA_CHUNK_GET_VECTOR),
      .chunk_size = ENTRY(uint64_t(*)(duckdb_handle), DUCKDB_DATA_CHUNK_GET_SIZE),
      .data = ENTRY(void *(*)(duckdb_handle), DUCKDB_VECTOR_GET_DATA),
      .validity = ENTRY(uint64_t * (*)(duckdb_handle), DUCKDB_VECTOR_GET_VALIDITY),
      .ensure_validity = ENTRY(change, DUCKDB_VECTOR_ENSURE_VALIDITY_WRITABLE),
      .assign = ENTRY(assign, DUCKDB_VECTOR_ASSIGN_STRING_ELEMENT_LEN),
      .extra_info = ENTRY(void *(*)(duckdb_handle), DUCKDB_SCALAR_FUNCTION_GET_EXTRA_INFO),
      .set_error = ENTRY(set_text, DUCKDB_SCALAR_FUNCTION_SET_ERROR),
  };
  if (since_1_5_6(ENTRY(get_text, DUCKDB_LIBRARY_VERSION)())) {
    /* The same without a look at whether it is UTF-8. */
    if (!(table = access->get_api(info, "v1.5.6"))) return false;
    api.assign = ENTRY(assign, DUCKDB_UNSAFE_VECTOR_ASSIGN_STRING_ELEMENT_LEN);
  }
  duckdb_handle *database = access->get_database(info), connection = NULL;
  char text[256];
  const char *why = "no connection to the database";
  if (database && !ENTRY(connect, DUCKDB_CONNECT)(*database, &connection)) {
    why = taken(table, connection, text, sizeof text);
    if (!why) why = add_functions(table, &api, connection);
    ENTRY(destroy, DUCKDB_DISCONNECT)(&connection);
  }
  if (why) access->set_error(info, why);
  return !why;
}

/* What DuckDB looks for in a file arrowmask.duckdb_extension. */
__attribute__((visibility("default"))) bool arrowmask_init_c_api(duckdb_handle info, const struct duckdb_access *access) {
  return load(info, access);
}
