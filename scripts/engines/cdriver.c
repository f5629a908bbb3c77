/*
 * Feeds every function of the C interface with good and with broken input, many
 * times each, and counts: what was allocated is freed, every input is released
 * exactly once, by its owner, outputs outlive inputs and the reverse. Built with
 * AddressSanitizer by capi-test.sh.
 *
 * usage: cdriver [CALLS]
 */
#include <pthread.h>
#include <sys/wait.h>

#include "cdriver.h"

#ifdef __SANITIZE_ADDRESS__
size_t __sanitizer_get_current_allocated_bytes(void);
#define LIVE_BYTES() __sanitizer_get_current_allocated_bytes()
#else
#include <malloc.h>
#define LIVE_BYTES() mallinfo2().uordblks
#endif

/* Go's threads come and go, and have some C memory of their own. */
#define SLACK 16384

static int calls = 10000;
static int cases, bad_cases;

static char *last_error(arrowmask_handle h) {
  static char buf[1024];
  buf[0] = 0;
  arrowmask_last_error(h, buf, sizeof buf);
  return buf;
}

static arrowmask_handle kernel_of(const char *options) {
  arrowmask_handle k = 0;
  int rc = arrowmask_kernel_new(options, 0, &k);
  CHECK(rc == ARROWMASK_OK, "kernel_new: %d %s", rc, last_error(k));
  return k;
}

static const char SHA2[] = "{\"function\": \"sha2\", \"args\": [256]}";

/* ---- good input ---- */

static void check_digests(const struct ArrowSchema *s, const struct ArrowArray *a, int64_t rows, int64_t first, int64_t each) {
  CHECK(a->length == rows, "length %ld, want %ld", (long)a->length, (long)rows);
  CHECK(s->flags & ARROW_FLAG_NULLABLE, "result is not marked nullable");
  for (int64_t i = 0; i < rows; i++) {
    size_t n = 0;
    const char *got = text_at(s, a, i, &n), *want = SHA256[(i + first) / each % 4];
    CHECK((got == NULL) == (want == NULL), "row %ld: NULL where it should not be", (long)i);
    if (got && want) CHECK(n == 64 && !memcmp(got, want, 64), "row %ld: wrong digest", (long)i);
  }
}

static void run_good(const char *name, struct column *c, int64_t first, int64_t each) {
  test_name = name;
  cases++;
  const struct ArrowSchema *type = &c->schema;
  const struct ArrowArray *arg = &c->array;
  int64_t rows = c->array.length;
  long released = arrays_released + schemas_released;
  size_t before = 0;
  for (int i = 0; i < calls; i++) {
    /* Go's own use of C memory (threads) settles in the first calls. */
    if (i == calls / 10) before = LIVE_BYTES();
    struct ArrowSchema out_type;
    struct ArrowArray out;
    memset(&out_type, 0xAA, sizeof out_type); /* outputs need not be initialised */
    memset(&out, 0xAA, sizeof out);
    arrowmask_handle k = kernel_of(SHA2);
    int rc = arrowmask_kernel_bind(k, &type, NULL, 1, &out_type);
    CHECK(rc == 0, "bind: %d %s", rc, last_error(k));
    rc = arrowmask_kernel_execute(k, &arg, 1, rows, &out);
    CHECK(rc == 0, "execute: %d %s", rc, last_error(k));
    if (rc == 0) {
      arrowmask_release(k); /* outputs outlive handles */
      if (i % (calls / 10 + 1) == 0) check_digests(&out_type, &out, rows, first, each);
      out.release(&out);
      out_type.release(&out_type);
      CHECK(!out.release && !out_type.release, "release left release set");
    }
  }
  size_t after = LIVE_BYTES();
  CHECK(after <= before + SLACK, "%zu bytes live before, %zu after", before, after);
  CHECK(arrays_released + schemas_released == released, "a borrowed input was released");

  /* An output outlives its input, whose memory is unmapped here. */
  struct ArrowSchema out_type;
  struct ArrowArray out;
  arrowmask_handle k = kernel_of(SHA2);
  arrowmask_kernel_bind(k, &type, NULL, 1, &out_type);
  arrowmask_kernel_execute(k, &arg, 1, rows, &out);
  column_free(c);
  if (out.release) {
    check_digests(&out_type, &out, rows, first, each);
    out.release(&out);
    out_type.release(&out_type);
  }
  arrowmask_release(k);
}

static void test_B35_good_columns(void) {
  static const char *const formats[] = {"u", "U", "vu", "z", "Z", "vz"};
  char name[64];
  struct column c;
  for (int f = 0; f < 6; f++) {
    int64_t rows[] = {0, 1, 1000};
    for (int r = 0; r < 3; r++)
      for (int64_t skip = 0; skip <= 5; skip += 5) {
        snprintf(name, sizeof name, "%s of %ld rows from %ld", formats[f], (long)rows[r], (long)skip);
        int keep = calls;
        if (rows[r] == 1000) calls = calls > 1000 ? calls / 5 : calls;
        column_text(&c, formats[f], rows[r], skip);
        run_good(name, &c, skip, 1);
        calls = keep;
      }
  }
  column_dictionary(&c, 100, 0);
  run_good("dictionary", &c, 0, 1);
  column_dictionary(&c, 100, 7);
  run_good("dictionary from 7", &c, 7, 1);
  column_runs(&c, 10);
  run_good("run-end encoded", &c, 0, 10);

  column_init(&c, "u", 0);
  c.array.n_buffers = 3;
  run_good("no rows, all buffers NULL", &c, 0, 1);
  column_init(&c, "u", 1);
  column_buffer(&c, NULL, 0, 1);
  column_buffer(&c, "\0\0\0\0\0\0\0\0", 8, 0);
  column_buffer(&c, NULL, 0, 1);
  run_good("an empty text without data", &c, 0, 1);
}

/* ---- broken input ---- */

