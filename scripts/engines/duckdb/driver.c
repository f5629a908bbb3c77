/*
 * Drives the C half of the DuckDB extension without DuckDB and without Go: both are
 * played here, so that AddressSanitizer sees every byte that it touches. Rows lie in
 * blocks of exactly their length; the function is upper-case of ASCII, with 'z' made
 * three characters and rows that begin with 'n' made NULL.
 *
 * Built and run by ../capi-test.sh, which puts duckdb.c's folder on the path.
 */
#include "duckdb.c"

#include <assert.h>
#include <ctype.h>

#define CHECK(c) ((c) ? (void)0 : (fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #c), exit(1)))

/* ---- the library's other half ---- */

static bool forked_now, no_memory;
static int go_objects;
bool am_forked(void) { return forked_now; }
const char am_fork_text[] = "forked";
void *am_malloc(size_t n) { return no_memory ? NULL : malloc(n); }

int am_go_duckdb_new(char *name, arrowmask_handle *out) {
  (void)name;
  go_objects++;
  *out = 1;
  return 0;
}

int arrowmask_release(arrowmask_handle h) {
  go_objects -= h == 1;
  return 0;
}

static char got_arg[100], got_options[100];
static int calls;
static int64_t rows_seen; /* in all calls */

int am_go_duckdb_call(arrowmask_handle h, char *arg, uint32_t arg_len, char *options, uint32_t options_len, struct am_duckdb_chunk *c, char **text) {
  CHECK(h == 1 && c->rows > 0 && c->in_offsets[0] == 0);
  calls++;
  rows_seen += c->rows;
  snprintf(got_arg, sizeof got_arg, "%.*s", (int)arg_len, arg);
  snprintf(got_options, sizeof got_options, "%.*s", (int)options_len, options);
  if (!strcmp(got_arg, "broken")) {
    *text = strdup("no such function");
    return 22;
  }
  if (!am_duckdb_reserve(c, 3 * (size_t)c->in_offsets[c->rows] + 1)) return 12;
  memset(c->out_valid, 0, (size_t)(c->rows + 7) / 8);
  c->out_data = c->memory;
  c->out_nulls = false;
  int32_t at = 0;
  c->out_offsets[0] = 0;
  for (int64_t i = 0; i < c->rows; i++) {
    int64_t bit = c->in_bit + i;
    bool valid = !c->in_valid || (c->in_valid[bit / 8] >> (bit % 8) & 1);
    const char *from = c->in_data + c->in_offsets[i];
    int32_t n = c->in_offsets[i + 1] - c->in_offsets[i];
    CHECK(valid || n == 0);
    if (valid && n > 0 && from[0] == 'n') valid = false, n = 0;
    if (valid)
      c->out_valid[i / 8] |= (uint8_t)(1 << (i % 8));
    else
      c->out_nulls = true;
    for (int32_t j = 0; j < n; j++)
      for (int k = from[j] == 'z' ? 3 : 1; k > 0; k--) c->memory[at++] = (char)toupper(from[j]);
    c->out_offsets[i + 1] = at;
  }
  return 0;
}

/* ---- DuckDB ---- */

struct vector {
  struct duckdb_text *text;
  int64_t *number;
  uint64_t *valid;
  char **heap; /* blocks that values point into */
  int blocks;
  uint64_t capacity;
};

struct chunk {
  uint64_t size;
  struct vector column[3];
};

static char failure[200];
static void *extra;
static int registered, sets, made;
static bool refuse;
static struct {
  body f;
  void *extra;
  void (*end)(void *);
} sql[40];

static duckdb_handle chunk_vector(duckdb_handle c, uint64_t i) { return &((struct chunk *)c)->column[i]; }
static uint64_t chunk_size(duckdb_handle c) { return ((struct chunk *)c)->size; }
static void *vector_data(duckdb_handle v) { return ((struct vector *)v)->text ? (void *)((struct vector *)v)->text : ((struct vector *)v)->number; }
static uint64_t *vector_validity(duckdb_handle v) { return ((struct vector *)v)->valid; }

static void ensure(duckdb_handle h) {
  struct vector *v = h;
  if (v->valid) return;
  size_t words = (v->capacity + 63) / 64;
  v->valid = malloc(words * 8 + 1);
  memset(v->valid, 0xff, words * 8);
}

