/*
 * A DuckDB extension that does no work: what any function of that interface costs
 * which takes text and answers 64 characters.
 *
 *   floor_call(x)   answers NULL: the call alone
 *   floor_rows(x)   gives DuckDB 64 characters a row, by one call a row
 *   floor_block(x)  gives it those of a chunk by one call, and points into them
 *
 * Built and used by bench.sh.
 */
#include <stdlib.h>
#include <string.h>

#include "duckdb.h"

enum { WIDTH = 64, MAX_ROWS = 2048 };

static const duckdb_entry *api;
static duckdb_entry table[DUCKDB_UNSAFE_VECTOR_ASSIGN_STRING_ELEMENT_LEN + 1];
static char text[MAX_ROWS * WIDTH];

#define ENTRY(type, position) ((type)api[position])
typedef void (*assign)(duckdb_handle vector, uint64_t row, const char *text, uint64_t length);
typedef void (*body)(duckdb_handle info, duckdb_handle chunk, duckdb_handle out);

static uint64_t size(duckdb_handle chunk) { return ENTRY(uint64_t(*)(duckdb_handle), DUCKDB_DATA_CHUNK_GET_SIZE)(chunk); }

static void call(duckdb_handle info, duckdb_handle chunk, duckdb_handle out) {
  (void)info;
  ENTRY(void (*)(duckdb_handle), DUCKDB_VECTOR_ENSURE_VALIDITY_WRITABLE)(out);
  uint64_t *valid = ENTRY(uint64_t * (*)(duckdb_handle), DUCKDB_VECTOR_GET_VALIDITY)(out);
  memset(valid, 0, (size(chunk) + 7) / 8);
}

static void rows(duckdb_handle info, duckdb_handle chunk, duckdb_handle out) {
  (void)info;
  assign give = ENTRY(assign, DUCKDB_UNSAFE_VECTOR_ASSIGN_STRING_ELEMENT_LEN);
  for (uint64_t i = 0, n = size(chunk); i < n; i++) give(out, i, text + i * WIDTH, WIDTH);
}

static void block(duckdb_handle info, duckdb_handle chunk, duckdb_handle out) {
  (void)info;
  uint64_t n = size(chunk);
  ENTRY(assign, DUCKDB_UNSAFE_VECTOR_ASSIGN_STRING_ELEMENT_LEN)(out, 0, text, n * WIDTH);
  struct duckdb_text *t = ENTRY(void *(*)(duckdb_handle), DUCKDB_VECTOR_GET_DATA)(out);
  const char *at;
  memcpy(&at, t->at, sizeof at);
  for (uint64_t i = 0; i < n; i++, at += WIDTH) {
    t[i].length = WIDTH;
    memcpy(t[i].prefix, at, 4);
    memcpy(t[i].at, &at, sizeof at);
  }
}

static int add(duckdb_handle connection, const char *name, body f) {
  duckdb_handle type = ENTRY(duckdb_handle(*)(int), DUCKDB_CREATE_LOGICAL_TYPE)(DUCKDB_TYPE_VARCHAR);
  duckdb_handle sql = ENTRY(duckdb_handle(*)(void), DUCKDB_CREATE_SCALAR_FUNCTION)();
  duckdb_handle set = ENTRY(duckdb_handle(*)(const char *), DUCKDB_CREATE_SCALAR_FUNCTION_SET)(name);
  ENTRY(void (*)(duckdb_handle, const char *), DUCKDB_SCALAR_FUNCTION_SET_NAME)(sql, name);
  ENTRY(void (*)(duckdb_handle, duckdb_handle), DUCKDB_SCALAR_FUNCTION_ADD_PARAMETER)(sql, type);
  ENTRY(void (*)(duckdb_handle, duckdb_handle), DUCKDB_SCALAR_FUNCTION_SET_RETURN_TYPE)(sql, type);
  ENTRY(void (*)(duckdb_handle, body), DUCKDB_SCALAR_FUNCTION_SET_FUNCTION)(sql, f);
  int failed = ENTRY(int (*)(duckdb_handle, duckdb_handle), DUCKDB_ADD_SCALAR_FUNCTION_TO_SET)(set, sql);
  failed |= ENTRY(int (*)(duckdb_handle, duckdb_handle), DUCKDB_REGISTER_SCALAR_FUNCTION_SET)(connection, set);
  ENTRY(void (*)(duckdb_handle *), DUCKDB_DESTROY_SCALAR_FUNCTION_SET)(&set);
  ENTRY(void (*)(duckdb_handle *), DUCKDB_DESTROY_SCALAR_FUNCTION)(&sql);
  ENTRY(void (*)(duckdb_handle *), DUCKDB_DESTROY_LOGICAL_TYPE)(&type);
  return failed;
}

bool floor_init_c_api(duckdb_handle info, const struct duckdb_access *access) {
  const duckdb_entry *given = access->get_api(info, "v1.5.6");
  duckdb_handle *database = access->get_database(info), connection = NULL;
  if (!given || !database) return false;
  memcpy(table, given, sizeof table);
  api = table;
  memset(text, 'a', sizeof text);
  if (ENTRY(int (*)(duckdb_handle, duckdb_handle *), DUCKDB_CONNECT)(*database, &connection)) return false;
  int failed = add(connection, "floor_call", call) | add(connection, "floor_rows", rows) | add(connection, "floor_block", block);
  ENTRY(void (*)(duckdb_handle *), DUCKDB_DISCONNECT)(&connection);
  if (failed) access->set_error(info, "the functions were refused");
  return !failed;
}