/* Binds good, executes bad (schema 0), or binds bad (schema 1). */
static void run_bad(const char *name, struct column *c, int is_schema, int want) {
  test_name = name;
  cases++, bad_cases++;
  const struct ArrowSchema *type = &c->schema;
  const struct ArrowArray *arg = &c->array;
  long released = arrays_released + schemas_released;
  arrowmask_handle k = kernel_of(SHA2);
  size_t before = 0;
  for (int i = 0; i < calls; i++) {
    if (i == calls / 10) before = LIVE_BYTES();
    struct ArrowSchema out_type;
    struct ArrowArray out;
    memset(&out_type, 0xAA, sizeof out_type);
    memset(&out, 0xAA, sizeof out);
    int rc = arrowmask_kernel_bind(k, &type, NULL, 1, &out_type);
    if (is_schema) {
      CHECK(rc == want, "bind: %d, want %d: %s", rc, want, last_error(k));
      CHECK(!out_type.release, "a failed bind left a schema");
    } else {
      CHECK(rc == 0, "bind: %d %s", rc, last_error(k));
      rc = arrowmask_kernel_execute(k, &arg, 1, -1, &out);
      CHECK(rc == want, "execute: %d, want %d: %s", rc, want, last_error(k));
      CHECK(!out.release, "a failed execute left an array");
      if (out_type.release) out_type.release(&out_type);
    }
    CHECK(last_error(k)[0], "no text");
  }
  size_t after = LIVE_BYTES();
  CHECK(after <= before + SLACK, "%zu bytes live before, %zu after", before, after);
  CHECK(arrays_released + schemas_released == released, "a borrowed input was released");
  arrowmask_release(k);
  column_free(c);
}

/* Puts n bytes at a place of a buffer. */
static void patch(struct column *c, int buffer, size_t at, const void *bytes, size_t n) {
  memcpy((uint8_t *)c->array.buffers[buffer] + at, bytes, n);
}

static void test_B35_broken_arrays(void) {
  struct column c;
  const int32_t minus = -1, big = 1 << 30;
  const int64_t minus64 = -1, big64 = 1ll << 40;
#define BAD(name, make, change)                 \
  do {                                          \
    make;                                       \
    change;                                     \
    run_bad(name, &c, 0, ARROWMASK_EINVAL);     \
  } while (0)
#define TEXT column_text(&c, "u", 8, 2)
#define VIEWS column_text(&c, "vu", 8, 0)
#define DICT column_dictionary(&c, 8, 0)

  BAD("two buffers", TEXT, c.array.n_buffers = 2);
  BAD("four buffers", TEXT, c.array.n_buffers = 4);
  BAD("no buffers", TEXT, c.array.n_buffers = 0);
  BAD("minus one buffers", TEXT, c.array.n_buffers = -1);
  BAD("2^40 buffers", VIEWS, c.array.n_buffers = 1ll << 40);
  BAD("buffers is NULL", TEXT, c.array.buffers = NULL);
  BAD("offsets missing", TEXT, c.array.buffers[1] = NULL);
  BAD("data missing", TEXT, c.array.buffers[2] = NULL);
  BAD("validity missing, NULLs counted", TEXT, (c.array.buffers[0] = NULL, c.array.null_count = 2));
  BAD("null count above the length", TEXT, c.array.null_count = 9);
  BAD("null count -2", TEXT, c.array.null_count = -2);
  BAD("negative length", TEXT, c.array.length = -1);
  BAD("negative offset", TEXT, c.array.offset = -1);
  BAD("huge length", TEXT, c.array.length = INT64_MAX);
  BAD("huge offset", TEXT, c.array.offset = INT64_MAX);
  BAD("length and offset overflow", TEXT, (c.array.offset = INT64_MAX / 2 + 1, c.array.length = INT64_MAX / 2 + 1));
  BAD("first offset negative", TEXT, patch(&c, 1, 8, &minus, 4));
  BAD("offset negative", TEXT, patch(&c, 1, 16, &minus, 4));
  BAD("offset decreasing", TEXT, patch(&c, 1, 12, &big, 4));
  BAD("last offset negative", TEXT, patch(&c, 1, 40, &minus, 4));
  BAD("large offset decreasing", column_text(&c, "U", 8, 0), patch(&c, 1, 16, &big64, 8));
  BAD("large offset negative", column_text(&c, "U", 8, 0), patch(&c, 1, 0, &minus64, 8));
  BAD("a dictionary nobody declared", TEXT, c.array.dictionary = calloc(1, sizeof c.array)); /* freed with it */
  BAD("children nobody declared", TEXT, c.array.n_children = 1);
  BAD("view into no buffer", VIEWS, patch(&c, 1, 16 * 3 + 8, &minus, 4));
  BAD("view past its buffer", VIEWS, patch(&c, 1, 16 * 3 + 12, &big, 4));
  BAD("view of negative length", VIEWS, patch(&c, 1, 16 * 3, &minus, 4));
  BAD("view at a negative offset", VIEWS, patch(&c, 1, 16 * 3 + 12, &minus, 4));
  BAD("view buffer of negative size", VIEWS, patch(&c, 3, 0, &minus64, 8));
  BAD("view buffer missing", VIEWS, c.array.buffers[2] = NULL);
  BAD("view sizes missing", VIEWS, c.array.buffers[3] = NULL);
  BAD("views missing", VIEWS, c.array.buffers[1] = NULL);
  BAD("index past the dictionary", DICT, patch(&c, 1, 3, "\4", 1));
  BAD("index negative", DICT, patch(&c, 1, 3, "\377", 1));
  BAD("index missing", DICT, c.array.buffers[1] = NULL);
  BAD("dictionary released", DICT, c.array.dictionary->release(c.array.dictionary));
  BAD("dictionary missing", DICT, (c.array.dictionary->release(c.array.dictionary), free(c.array.dictionary), c.array.dictionary = NULL));
  BAD("child released", column_runs(&c, 2), c.array.children[1]->release(c.array.children[1]));
  BAD("no children", column_runs(&c, 2), c.array.n_children = -1);
  BAD("run ends too short", column_runs(&c, 2), c.array.length = 9);
  BAD("released array", TEXT, c.array.release(&c.array));
#undef BAD
}