static void set_value(struct vector *v, uint64_t i, const char *text, uint64_t n) {
  struct duckdb_text t = {.length = (uint32_t)n};
  if (n <= DUCKDB_INLINE) {
    if (n) memcpy(t.inlined, text, n);
  } else {
    char *at = malloc(n);
    memcpy(at, text, n);
    memcpy(t.prefix, text, 4);
    memcpy(t.at, &at, sizeof at);
    v->heap = realloc(v->heap, sizeof *v->heap * (size_t)(v->blocks + 1));
    v->heap[v->blocks++] = at;
  }
  v->text[i] = t;
}

static bool bad_utf8;
static void vector_assign(duckdb_handle h, uint64_t i, const char *text, uint64_t n) {
  struct vector *v = h;
  CHECK(i < v->capacity);
  if (bad_utf8) {
    ensure(h);
    v->valid[i / 64] &= ~(UINT64_C(1) << (i % 64));
    return;
  }
  set_value(v, i, text, n);
}
static void unsafe_assign(duckdb_handle h, uint64_t i, const char *text, uint64_t n) { vector_assign(h, i, text, n); }

static void *extra_info(duckdb_handle info) { (void)info; return extra; }
static void set_error(duckdb_handle info, const char *text) { (void)info; snprintf(failure, sizeof failure, "%s", text); }
static const char *version = "v1.2.0";
static const char *library_version(void) { return version; }
static int connect_(duckdb_handle d, duckdb_handle *c) { *c = d; return 0; }
static void forget(duckdb_handle *h) { *h = NULL; }
static void end_made(duckdb_handle *h) { made--; *h = NULL; }
static const char *clash;
static int query_(duckdb_handle c, const char *q, void *result) { (void)c; (void)result; CHECK(strstr(q, "'am_sha2'")); return clash != NULL; }
static const char *result_error(void *result) { (void)result; return clash; }
static void end_result(void *result) { (void)result; }
static duckdb_handle make_type_(int type) { made++; return (void *)(uintptr_t)type; }
static duckdb_handle make_function(void) { made++; return &sql[registered]; }
static duckdb_handle make_set(const char *name) { CHECK(!strncmp(name, "am_", 3)); sets++; return (void *)name; }
static void end_set(duckdb_handle *h) { sets--; *h = NULL; }
static void set_name(duckdb_handle f, const char *name) { (void)f; CHECK(!strncmp(name, "am_", 3)); }
static void ignore(duckdb_handle f) { (void)f; }
static void ignore_two(duckdb_handle f, duckdb_handle type) { (void)f; (void)type; }
static void set_extra_(duckdb_handle f, void *data, void (*end)(void *)) { (void)f; sql[registered].extra = data; sql[registered].end = end; }
static void set_body_(duckdb_handle f, body b) { (void)f; sql[registered].f = b; }
static int add_to_set(duckdb_handle set, duckdb_handle f) { (void)set; (void)f; registered++; return 0; }
static int register_set(duckdb_handle c, duckdb_handle set) { (void)c; (void)set; return refuse; }

static duckdb_entry table_[DUCKDB_UNSAFE_VECTOR_ASSIGN_STRING_ELEMENT_LEN + 1];
static const char *asked;
static bool no_api;
static const duckdb_entry *get_api(duckdb_handle info, const char *v) { (void)info; asked = v; return no_api ? NULL : table_; }
static duckdb_handle *get_database(duckdb_handle info) { static duckdb_handle d = &d; (void)info; return &d; }
static const struct duckdb_access duck_access = {set_error, get_database, get_api};

