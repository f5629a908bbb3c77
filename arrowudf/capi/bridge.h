/* What the Go side calls in C. */
#ifndef ARROWMASK_BRIDGE_H
#define ARROWMASK_BRIDGE_H

#include <stdbool.h>

#include "arrowmask.h"
#include "duckdb.h"

bool am_forked(void); /* this process is a child of the one that loaded the library */
extern const char am_fork_text[];
bool am_duckdb_reserve(struct am_duckdb_chunk *, size_t); /* room in memory; loses what is there */
void *am_malloc(size_t); /* malloc; cgo's own ends the process without memory */
void am_release_schema(struct ArrowSchema *);
void am_release_array(struct ArrowArray *);
void am_call_release_array(struct ArrowArray *);
void am_call_release_schema(struct ArrowSchema *);

#endif