static void test_B35_broken_schemas(void) {
  struct column c;
#define BAD(name, want, make, change) \
  do {                                \
    make;                             \
    change;                           \
    run_bad(name, &c, 1, want);       \
  } while (0)
  BAD("unknown format", ARROWMASK_ENOTSUP, TEXT, c.schema.format = "?");
  BAD("empty format", ARROWMASK_ENOTSUP, TEXT, c.schema.format = "");
  BAD("format is NULL", ARROWMASK_ENOTSUP, TEXT, c.schema.format = NULL);
  BAD("width that is no number", ARROWMASK_ENOTSUP, TEXT, c.schema.format = "w:x");
  BAD("negative width", ARROWMASK_ENOTSUP, TEXT, c.schema.format = "w:-1");
  BAD("decimal without digits", ARROWMASK_ENOTSUP, TEXT, c.schema.format = "d:,");
  BAD("timestamp without a unit", ARROWMASK_ENOTSUP, TEXT, c.schema.format = "ts:");
  BAD("number for sha2", ARROWMASK_ENOTSUP, TEXT, c.schema.format = "l");
  BAD("struct for sha2", ARROWMASK_ENOTSUP, column_parent(&c, "+s", 4), (void)0);
  BAD("list for sha2", ARROWMASK_ENOTSUP, column_parent(&c, "+l", 4), (void)0);
  BAD("union of nothing", ARROWMASK_ENOTSUP, column_parent(&c, "+ud:", 4), (void)0);
  BAD("released schema", ARROWMASK_EINVAL, TEXT, c.schema.release(&c.schema));
  BAD("children of a text", ARROWMASK_ENOTSUP, column_parent(&c, "u", 4), (void)0);
  BAD("minus one children", ARROWMASK_EINVAL, TEXT, c.schema.n_children = -1);
  BAD("children is NULL", ARROWMASK_EINVAL, TEXT, c.schema.n_children = 1);
  BAD("2^40 children", ARROWMASK_EINVAL, TEXT, c.schema.n_children = 1ll << 40);
#undef BAD
}

static void test_arguments(void) {
  test_name = "arguments";
  struct column c;
  TEXT;
  const struct ArrowSchema *type = &c.schema, *no_type = NULL;
  const struct ArrowArray *arg = &c.array, *no_arg = NULL;
  struct ArrowSchema out_type;
  struct ArrowArray out;
  static const char *const broken[] = {
      "", "{", "[]", "{}", "{} {}", "{\"expr\": 1}", "{\"expr\": \"\"}", "{\"exrp\": \"sha2({col}, 256)\"}",
      "{\"expr\": \"sha2({col}\"}", "{\"expr\": \"x\", \"function\": \"y\"}", "{\"function\": \"md5\", \"dialect\": \"klingon\"}",
      "{\"expr\": \"md5({col})\", \"args\": []}", "{\"expr\": \"md5({a})\", \"columns\": []}",
      "{\"function\": \"md5\", \"columns\": [\"a\"]}", "{\"expr\": \"md5({a}\", \"columns\": [\"a\"]}",
      "{\"expr\": \"md5({a})\", \"columns\": \"a\"}",
  };
  size_t before = 0;
  for (int i = 0; i < calls; i++) {
    if (i == calls / 10) before = LIVE_BYTES();
    arrowmask_handle k = 1234567;
    CHECK(arrowmask_kernel_new(NULL, 0, &k) == ARROWMASK_EINVAL, "options NULL");
    CHECK(k && last_error(k)[0], "no handle to read the error from");
    CHECK(arrowmask_kernel_bind(k, &type, NULL, 1, &out_type) == ARROWMASK_EINVAL, "bind after a failed new");
    CHECK(arrowmask_release(k) == 0, "release");
    CHECK(arrowmask_release(k) == ARROWMASK_EBADF, "released twice");
    CHECK(arrowmask_kernel_bind(k, &type, NULL, 1, &out_type) == ARROWMASK_EBADF, "bind after release");
    CHECK(arrowmask_kernel_execute(k, &arg, 1, -1, &out) == ARROWMASK_EBADF, "execute after release");
    CHECK(arrowmask_kernel_execute(0, &arg, 1, -1, &out) == ARROWMASK_EBADF, "handle 0");
    CHECK(arrowmask_kernel_execute((arrowmask_handle)-1, &arg, 1, -1, &out) == ARROWMASK_EBADF, "handle of nobody");
    CHECK(arrowmask_kernel_new(SHA2, 0, NULL) == ARROWMASK_EINVAL, "out NULL");
    const char *text = broken[i % (sizeof broken / sizeof *broken)];
    CHECK(arrowmask_kernel_new(text, 0, &k) == ARROWMASK_EINVAL, "options %s", text);
    arrowmask_release(k);

    k = kernel_of(SHA2);
    CHECK(arrowmask_kernel_execute(k, &arg, 1, -1, &out) == ARROWMASK_EINVAL, "execute before bind");
    CHECK(arrowmask_kernel_bind(k, NULL, NULL, 1, &out_type) == ARROWMASK_EINVAL, "types NULL");
    CHECK(arrowmask_kernel_bind(k, &no_type, NULL, 1, &out_type) == ARROWMASK_EINVAL, "type NULL");
    CHECK(arrowmask_kernel_bind(k, &type, NULL, 0, &out_type) == ARROWMASK_EINVAL, "no arguments");
    CHECK(arrowmask_kernel_bind(k, &type, NULL, -1, &out_type) == ARROWMASK_EINVAL, "minus one arguments");
    CHECK(arrowmask_kernel_bind(k, &type, NULL, 2, &out_type) == ARROWMASK_EINVAL, "constants missing");
    CHECK(arrowmask_kernel_bind(k, &type, NULL, 1, NULL) == ARROWMASK_EINVAL, "out NULL");
    CHECK(arrowmask_kernel_bind(k, &type, NULL, 1, &out_type) == 0, "bind: %s", last_error(k));
    out_type.release(&out_type);
    CHECK(arrowmask_kernel_execute(k, NULL, 1, -1, &out) == ARROWMASK_EINVAL, "args NULL");
    CHECK(arrowmask_kernel_execute(k, &no_arg, 1, -1, &out) == ARROWMASK_EINVAL, "arg NULL");
    CHECK(arrowmask_kernel_execute(k, &arg, 0, -1, &out) == ARROWMASK_EINVAL, "no args");
    CHECK(arrowmask_kernel_execute(k, &arg, 1, 7, &out) == ARROWMASK_EINVAL, "other number of rows");
    CHECK(arrowmask_kernel_execute(k, &arg, 1, -1, NULL) == ARROWMASK_EINVAL, "out NULL");
    arrowmask_handle keys;
    CHECK(arrowmask_keyring_new(&keys) == 0, "keyring");
    CHECK(arrowmask_keyring_add(keys, NULL, "0123456789abcdef", 16) == ARROWMASK_EINVAL, "key without a name");
    CHECK(arrowmask_keyring_add(keys, "k", NULL, 16) == ARROWMASK_EINVAL, "no key");
    CHECK(arrowmask_keyring_add(keys, "k", "s3cr3t", 6) == ARROWMASK_EINVAL, "short key");
    CHECK(!strstr(last_error(keys), "s3cr3t"), "the error quotes the key");
    CHECK(arrowmask_keyring_add(keys, "k", "0123456789abcdef", 16) == 0, "key: %s", last_error(keys));
    CHECK(arrowmask_keyring_add(k, "k", "0123456789abcdef", 16) == ARROWMASK_EBADF, "a kernel is no keyring");
    arrowmask_handle keyed;
    CHECK(arrowmask_kernel_new("{\"expr\": \"mask_hmac({col}, 'k')\"}", keys, &keyed) == 0, "keyed: %s", last_error(keyed));
    CHECK(arrowmask_kernel_bind(keyed, &type, NULL, 1, &out_type) == 0, "keyed: %s", last_error(keyed));
    out_type.release(&out_type);
    arrowmask_release(keys);
    arrowmask_release(keyed);
    arrowmask_release(k);
    arrowmask_free(NULL);
  }
  size_t after = LIVE_BYTES();
  CHECK(after <= before + SLACK, "%zu bytes live before, %zu after", before, after);
  CHECK(arrowmask_abi_version() == ARROWMASK_ABI_VERSION, "version");
  char *report = arrowmask_report();
  CHECK(report && strstr(report, "\"sha256\""), "report: %s", report);
  arrowmask_free(report);
  CHECK(arrowmask_selftest(&report) == 0, "selftest: %s", report);
  arrowmask_free(report);
  CHECK(arrowmask_selftest(NULL) == 0, "selftest");
  column_free(&c);
}