static void fill_table(void) {
#define SET(position, f) table_[position] = (duckdb_entry)(f)
  SET(DUCKDB_CONNECT, connect_);
  SET(DUCKDB_DISCONNECT, forget);
  SET(DUCKDB_LIBRARY_VERSION, library_version);
  SET(DUCKDB_QUERY, query_);
  SET(DUCKDB_DESTROY_RESULT, end_result);
  SET(DUCKDB_RESULT_ERROR, result_error);
  SET(DUCKDB_CREATE_LOGICAL_TYPE, make_type_);
  SET(DUCKDB_DESTROY_LOGICAL_TYPE, end_made);
  SET(DUCKDB_DATA_CHUNK_GET_VECTOR, chunk_vector);
  SET(DUCKDB_DATA_CHUNK_GET_SIZE, chunk_size);
  SET(DUCKDB_VECTOR_GET_DATA, vector_data);
  SET(DUCKDB_VECTOR_GET_VALIDITY, vector_validity);
  SET(DUCKDB_VECTOR_ENSURE_VALIDITY_WRITABLE, ensure);
  SET(DUCKDB_VECTOR_ASSIGN_STRING_ELEMENT_LEN, vector_assign);
  SET(DUCKDB_CREATE_SCALAR_FUNCTION, make_function);
  SET(DUCKDB_DESTROY_SCALAR_FUNCTION, end_made);
  SET(DUCKDB_SCALAR_FUNCTION_SET_NAME, set_name);
  SET(DUCKDB_SCALAR_FUNCTION_SET_SPECIAL_HANDLING, ignore);
  SET(DUCKDB_SCALAR_FUNCTION_ADD_PARAMETER, ignore_two);
  SET(DUCKDB_SCALAR_FUNCTION_SET_RETURN_TYPE, ignore_two);
  SET(DUCKDB_SCALAR_FUNCTION_SET_EXTRA_INFO, set_extra_);
  SET(DUCKDB_SCALAR_FUNCTION_SET_FUNCTION, set_body_);
  SET(DUCKDB_SCALAR_FUNCTION_GET_EXTRA_INFO, extra_info);
  SET(DUCKDB_SCALAR_FUNCTION_SET_ERROR, set_error);
  SET(DUCKDB_CREATE_SCALAR_FUNCTION_SET, make_set);
  SET(DUCKDB_DESTROY_SCALAR_FUNCTION_SET, end_set);
  SET(DUCKDB_ADD_SCALAR_FUNCTION_TO_SET, add_to_set);
  SET(DUCKDB_REGISTER_SCALAR_FUNCTION_SET, register_set);
  SET(DUCKDB_UNSAFE_VECTOR_ASSIGN_STRING_ELEMENT_LEN, unsafe_assign);
}

/* ---- vectors ---- */

static struct vector new_vector(uint64_t n) { return (struct vector){.text = calloc(n ? n : 1, sizeof(struct duckdb_text)), .capacity = n}; }

static void free_vector(struct vector *v) {
  for (int i = 0; i < v->blocks; i++) free(v->heap[i]);
  free(v->heap);
  free(v->text);
  free(v->number);
  free(v->valid);
}

static void set_null(struct vector *v, uint64_t i) {
  ensure(v);
  v->valid[i / 64] &= ~(UINT64_C(1) << (i % 64));
  memset(&v->text[i], 0xee, sizeof v->text[i]); /* a NULL's bytes are anything */
}

static unsigned long long seed = 1;
static unsigned rnd(unsigned n) {
  seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
  return (unsigned)(seed >> 33) % n;
}

/* A row's text from its number: lengths around the places where the copying changes. */
static uint64_t row_text(char *to, uint64_t i, unsigned kind) {
  static const unsigned lengths[] = {0, 1, 3, 4, 11, 12, 13, 15, 16, 17, 31, 32, 33, 63, 64, 65, 200};
  uint64_t n = kind == 0 ? 32 : kind == 1 ? i % 13 : lengths[rnd(17)];
  for (uint64_t j = 0; j < n; j++) to[j] = (char)('a' + (i + 7 * j) % 26);
  return n;
}

