/*
 * arrowmask: hash and mask columns of Arrow data. The C interface.
 *
 * Every column crosses as the structures of the Arrow C Data Interface, every
 * table as its stream:
 *   https://arrow.apache.org/docs/format/CDataInterface.html
 *   https://arrow.apache.org/docs/format/CStreamInterface.html
 *
 * RULES THAT HOLD FOR EVERY FUNCTION
 *
 *  - A function that can fail returns ARROWMASK_OK or one of the codes below
 *    (they are values of <errno.h>, as the stream interface wants); the text is
 *    had from arrowmask_last_error. No text holds a cell's value or key bytes.
 *  - Arguments are checked first: a NULL pointer, a handle that is 0 or was
 *    released, a structure that breaks the rules of the C Data Interface is an
 *    error code, never a crash. What cannot be checked is where a buffer ends.
 *  - Inputs that are `const` are borrowed: they are read during the call only,
 *    without copying, and stay the caller's to release. Inputs that are not
 *    const are moved: their `release` is NULL when the function returns, with
 *    success or without, and each was released exactly once or is owned by the
 *    output.
 *  - Outputs need not be initialised. They are the caller's to release, own
 *    their memory (blocks of malloc) and outlive inputs, handles and
 *    each other. After an error their `release` is NULL. Their release callback
 *    is plain C: it may be called on any thread, in a forked child, at the end of
 *    the process.
 *  - Handles may be used from any number of threads at once. They are never
 *    used again once released.
 *
 * FORK. The library starts threads when it is loaded. A child that fork() makes
 * after that has none of them, and calls would hang: every call in such a child
 * returns ARROWMASK_EFORK instead. Load the library in the worker, after fork.
 *
 * SIGNALS. The library installs handlers for synchronous signals (SIGSEGV,
 * SIGBUS, SIGFPE) and for SIGURG, with SA_ONSTACK, and passes on those that are
 * not its own. It blocks none.
 */
#ifndef ARROWMASK_H
#define ARROWMASK_H

#include <errno.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifndef ARROW_C_DATA_INTERFACE
#define ARROW_C_DATA_INTERFACE

#define ARROW_FLAG_DICTIONARY_ORDERED 1
#define ARROW_FLAG_NULLABLE 2
#define ARROW_FLAG_MAP_KEYS_SORTED 4

struct ArrowSchema {
  const char *format;
  const char *name;
  const char *metadata;
  int64_t flags;
  int64_t n_children;
  struct ArrowSchema **children;
  struct ArrowSchema *dictionary;
  void (*release)(struct ArrowSchema *);
  void *private_data;
};

struct ArrowArray {
  int64_t length;
  int64_t null_count;
  int64_t offset;
  int64_t n_buffers;
  int64_t n_children;
  const void **buffers;
  struct ArrowArray **children;
  struct ArrowArray *dictionary;
  void (*release)(struct ArrowArray *);
  void *private_data;
};

#endif

#ifndef ARROW_C_STREAM_INTERFACE
#define ARROW_C_STREAM_INTERFACE

struct ArrowArrayStream {
  int (*get_schema)(struct ArrowArrayStream *, struct ArrowSchema *out);
  int (*get_next)(struct ArrowArrayStream *, struct ArrowArray *out);
  const char *(*get_last_error)(struct ArrowArrayStream *);
  void (*release)(struct ArrowArrayStream *);
  void *private_data;
};

#endif

/* The version of this interface; arrowmask_abi_version() answers that of the
 * library. Functions are only ever added within a version. */
#define ARROWMASK_ABI_VERSION 1

enum {
  ARROWMASK_OK = 0,
  ARROWMASK_EINVAL = EINVAL,     /* an argument, expression, option or structure is invalid */
  ARROWMASK_ENOTSUP = ENOTSUP,   /* the function does not take a column of that type */
  ARROWMASK_EACCES = EACCES,     /* refused: not approved in FIPS mode, or closed by a policy */
  ARROWMASK_ENOMEM = ENOMEM,     /* no memory, or a result that does not fit its offsets */
  ARROWMASK_EBADF = EBADF,       /* not a handle, a released one, or one of another kind */
  ARROWMASK_EFORK = ECHILD,      /* the library was loaded before this process was forked */
  ARROWMASK_EIO = EIO            /* an internal fault, caught */
};

/* What the functions below make and take. 0 is no handle. */
typedef uintptr_t arrowmask_handle;

/* ---- the library ---- */

int32_t arrowmask_abi_version(void);

/* Build, platform, FIPS state, the backend of every digest and of hex text, and
 * the settings of the environment that cannot be honoured, as JSON; NULL
 * without memory. The caller passes it to arrowmask_free. */
char *arrowmask_report(void);

/* Runs the known answers on every backend that may be used here. *report
 * (may be NULL) receives lines of text for a person, for arrowmask_free. */
int arrowmask_selftest(char **report);

/* Frees what a function says is for arrowmask_free. NULL is fine. */
void arrowmask_free(void *);

/* ---- handles ---- */

/* Copies the text of the latest error of a handle, cut to size bytes with the
 * ending 0, and returns its whole length without that 0; 0 when there was no
 * error. Threads that share a handle share its latest error. buf may be NULL
 * when size is 0. */
size_t arrowmask_last_error(arrowmask_handle, char *buf, size_t size);

/* Releases a handle of any kind. A second time, or 0, is ARROWMASK_EBADF. */
int arrowmask_release(arrowmask_handle);

/* ---- keys ---- */

/* A keyring for hmac and mask_hmac. *out is set whether or not it fails; see
 * arrowmask_kernel_new. */