/* Constants may come as arrays of one row. */
static void test_constants(void) {
  test_name = "constants";
  struct column c, bits;
  TEXT;
  int32_t n = 256;
  column_init(&bits, "i", 1);
  column_buffer(&bits, NULL, 0, 1);
  column_buffer(&bits, &n, 4, 0);
  const struct ArrowSchema *types[] = {&c.schema, &bits.schema};
  const struct ArrowArray *args[] = {&c.array, NULL}, *constants[] = {NULL, &bits.array};
  struct ArrowSchema out_type;
  struct ArrowArray out;
  arrowmask_handle k = kernel_of("{\"function\": \"sha2\"}");
  CHECK(arrowmask_kernel_bind(k, types, constants, 2, &out_type) == 0, "bind: %s", last_error(k));
  CHECK(arrowmask_kernel_execute(k, args, 2, 8, &out) == 0, "execute: %s", last_error(k));
  if (out.release) {
    check_digests(&out_type, &out, 8, 2, 1);
    out.release(&out);
    out_type.release(&out_type);
  }
  arrowmask_release(k);
  column_free(&c);
  column_free(&bits);
}

/* SHA-256 of a text and a number of 32 bits as hash_row puts them together: of
 * ("", 0), ("abc", 1), (NULL, 2), ("the quick brown fox jumps over", 3). */
static const char *const ROWS[4] = {
    "538c2745af305e306672d626a42f68ffa03531b7eee0bb4871489af0071c2ee7",
    "419f448b9f56c601d0810b28630e007aa67beb8dd7b838131dbbd459baed8982",
    "a54cd0e2efe8968c8f4a0f02184811952ab80a04c660a708b913e75daebea18b",
    "a3512e37ad08038317def8f77239c7556e21fb0cc6c6f09df4950e2b03bbf05e",
};

static void check_rows(const struct ArrowSchema *s, const struct ArrowArray *a, int64_t rows, int64_t first, const char *format) {
  CHECK(a->length == rows && !strcmp(s->format, format), "%ld rows of %s", (long)a->length, s->format);
  for (int64_t i = 0; i < rows; i++) {
    size_t n = 0;
    const char *got = text_at(s, a, i, &n);
    CHECK(got && n == 64 && !memcmp(got, ROWS[(i + first) % 4], 64), "row %ld: wrong digest", (long)i);
  }
}

static void column_numbers(struct column *c, int64_t rows, int64_t skip) {
  int32_t *numbers = malloc(4 * (rows + skip + 1));
  for (int64_t i = 0; i < rows + skip; i++) numbers[i] = (int32_t)(i % 4);
  column_init(c, "i", rows);
  c->array.offset = skip;
  column_buffer(c, NULL, 0, 1);
  column_buffer(c, numbers, 4 * (rows + skip), 0);
  free(numbers);
}