static void check_chunk(const struct function *f, uint64_t n, unsigned kind, bool nulls) {
  struct chunk c = {.size = n, .column = {new_vector(n)}};
  struct vector out = new_vector(n);
  char (*want)[700] = malloc((n ? n : 1) * sizeof *want);
  long *length = malloc((n ? n : 1) * sizeof *length);
  for (uint64_t i = 0; i < n; i++) {
    char text[200];
    uint64_t size = row_text(text, i, kind);
    length[i] = -1;
    if (nulls && rnd(4) == 0) {
      set_null(&c.column[0], i);
      continue;
    }
    set_value(&c.column[0], i, text, size);
    if (size && text[0] == 'n') continue;
    length[i] = 0;
    for (uint64_t j = 0; j < size; j++)
      for (int k = text[j] == 'z' ? 3 : 1; k > 0; k--) want[i][length[i]++] = (char)toupper(text[j]);
  }
  extra = (void *)f;
  failure[0] = 0;
  calls = 0;
  run(&f->api, NULL, &c, &out);
  CHECK(failure[0] == 0);
  CHECK(calls == (int)((n + MAX_ROWS - 1) / MAX_ROWS));
  /* Nothing of the input stays, and the result does not need it. */
  free_vector(&c.column[0]);
  struct scratch *s = scratch_get();
  for (size_t i = 0; i < s->in_size; i++) CHECK(n == 0 || s->chunk.in_data[i] == 0 || i >= (size_t)s->in_offsets[s->chunk.rows] + SLACK);
  for (uint64_t i = 0; i < n; i++) {
    CHECK(is_valid(out.valid, i) == (length[i] >= 0));
    if (length[i] < 0) continue;
    CHECK(out.text[i].length == length[i] && memcmp(bytes_of(&out.text[i]), want[i], (size_t)length[i]) == 0);
    if (length[i] > DUCKDB_INLINE) CHECK(memcmp(out.text[i].prefix, want[i], 4) == 0);
    for (long j = length[i]; j < DUCKDB_INLINE; j++) CHECK(out.text[i].inlined[j] == 0); /* DuckDB compares them */
  }
  free_vector(&out);
  free(want);
  free(length);
}

/* A column of a dictionary: rows of one value are the same bytes. */
static void check_few(const struct function *f, uint64_t n, unsigned few, bool nulls) {
  struct chunk c = {.size = n, .column = {new_vector(n)}};
  struct vector values = new_vector(few), out = new_vector(n);
  char want[200][700];
  long length[200];
  unsigned *value = malloc(n * sizeof *value);
  for (unsigned k = 0; k < few; k++) {
    char text[700];
    long size = snprintf(text, sizeof text, "%*.*s%u", (int)(k % 40), (int)(k % 40), k % 3 ? "" : "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn", k);
    set_value(&values, k, text, (uint64_t)size);
    length[k] = text[0] == 'n' ? -1 : size;
    memcpy(want[k], text, (size_t)size); /* digits and blanks have no upper case */
  }
  bool any_null = false;
  for (uint64_t i = 0; i < n; i++) {
    value[i] = i < PROBE ? rnd(few < PROBE / 4 ? few : PROBE / 4) : rnd(few);
    if (nulls && i % 5 == 2) {
      value[i] = few;
      any_null = true;
      set_null(&c.column[0], i);
    } else {
      c.column[0].text[i] = values.text[value[i]];
    }
  }
  extra = (void *)f;
  failure[0] = 0;
  calls = 0;
  rows_seen = 0;
  run(&f->api, NULL, &c, &out);
  CHECK(failure[0] == 0);
  if (n >= PROBE && n <= MAX_ROWS && few <= DISTINCT) CHECK(calls == 1 && rows_seen <= few + any_null);
  if (few > DISTINCT) CHECK((uint64_t)rows_seen == n);
  free_vector(&values);
  free_vector(&c.column[0]);
  for (size_t i = 0; i < sizeof scratch_get()->values; i++) CHECK(((char *)scratch_get()->values)[i] == 0);
  for (uint64_t i = 0; i < n; i++) {
    long size = value[i] == few ? -1 : length[value[i]];
    CHECK(is_valid(out.valid, i) == (size >= 0));
    if (size >= 0) CHECK(out.text[i].length == size && !memcmp(bytes_of(&out.text[i]), want[value[i]], (size_t)size));
  }
  free_vector(&out);
  free(value);
}

static void check_failure(const struct function *f, struct chunk *c, const char *text) {
  struct vector out = new_vector(c->size);
  extra = (void *)f;
  failure[0] = 0;
  run(&f->api, NULL, c, &out);
  CHECK(strstr(failure, text) && (*text || !failure[0]));
  free_vector(&out);
}