int arrowmask_keyring_new(arrowmask_handle *out);

/* Adds a key of n bytes (at least 14) under a name. The bytes are copied. */
int arrowmask_keyring_add(arrowmask_handle keyring, const char *name, const void *key, size_t n);

/* ---- scalar kernels ---- */

/*
 * Makes a kernel: one function over one column, or over several. options is JSON:
 *
 *   {"expr": "mask_show_last_n({col}, 4)"}      an expression over {col}, or
 *   {"expr": "hash_row({id}, {born})",          over columns by name, which are
 *    "columns": ["id", "born"]}                 the arguments in this order;
 *                                               without "columns" the argument is
 *                                               one struct whose children they are
 *                                               (a record batch), or
 *   {"function": "sha2", "args": [256]}         a function and its literals;
 *                                               without "args" they may come to
 *                                               arrowmask_kernel_bind
 *   "dialect": "safe"     what NULLs, characters and odd arguments mean
 *   "threads": 1          goroutines a call may use; 1 is the caller's own thread
 *   "large": false        64-bit offsets for text, so that it may exceed 2 GiB
 *   "backend": ""         forces a digest backend by name
 *
 * keyring may be 0; the kernel keeps what is in it now.
 * Even after an error *out is a handle, to read the error from; only when it is
 * 0 there is none (out of memory, out is NULL, or ARROWMASK_EFORK). Release it
 * either way.
 */
int arrowmask_kernel_new(const char *options, arrowmask_handle keyring, arrowmask_handle *out);

/*
 * Binds a kernel to argument types and tells the type of its result. types has
 * n_args schemas: the column, then the other arguments. scalars has n_args arrays
 * of one row, NULL for the column; scalars itself may be NULL when n_args is 1.
 * Arguments after the column must be constants: text, integers, booleans, NULL.
 * The result has the layout of the column (see doc/engines.md), its name, and
 * ARROW_FLAG_NULLABLE. Binding again replaces the types; calls of execute that
 * run meanwhile are not disturbed.
 *
 * With "columns" the arguments are those columns, as many as are listed, and
 * scalars is not looked at. The names of the schemas do not matter. A result of
 * several columns has no dictionary or runs; as text it has the layout of the
 * first column that the expression names, with 64-bit offsets where any that it
 * names has them. Its name is that of the first argument.
 */
int arrowmask_kernel_bind(arrowmask_handle kernel, const struct ArrowSchema *const *types,
                          const struct ArrowArray *const *scalars, int64_t n_args,
                          struct ArrowSchema *out);

/*
 * Evaluates a batch. args[0] is the column, n_rows long (-1: whatever it is);
 * further arguments were given to bind and are not looked at. out has as many
 * rows. Any number of threads may call it on one kernel.
 *
 * With "columns" all arguments are columns of as many rows; one that the
 * expression does not name may be NULL. A struct must have no NULL of its own.
 */
int arrowmask_kernel_execute(arrowmask_handle kernel, const struct ArrowArray *const *args,
                             int64_t n_args, int64_t n_rows, struct ArrowArray *out);

/* ---- policies: who sees what of a table ---- */

/*
 * Reads n bytes of Ranger policies, as its admin serves them (JSON). options is
 * JSON or NULL: "service_type" names the service definition ("hive") of a file
 * that has none, "service" picks one of several, "dialect" is put on the masks,
 * "roles", "users" and "tags" are the texts of the files beside the policies,
 * "access_type", "zone" (of schedules). *out as for arrowmask_kernel_new.
 */
int arrowmask_policy_new(const char *options, const void *policies, size_t n, arrowmask_handle *out);

/*
 * Decides what somebody sees of a table. request is JSON: "user", "table"
 * ("db.name"), and optionally "groups", "roles", "attrs", "owner", "time" (RFC
 * 3339; now). table is the table's schema, a struct. *plan receives n bytes, the
 * plan's encoding, for arrowmask_free: the same everywhere, so that one process
 * decides and others mask. A policy aimed at the table that touches nothing there,
 * and a table that no policy knows, are errors unless "allow_unmatched" is true:
 * a misspelt name would leave the table clear.
 */
int arrowmask_policy_plan(arrowmask_handle policy, const char *request, const struct ArrowSchema *table,
                          void **plan, size_t *n);

/*
 * Makes a masker from a plan, for tables of that schema. options is JSON or NULL:
 * "threads", "large", "backend", and "table", which picks one plan of several.
 * keyring may be 0.
 */
int arrowmask_masker_new(const char *options, arrowmask_handle keyring, const void *plan, size_t n,
                         const struct ArrowSchema *table, arrowmask_handle *out);

/* ---- streams ---- */

/*
 * Turns one stream into another, an array at a time, as the consumer asks: with a
 * masker a table into what the plan lets be seen of it; with a kernel a column
 * into the function of it, or a table into a column where the expression names
 * its columns. Columns that a plan lets pass are handed on without
 * copying. in is moved. The handle may be released before the stream. A stream is
 * for one thread at a time; a failed get_next may be followed by others.
 */
int arrowmask_stream(arrowmask_handle masker_or_kernel, struct ArrowArrayStream *in, struct ArrowArrayStream *out);

/* Copies an array and its schema: for consumers that hand one result out more
 * than once. There is no handle and so no text of an error. */
int arrowmask_array_copy(const struct ArrowSchema *schema, const struct ArrowArray *array,
                         struct ArrowSchema *out_schema, struct ArrowArray *out_array);

#ifdef __cplusplus
}
#endif

#endif