/* Expressions over several columns: as arguments, and as children of a struct. */
static void test_B35_columns(void) {
  static const char LISTED[] = "{\"expr\": \"hash_row({text}, {n})\", \"columns\": [\"n\", \"unread\", \"text\"]}";
  static const char STRUCT[] = "{\"expr\": \"hash_row({text}, {n})\"}";
  static const struct {
    const char *format, *result;
    int64_t rows, skip;
  } good[] = {{"u", "u", 0, 0}, {"u", "u", 1, 0}, {"u", "u", 100, 0}, {"u", "u", 100, 3}, {"U", "U", 100, 3}, {"vu", "vu", 100, 2}, {"dictionary", "u", 100, 1}};
  for (size_t g = 0; g < sizeof good / sizeof *good; g++) {
    char name[64];
    snprintf(name, sizeof name, "columns: %s, %ld rows from %ld", good[g].format, (long)good[g].rows, (long)good[g].skip);
    test_name = name;
    cases++;
    struct column text, numbers, table;
    struct ArrowSchema out_type;
    struct ArrowArray out;
    int64_t rows = good[g].rows, skip = good[g].skip;
    if (strcmp(good[g].format, "dictionary"))
      column_text(&text, good[g].format, rows, skip);
    else
      column_dictionary(&text, rows, skip);
    column_numbers(&numbers, rows, skip);
    const struct ArrowSchema *types[] = {&numbers.schema, &text.schema, &text.schema};
    const struct ArrowArray *args[] = {&numbers.array, NULL, &text.array};
    long released = arrays_released + schemas_released;
    size_t before = 0;
    for (int i = 0; i < calls; i++) {
      if (i == calls / 10) before = LIVE_BYTES();
      arrowmask_handle k = kernel_of(LISTED);
      int rc = arrowmask_kernel_bind(k, types, NULL, 3, &out_type);
      CHECK(rc == 0, "bind: %d %s", rc, last_error(k));
      rc = arrowmask_kernel_execute(k, args, 3, rows, &out);
      CHECK(rc == 0, "execute: %d %s", rc, last_error(k));
      arrowmask_release(k);
      if (rc) continue;
      if (i % (calls / 10 + 1) == 0) check_rows(&out_type, &out, rows, skip, good[g].result);
      CHECK(!strcmp(out_type.name, "c") && out_type.flags & ARROW_FLAG_NULLABLE, "type of the result");
      out.release(&out);
      out_type.release(&out_type);
    }
    size_t after = LIVE_BYTES();
    CHECK(after <= before + SLACK, "%zu bytes live before, %zu after", before, after);
    CHECK(arrays_released + schemas_released == released, "a borrowed input was released");

    /* The same two, cut by a struct around them, whose rows are moved by one. */
    test_name = "columns of a struct";
    column_table(&table, rows, 0);
    for (int i = 0; i < 2; i++) {
      struct column *child = i ? &numbers : &text;
      table.schema.children[i]->release(table.schema.children[i]);
      table.array.children[i]->release(table.array.children[i]);
      *table.schema.children[i] = child->schema;
      *table.array.children[i] = child->array;
      table.schema.children[i]->name = i ? "n" : "text";
    }
    if (rows) table.array.offset = 1, table.array.length = --rows, skip++;
    const struct ArrowSchema *type = &table.schema;
    const struct ArrowArray *arg = &table.array;
    arrowmask_handle k = kernel_of(STRUCT);
    int rc = arrowmask_kernel_bind(k, &type, NULL, 1, &out_type);
    CHECK(rc == 0, "bind: %d %s", rc, last_error(k));
    rc = arrowmask_kernel_execute(k, &arg, 1, rows, &out);
    CHECK(rc == 0, "execute: %d %s", rc, last_error(k));
    CHECK(arrowmask_kernel_execute(k, &arg, 1, rows + 1, &(struct ArrowArray){0}) == ARROWMASK_EINVAL, "a row too many");
    column_free(&table); /* outputs outlive inputs */
    if (!rc) {
      check_rows(&out_type, &out, rows, skip, good[g].result);
      out.release(&out);
      out_type.release(&out_type);
    }
    arrowmask_release(k);
  }

  test_name = "columns: broken";
  bad_cases++;
  struct column text, numbers, table;
  struct ArrowSchema out_type;
  struct ArrowArray out;
  column_text(&text, "u", 8, 2);
  column_numbers(&numbers, 8, 2);
  column_table(&table, 8, 0);
  const struct ArrowSchema *types[] = {&numbers.schema, &text.schema, &text.schema}, *no_type[] = {&numbers.schema, NULL, &text.schema};
  const struct ArrowSchema *one[] = {&text.schema}, *of_table[] = {&table.schema};
  const struct ArrowArray *args[] = {&numbers.array, &text.array, &text.array}, *no_arg[] = {&numbers.array, &text.array, NULL};
  static const uint8_t none_valid[1] = {0};
  size_t before = 0;
  for (int i = 0; i < calls; i++) {
    if (i == calls / 10) before = LIVE_BYTES();
    arrowmask_handle k = kernel_of(LISTED);
    CHECK(arrowmask_kernel_bind(k, types, NULL, 2, &out_type) == ARROWMASK_EINVAL, "two of three columns");
    CHECK(arrowmask_kernel_bind(k, no_type, NULL, 3, &out_type) == ARROWMASK_EINVAL && !out_type.release, "no type");
    CHECK(arrowmask_kernel_bind(k, types, NULL, 65, &out_type) == ARROWMASK_EINVAL, "65 columns");
    CHECK(arrowmask_kernel_bind(k, types, NULL, 3, &out_type) == 0, "bind: %s", last_error(k));
    out_type.release(&out_type);
    CHECK(arrowmask_kernel_execute(k, args, 2, -1, &out) == ARROWMASK_EINVAL && !out.release, "two of three columns");
    CHECK(arrowmask_kernel_execute(k, no_arg, 3, -1, &out) == ARROWMASK_EINVAL, "a column that is not there");
    numbers.array.length = 7;
    CHECK(arrowmask_kernel_execute(k, args, 3, -1, &out) == ARROWMASK_EINVAL, "columns of 7 and 8 rows");
    CHECK(arrowmask_kernel_execute(k, args, 3, 8, &out) == ARROWMASK_EINVAL, "one of 7 rows, 8 asked for");
    numbers.array.length = 8;
    numbers.array.n_buffers = 1;
    CHECK(arrowmask_kernel_execute(k, args, 3, -1, &out) == ARROWMASK_EINVAL && !out.release, "a buffer missing");
    numbers.array.n_buffers = 2;
    arrowmask_release(k);

    k = kernel_of("{\"expr\": \"hash_row({a}, {nosuch})\", \"columns\": [\"a\"]}");
    CHECK(arrowmask_kernel_bind(k, one, NULL, 1, &out_type) == ARROWMASK_EINVAL && strstr(last_error(k), "nosuch"), "no such column");
    arrowmask_release(k);
    k = kernel_of("{\"expr\": \"hash_row({secret}, {open})\"}");
    CHECK(arrowmask_kernel_bind(k, one, NULL, 1, &out_type) == ARROWMASK_ENOTSUP, "a text is no table");
    CHECK(arrowmask_kernel_bind(k, of_table, NULL, 1, &out_type) == 0, "bind: %s", last_error(k));
    out_type.release(&out_type);
    const struct ArrowArray *arg = &table.array;
    const void *no_buffer = NULL, *valid = none_valid;
    table.array.buffers = &valid;
    table.array.null_count = -1;
    CHECK(arrowmask_kernel_execute(k, &arg, 1, -1, &out) == ARROWMASK_EINVAL && !out.release, "rows that are NULL as a whole");
    table.array.buffers = &no_buffer;
    table.array.null_count = 0;
    table.array.length = 11;
    CHECK(arrowmask_kernel_execute(k, &arg, 1, -1, &out) == ARROWMASK_EINVAL, "children that are too short");
    table.array.length = 8;
    CHECK(arrowmask_kernel_execute(k, &arg, 1, -1, &out) == 0, "execute: %s", last_error(k));
    out.release(&out);
    struct source src = {"table", 2, 0, 0, 0, 8, 0};
    struct ArrowArrayStream in, rows;
    source_init(&in, &src);
    CHECK(arrowmask_stream(k, &in, &rows) == 0, "stream: %s", last_error(k));
    CHECK(rows.get_next(&rows, &out) == 0 && out.length == 8, "batch of a stream");
    out.release(&out);
    rows.release(&rows);
    arrowmask_release(k);
  }
  size_t after = LIVE_BYTES();
  CHECK(after <= before + SLACK, "%zu bytes live before, %zu after", before, after);
  column_free(&text);
  column_free(&numbers);
  column_free(&table);
}