static void check_arguments(struct function f) {
  struct chunk c = {.size = 5, .column = {new_vector(5), new_vector(5), new_vector(5)}};
  for (int i = 0; i < 5; i++) set_value(&c.column[0], (uint64_t)i, "abc", 3);
  f.shape = EXPRESSION_OPTIONS;
  for (int i = 0; i < 5; i++) {
    set_value(&c.column[1], (uint64_t)i, "an expression of some length", 28);
    set_value(&c.column[2], (uint64_t)i, "{}", 2);
  }
  check_failure(&f, &c, "");
  CHECK(!strcmp(got_arg, "an expression of some length") && !strcmp(got_options, "{}"));
  set_value(&c.column[2], 4, "{ }", 3);
  check_failure(&f, &c, "same for every row");
  set_value(&c.column[2], 4, "{}", 2);
  set_value(&c.column[1], 3, "an expression of some lengtH", 28);
  check_failure(&f, &c, "same for every row");
  set_null(&c.column[1], 0);
  check_failure(&f, &c, "must not be NULL");
  f.shape = EXPRESSION;
  free_vector(&c.column[1]);
  c.column[1] = new_vector(5);
  for (int i = 0; i < 5; i++) set_value(&c.column[1], (uint64_t)i, "broken", 6);
  check_failure(&f, &c, "no such function");
  f.shape = WITH_NUMBER;
  free_vector(&c.column[1]);
  c.column[1] = (struct vector){.number = calloc(5, 8), .capacity = 5};
  for (int i = 0; i < 5; i++) c.column[1].number[i] = INT64_MIN;
  check_failure(&f, &c, "");
  CHECK(!strcmp(got_arg, "-9223372036854775808"));
  c.column[1].number[4] = 1;
  check_failure(&f, &c, "same for every row");
  ensure(&c.column[1]);
  c.column[1].valid[0] = ~UINT64_C(0x1f);
  check_failure(&f, &c, "");
  CHECK(!strcmp(got_arg, "NULL"));
  c.column[1].valid[0] = ~UINT64_C(0x0f);
  check_failure(&f, &c, "same for every row");

  f.shape = UNARY;
  forked_now = true;
  check_failure(&f, &c, "forked");
  forked_now = false;
  bad_utf8 = true;
  set_value(&c.column[0], 0, "more than twelve bytes", 22);
  check_failure(&f, &c, "not UTF-8");
  bad_utf8 = false;
  c.column[0].text[0].length = UINT32_MAX; /* looked at before its bytes */
  check_failure(&f, &c, "too long");
  for (int i = 0; i < 3; i++) free_vector(&c.column[i]);
}

/* Rows of megabytes are evaluated a piece at a time, and their memory is given back. */
static void check_large(const struct function *f) {
  enum { N = 30, SIZE = 3 << 20 };
  struct chunk c = {.size = N, .column = {new_vector(N)}};
  struct vector out = new_vector(N);
  char *text = malloc(SIZE);
  memset(text, 'a', SIZE);
  for (uint64_t i = 0; i < N; i++) i % 5 == 4 ? set_null(&c.column[0], i) : set_value(&c.column[0], i, text, i % 3 ? SIZE : 5);
  calls = 0;
  extra = (void *)f;
  run(&f->api, NULL, &c, &out);
  CHECK(calls > 2 && calls < N);
  memset(text, 'A', SIZE);
  for (uint64_t i = 0; i < N; i++) {
    CHECK(is_valid(out.valid, i) == (i % 5 != 4));
    if (i % 5 != 4) CHECK(out.text[i].length == (i % 3 ? SIZE : 5) && !memcmp(bytes_of(&out.text[i]), text, out.text[i].length));
  }
  struct scratch *s = scratch_get();
  CHECK(s->in_size == 0 && s->chunk.memory_size == 0);
  free_vector(&c.column[0]);
  free_vector(&out);
  free(text);
}

static void check_no_memory(const struct function *f) {
  struct chunk c = {.size = 2000, .column = {new_vector(2000)}};
  for (uint64_t i = 0; i < 2000; i++) set_value(&c.column[0], i, "0123456789012345678901234567890123456789", 40);
  struct scratch *s = scratch_get();
  free(s->chunk.in_data);
  free(s->chunk.memory);
  s->chunk.in_data = s->chunk.memory = NULL;
  s->in_size = s->chunk.memory_size = 0;
  no_memory = true;
  check_failure(f, &c, "no memory");
  no_memory = false;
  check_failure(f, &c, "");
  free_vector(&c.column[0]);
}

