/*
 * What the extension needs of DuckDB's C extension API.
 *
 * An extension exports NAME_init_c_api and asks the access structure for a table
 * of function pointers. The first part of the table is fixed since DuckDB 1.2.0,
 * so that one file loads in every later version; the second since 1.5.6. The
 * numbers below are positions in it.
 */
#ifndef ARROWMASK_DUCKDB_H
#define ARROWMASK_DUCKDB_H

#include <stdbool.h>
#include <stdint.h>

#include "arrowmask.h"

typedef void *duckdb_handle; /* of any kind */
typedef void (*duckdb_entry)(void);

struct duckdb_access {
  void (*set_error)(duckdb_handle info, const char *text);
  duckdb_handle *(*get_database)(duckdb_handle info);
  const duckdb_entry *(*get_api)(duckdb_handle info, const char *version);
};

enum {
  DUCKDB_CONNECT = 3,
  DUCKDB_DISCONNECT = 6,
  DUCKDB_LIBRARY_VERSION = 7,
  DUCKDB_QUERY = 13,
  DUCKDB_DESTROY_RESULT = 14,
  DUCKDB_RESULT_ERROR = 21,
  DUCKDB_CREATE_LOGICAL_TYPE = 156,
  DUCKDB_DESTROY_LOGICAL_TYPE = 184,
  DUCKDB_DATA_CHUNK_GET_VECTOR = 190,
  DUCKDB_DATA_CHUNK_GET_SIZE = 191,
  DUCKDB_VECTOR_GET_DATA = 194,
  DUCKDB_VECTOR_GET_VALIDITY = 195,
  DUCKDB_VECTOR_ENSURE_VALIDITY_WRITABLE = 196,
  DUCKDB_VECTOR_ASSIGN_STRING_ELEMENT_LEN = 198,
  DUCKDB_CREATE_SCALAR_FUNCTION = 209,
  DUCKDB_DESTROY_SCALAR_FUNCTION = 210,
  DUCKDB_SCALAR_FUNCTION_SET_NAME = 211,
  DUCKDB_SCALAR_FUNCTION_SET_SPECIAL_HANDLING = 213,
  DUCKDB_SCALAR_FUNCTION_ADD_PARAMETER = 215,
  DUCKDB_SCALAR_FUNCTION_SET_RETURN_TYPE = 216,
  DUCKDB_SCALAR_FUNCTION_SET_EXTRA_INFO = 217,
  DUCKDB_SCALAR_FUNCTION_SET_FUNCTION = 218,
  DUCKDB_SCALAR_FUNCTION_GET_EXTRA_INFO = 220,
  DUCKDB_SCALAR_FUNCTION_SET_ERROR = 221,
  DUCKDB_CREATE_SCALAR_FUNCTION_SET = 222,
  DUCKDB_DESTROY_SCALAR_FUNCTION_SET = 223,
  DUCKDB_ADD_SCALAR_FUNCTION_TO_SET = 224,
  DUCKDB_REGISTER_SCALAR_FUNCTION_SET = 225,
  /* since 1.5.6 */
  DUCKDB_UNSAFE_VECTOR_ASSIGN_STRING_ELEMENT_LEN = 545
};

enum { DUCKDB_TYPE_BIGINT = 5, DUCKDB_TYPE_VARCHAR = 17 };

/* A value of text: up to 12 bytes lie in it. */
#define DUCKDB_INLINE 12
struct duckdb_text {
  uint32_t length;
  union {
    char inlined[DUCKDB_INLINE];
    struct {
      char prefix[4];
      char at[8]; /* a char *, which would not be aligned for every compiler */
    };
  };
};

/* A thread's memory for a chunk on its way. Go reads in_*, and answers in out_*. */
struct am_duckdb_chunk {
  int64_t rows;
  int32_t *in_offsets; /* rows + 1 */
  char *in_data;
  const uint8_t *in_valid; /* a bit a row, from bit in_bit on; NULL: no NULLs */
  int64_t in_bit;

  int32_t *out_offsets; /* room for rows + 1 */
  char *out_data;       /* where Go put the bytes, in memory or beside it */
  uint8_t *out_valid;   /* room for a bit a row */
  bool out_nulls;       /* out_valid counts */

  char *memory; /* for out_data */
  size_t memory_size;
};

#endif