/* B37: texts that leave the library are copies: they can be read after the memory
 * that a failing call looked at is gone, and hold nothing of it. */
static void test_B37_errors_outlive_inputs(void) {
  test_name = "B37";
  for (int i = 0; i < 1000; i++) {
    struct column c;
    column_text(&c, "u", 8, 0);
    const int32_t minus = -1;
    memset((void *)c.array.buffers[2], 'S', 3); /* S is for secret */
    patch(&c, 1, 16, &minus, 4);
    const struct ArrowSchema *type = &c.schema;
    const struct ArrowArray *arg = &c.array;
    struct ArrowSchema out_type;
    struct ArrowArray out;
    char *name = strdup("sha2({col}, 256)"), options[64];
    snprintf(options, sizeof options, "{\"expr\": \"%s\"}", name);
    arrowmask_handle k = kernel_of(options);
    memset(options, 'S', sizeof options);
    CHECK(arrowmask_kernel_bind(k, &type, NULL, 1, &out_type) == 0, "bind: %s", last_error(k));
    CHECK(arrowmask_kernel_execute(k, &arg, 1, -1, &out) == ARROWMASK_EINVAL, "execute");
    out_type.release(&out_type);
    column_free(&c);
    free(name);
    const char *text = last_error(k);
    CHECK(text[0] && !strstr(text, "SS"), "the error quotes memory of the input: %s", text);
    arrowmask_release(k);
  }
  /* Rows beside a slice never show: all that is outside of it reads as 'x'. */
  struct column c;
  column_text(&c, "u", 4, 4);
  int32_t from;
  memcpy(&from, (const uint8_t *)c.array.buffers[1] + 16, 4);
  memset((void *)c.array.buffers[2], 'x', from);
  const struct ArrowSchema *type = &c.schema;
  const struct ArrowArray *arg = &c.array;
  struct ArrowSchema out_type;
  struct ArrowArray out;
  arrowmask_handle k = kernel_of("{\"expr\": \"mask_show_first_n({col}, 100)\"}");
  CHECK(arrowmask_kernel_bind(k, &type, NULL, 1, &out_type) == 0, "bind: %s", last_error(k));
  CHECK(arrowmask_kernel_execute(k, &arg, 1, -1, &out) == 0, "execute: %s", last_error(k));
  const int32_t *offsets = out.buffers[1];
  CHECK(out.offset == 0 && offsets[0] == 0, "the result starts at %d", offsets[0]);
  for (int i = 0; i < offsets[4]; i++)
    if (((const char *)out.buffers[2])[i] == 'x' && !memchr(VALUES[3], 'x', 30)) CHECK(0, "a neighbour shows");
  out.release(&out);
  out_type.release(&out_type);
  arrowmask_release(k);
  column_free(&c);
}

/* ---- policies and streams ---- */

static const char POLICIES[] =
    "{\"serviceName\": \"s\", \"serviceType\": \"hive\", \"policyVersion\": 1, \"policies\": [{\"id\": 1, \"name\": \"p\","
    "\"policyType\": 1, \"isEnabled\": true, \"resources\": {\"database\": {\"values\": [\"d\"]}, \"table\": {\"values\": [\"t\"]},"
    "\"column\": {\"values\": [\"secret\"]}}, \"dataMaskPolicyItems\": [{\"accesses\": [{\"type\": \"select\", \"isAllowed\": true}],"
    "\"groups\": [\"public\"], \"dataMaskInfo\": {\"dataMaskType\": \"MASK_HASH\"}}]}]}";