static void *in_thread(void *f) {
  extra = f;
  struct function *own = f;
  for (int i = 0; i < 20; i++) {
    struct chunk c = {.size = 100, .column = {new_vector(100)}};
    struct vector out = new_vector(100);
    for (uint64_t j = 0; j < 100; j++) set_value(&c.column[0], j, "thirteen bytes", 14);
    run(&own->api, NULL, &c, &out);
    CHECK(out.text[99].length == 14);
    free_vector(&c.column[0]);
    free_vector(&out);
  }
  return NULL;
}

int main(void) {
  fill_table();
  /* Loading: each version asks for the interface that it has. */
  static const struct { const char *version, *asked; } versions[] = {
      {"v1.2.0", "v1.2.0"}, {"v1.5.5", "v1.2.0"}, {"v1.5.6", "v1.5.6"}, {"v1.6.0", "v1.5.6"}, {"v2.0.1", "v1.5.6"}, {"v1.5.6-dev12", "v1.2.0"}, {"0123456789", "v1.2.0"}};
  for (size_t i = 0; i < sizeof versions / sizeof versions[0]; i++) {
    version = versions[i].version;
    registered = 0;
    CHECK(arrowmask_init_c_api(NULL, &duck_access));
    CHECK(!strcmp(asked, versions[i].asked) && registered == FUNCTIONS && sets == 0 && made == 0 && go_objects == FUNCTIONS);
    if (i + 1 < sizeof versions / sizeof versions[0])
      for (int j = 0; j < registered; j++) sql[j].end(sql[j].extra);
  }
  /* Two tables of functions so far: with assign, and with its unsafe form. */
  CHECK(sql[0].f == run_0 && apis[1].assign == unsafe_assign && !apis[2].extra_info);
  struct function f = *(struct function *)sql[0].extra;
  CHECK(f.shape == UNARY);
  for (int j = 0; j < registered; j++) sql[j].end(sql[j].extra);
  CHECK(go_objects == 0);

  static const uint64_t sizes[] = {0, 1, 2, 7, 8, 9, 63, 64, 65, 2047, 2048, 2049, 5000};
  for (unsigned kind = 0; kind < 3; kind++)
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
      check_chunk(&f, sizes[i], kind, false);
      check_chunk(&f, sizes[i], kind, true);
    }
  static const unsigned fews[] = {1, 2, 16, 17, 127, 128, 129, 199};
  for (size_t i = 0; i < sizeof fews / sizeof fews[0]; i++)
    for (size_t j = 1; j < sizeof sizes / sizeof sizes[0]; j++) {
      if (fews[i] > DISTINCT && sizes[j] < 2047) continue; /* all of them come up */
      check_few(&f, sizes[j], fews[i], false);
      check_few(&f, sizes[j], fews[i], true);
    }
  check_arguments(f);
  check_large(&f);
  check_no_memory(&f);
  pthread_t thread[4];
  for (int i = 0; i < 4; i++) CHECK(!pthread_create(&thread[i], NULL, in_thread, &f));
  for (int i = 0; i < 4; i++) CHECK(!pthread_join(thread[i], NULL));

  /* What can go wrong at loading. */
  registered = 0;
  clash = "a function of that name exists: am_sha2";
  CHECK(!arrowmask_init_c_api(NULL, &duck_access) && !strcmp(failure, clash) && registered == 0);
  clash = NULL;
  refuse = true;
  CHECK(!arrowmask_init_c_api(NULL, &duck_access) && strstr(failure, "refused"));
  for (int j = 0; j < registered; j++) sql[j].end(sql[j].extra);
  refuse = false;
  no_api = true;
  CHECK(!arrowmask_init_c_api(NULL, &duck_access));
  no_api = false;
  forked_now = true;
  CHECK(!arrowmask_init_c_api(NULL, &duck_access) && !strcmp(failure, "forked"));
  forked_now = false;
  registered = 0;
  while (body_of(&(struct api){.extra_info = (void *(*)(duckdb_handle))(uintptr_t)(0x1000 + 16 * ++registered)})) CHECK(registered < 10);
  CHECK(registered == MAX_DUCKDBS - 2 + 1 && go_objects == 0 && made == 0 && sets == 0);
  scratch_free(scratch_get());
  CHECK(!pthread_setspecific(scratch_key, NULL));
  puts("the DuckDB half: passed");
  return 0;
}
