/* What the Go side calls in C. */
#ifndef ARROWMASK_BRIDGE_H
#define ARROWMASK_BRIDGE_H

#include "arrowmask.h"

void *am_malloc(size_t); /* malloc; cgo's own ends the process without memory */
void am_release_schema(struct ArrowSchema *);
void am_release_array(struct ArrowArray *);
void am_call_release_array(struct ArrowArray *);
void am_call_release_schema(struct ArrowSchema *);

#endif