static arrowmask_handle masker_new(void) {
  arrowmask_handle policy, masker;
  void *plan;
  size_t n;
  struct column c;
  column_table(&c, 1, 0);
  CHECK(arrowmask_policy_new("{\"service_type\": \"hive\"}", POLICIES, strlen(POLICIES), &policy) == 0, "policy: %s", last_error(policy));
  int rc = arrowmask_policy_plan(policy, "{\"user\": \"ann\", \"table\": \"d.t\"}", &c.schema, &plan, &n);
  CHECK(rc == 0, "plan: %d %s", rc, last_error(policy));
  arrowmask_free(plan);
  rc = arrowmask_policy_plan(policy, "{\"user\": \"ann\", \"table\": \"d.tt\"}", &c.schema, &plan, &n);
  CHECK(rc == ARROWMASK_EINVAL && !plan && !n, "a table that no policy knows: %d", rc);
  rc = arrowmask_policy_plan(policy, "{\"user\": \"\", \"table\": \"d.t\"}", &c.schema, &plan, &n);
  CHECK(rc == ARROWMASK_EACCES && !plan, "nobody asks: %d", rc);
  CHECK(arrowmask_policy_plan(policy, NULL, &c.schema, &plan, &n) == ARROWMASK_EINVAL, "request NULL");
  CHECK(arrowmask_policy_plan(policy, "{\"user\": \"ann\", \"table\": \"d.t\"}", NULL, &plan, &n) == ARROWMASK_EINVAL, "schema NULL");
  CHECK(arrowmask_policy_plan(policy, "{\"user\": \"ann\", \"table\": \"d.t\"}", &c.schema, NULL, &n) == ARROWMASK_EINVAL, "plan NULL");
  CHECK(arrowmask_policy_plan(policy, "{\"user\": \"ann\", \"table\": \"d.t\"}", &c.schema, &plan, &n) == 0, "plan");
  CHECK(arrowmask_masker_new(NULL, 0, plan, n / 2, &c.schema, &masker) == ARROWMASK_EINVAL, "half a plan");
  arrowmask_release(masker);
  CHECK(arrowmask_masker_new(NULL, 0, NULL, n, &c.schema, &masker) == ARROWMASK_EINVAL, "plan NULL");
  arrowmask_release(masker);
  CHECK(arrowmask_masker_new(NULL, 0, plan, n, c.schema.children[0], &masker) != 0, "a column is no table");
  arrowmask_release(masker);
  rc = arrowmask_masker_new(NULL, 0, plan, n, &c.schema, &masker);
  CHECK(rc == 0, "masker: %d %s", rc, last_error(masker));
  arrowmask_free(plan);
  arrowmask_release(policy);
  column_free(&c);
  return masker;
}

/* Reads a stream to its end; returns the number of batches, or minus the error. */
static int drain(struct ArrowArrayStream *s, struct source *src, int64_t *rows) {
  struct ArrowSchema type;
  struct ArrowArray kept;
  int n = 0, table = !strcmp(src->kind, "table");
  kept.release = NULL;
  int rc = s->get_schema(s, &type);
  CHECK(rc == 0, "schema: %d", rc);
  for (;; n++) {
    struct ArrowArray a;
    memset(&a, 0xAA, sizeof a);
    if ((rc = s->get_next(s, &a))) {
      CHECK(!a.release, "a failed get_next left an array");
      n = -rc;
      break;
    }
    if (!a.release) break;
    *rows += a.length;
    if (table) {
      check_digests(type.children[0], a.children[0], a.length, src->skip, 1);
      CHECK(a.children[1]->length == a.length, "column that passes: %ld rows", (long)a.children[1]->length);
      for (int64_t i = 0; i < a.length; i += 17) {
        size_t len = 0;
        const char *got = text_at(type.children[1], a.children[1], i, &len), *want = VALUES[(i + src->skip) % 4];
        CHECK(!got == !want && (!got || (len == strlen(want) && !memcmp(got, want, len))), "column that passes: row %ld", (long)i);
      }
    } else {
      check_digests(&type, &a, a.length, src->skip, 1);
    }
    if (kept.release) kept.release(&kept);
    kept = a;
  }
  s->release(s);
  /* Arrays outlive their stream. */
  if (kept.release) {
    if (table) check_digests(type.children[0], kept.children[0], kept.length, src->skip, 1);
    kept.release(&kept);
  }
  type.release(&type);
  return n;
}

static void test_B35_streams(void) {
  test_name = "streams";
  arrowmask_handle masker = masker_new(), k = kernel_of(SHA2);
  static const char *const kinds[] = {"table", "table", "table", "table", "u", "vu", "U"};
  static const int64_t rows[] = {0, 1, 1000, 100, 10, 10, 10}, skips[] = {0, 0, 0, 3, 0, 1, 2};
  long made = 0;
  size_t before = 0;
  streams_released = 0;
  int rounds = calls / 5;
  for (int i = 0; i < rounds; i++) {
    if (i == rounds / 10) before = LIVE_BYTES();
    int j = i % 7;
    struct source src = {kinds[j], 3, 0, 0, 0, rows[j], skips[j]};
    struct ArrowArrayStream in, out;
    memset(&out, 0xAA, sizeof out);
    source_init(&in, &src);
    made++;
    int broken = i / 7 % 6;
    if (broken == 1) src.no_schema = 1;
    if (broken == 2) src.fail_at = 2;
    if (broken == 3) src.spoil = 1;
    arrowmask_handle h = j < 4 ? masker : k;
    if (broken == 4) h = j < 4 ? k : masker; /* the wrong kind of stream for it */
    long arrays = arrays_released;
    int rc = arrowmask_stream(h, &in, broken == 5 ? NULL : &out);
    CHECK(!in.release, "the stream was not moved");
    if (broken == 1 || broken >= 4) {
      CHECK(rc != 0, "no error");
      if (broken != 5) CHECK(!out.release, "a failed call left a stream");
      if (broken == 1) CHECK(strstr(last_error(h), "the disk is full"), "text: %s", last_error(h));
      continue;
    }
    CHECK(rc == 0, "stream: %d %s", rc, last_error(h));
    if (rc) continue;
    int64_t total = 0;
    int n = drain(&out, &src, &total);
    if (broken == 0) CHECK(n == 3 && total == 3 * rows[j], "%d batches, %ld rows", n, (long)total);
    if (broken == 2) CHECK(n == -EIO, "the error of the input became %d", n);
    if (broken == 3) CHECK(n == -EINVAL, "a broken batch became %d", n);
    long each = j < 4 ? 3 : 1, want = broken == 0 ? 3 * each : each;
    CHECK(arrays_released - arrays == want, "%ld arrays released, %ld handed over", arrays_released - arrays, want);
  }
  size_t after = LIVE_BYTES();
  CHECK(after <= before + SLACK, "%zu bytes live before, %zu after", before, after);
  CHECK(streams_released == made, "%ld streams released of %ld", streams_released, made);
  struct ArrowArrayStream out;
  CHECK(arrowmask_stream(k, NULL, &out) == ARROWMASK_EINVAL, "stream NULL");

  /* A stream outlives its handle; one that nobody reads is released, too. */
  struct source src = {"table", 2, 0, 0, 0, 10, 0}, unread = src;
  struct ArrowArrayStream in, other;
  source_init(&in, &src);
  CHECK(arrowmask_stream(masker, &in, &out) == 0, "stream");
  source_init(&in, &unread);
  CHECK(arrowmask_stream(masker, &in, &other) == 0, "stream");
  arrowmask_release(masker);
  arrowmask_release(k);
  int64_t total = 0;
  CHECK(drain(&out, &src, &total) == 2 && total == 20, "after the handle's end");
  other.release(&other);
  CHECK(streams_released == made + 2, "streams released");
}

static void test_copy(void) {
  test_name = "copy";
  struct column c;
  struct ArrowSchema s;
  struct ArrowArray a;
  for (int i = 0; i < calls / 10; i++) {
    column_table(&c, 100, 3);
    CHECK(arrowmask_array_copy(&c.schema, NULL, &s, &a) == ARROWMASK_EINVAL, "array NULL");
    CHECK(!s.release && !a.release, "a failed copy left something");
    CHECK(arrowmask_array_copy(&c.schema, &c.array, &s, NULL) == ARROWMASK_EINVAL, "out NULL");
    CHECK(arrowmask_array_copy(&c.schema, &c.array, &s, &a) == 0, "copy");
    column_free(&c);
    size_t n;
    const char *t = text_at(s.children[1], a.children[1], 7, &n);
    CHECK(t && n == 30 && !memcmp(t, VALUES[3], n), "copy of row 7");
    a.release(&a);
    s.release(&s);
  }
}

/* ---- threads ---- */

static arrowmask_handle shared_kernel;
static struct column shared_column;
static struct ArrowSchema shared_type;

static void *work(void *arg) {
  const struct ArrowArray *in = &shared_column.array;
  for (int i = 0; i < calls / 4; i++) {
    struct ArrowArray out;
    int rc = arrowmask_kernel_execute(shared_kernel, &in, 1, -1, &out);
    if (rc) return (void *)1;
    if (i % 100 == 0) check_digests(&shared_type, &out, 100, 0, 1);
    out.release(&out);
  }
  return arg;
}

static void test_threads(void) {
  test_name = "threads";
  column_text(&shared_column, "u", 100, 0);
  const struct ArrowSchema *type = &shared_column.schema;
  shared_kernel = kernel_of(SHA2);
  CHECK(arrowmask_kernel_bind(shared_kernel, &type, NULL, 1, &shared_type) == 0, "bind");
  pthread_t t[8];
  for (int i = 0; i < 8; i++) pthread_create(&t[i], NULL, work, NULL);
  for (int i = 0; i < 8; i++) {
    void *rc;
    pthread_join(t[i], &rc);
    CHECK(!rc, "execute failed in a thread");
  }
  shared_type.release(&shared_type);
  arrowmask_release(shared_kernel);
  column_free(&shared_column);
}

/* A child forked after the library was loaded gets an error instead of hanging,
 * and can still release what it holds. */
static void test_fork_after_load(void) {
  test_name = "fork after load";
  struct column c;
  TEXT;
  const struct ArrowSchema *type = &c.schema;
  const struct ArrowArray *arg = &c.array;
  struct ArrowSchema out_type;
  struct ArrowArray out, again;
  arrowmask_handle k = kernel_of(SHA2), other;
  CHECK(arrowmask_kernel_bind(k, &type, NULL, 1, &out_type) == 0, "bind");
  CHECK(arrowmask_kernel_execute(k, &arg, 1, -1, &out) == 0, "execute");
  pid_t child = fork();
  if (child == 0) {
    alarm(20);
    int bad = arrowmask_kernel_execute(k, &arg, 1, -1, &again) != ARROWMASK_EFORK;
    bad += arrowmask_kernel_new(SHA2, 0, &other) != ARROWMASK_EFORK;
    bad += !strstr(last_error(k), "fork");
    bad += arrowmask_release(k) != ARROWMASK_EFORK;
    bad += arrowmask_report() != NULL;
    out.release(&out);
    out_type.release(&out_type);
    _exit(bad);
  }
  int status = -1;
  waitpid(child, &status, 0);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0, "child: status %x", status);
  out.release(&out);
  out_type.release(&out_type);
  arrowmask_release(k);
  column_free(&c);
}

int main(int argc, char **argv) {
  if (argc > 1) calls = atoi(argv[1]);
  if (calls < 20) calls = 20;
  test_B35_good_columns();
  test_B35_broken_arrays();
  test_B35_broken_schemas();
  test_arguments();
  test_constants();
  test_B35_columns();
  test_B37_errors_outlive_inputs();
  test_B35_streams();
  test_copy();
  test_threads();
  test_fork_after_load();
  CHECK(released_twice == 0, "%ld structures were released twice", released_twice);
  printf("%d kinds of input (%d broken), %d calls each: %d failures\n", cases, bad_cases, calls, failures);
  return failures != 0;
}
