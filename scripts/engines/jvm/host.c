/* The way from Host.java to the library. */
#include <jni.h>

#include <signal.h>

#include "../cdriver.h"

/* A profiler in the JVM: SIGPROF ends a process that has no handler for it. */
static volatile sig_atomic_t profiled;

static void on_profile(int n) {
  (void)n;
  profiled = 1;
}

JNIEXPORT jint JNICALL JNI_OnLoad(JavaVM *vm, void *reserved) {
  (void)vm, (void)reserved;
  struct sigaction action = {.sa_handler = on_profile, .sa_flags = SA_RESTART};
  sigaction(SIGPROF, &action, NULL);
  return JNI_VERSION_1_8;
}

JNIEXPORT jboolean JNICALL Java_Host_profiled(JNIEnv *env, jclass cls) {
  (void)env, (void)cls;
  return profiled;
}

JNIEXPORT jlong JNICALL Java_Host_digest(JNIEnv *env, jclass cls, jint rows) {
  (void)env, (void)cls;
  struct column c;
  struct ArrowSchema type;
  struct ArrowArray out;
  arrowmask_handle k;
  jlong bad = 0;
  column_text(&c, "u", rows, 0);
  const struct ArrowSchema *t = &c.schema;
  const struct ArrowArray *a = &c.array;
  bad += arrowmask_kernel_new("{\"expr\": \"sha2({col}, 256)\"}", 0, &k) != 0;
  bad += arrowmask_kernel_bind(k, &t, NULL, 1, &type) != 0;
  bad += arrowmask_kernel_execute(k, &a, 1, -1, &out) != 0;
  for (int64_t i = 0; !bad && i < rows; i++) {
    size_t n = 0;
    const char *got = text_at(&type, &out, i, &n), *want = SHA256[i % 4];
    bad += !got != !want || (got && (n != 64 || memcmp(got, want, 64)));
  }
  if (out.release) out.release(&out);
  if (type.release) type.release(&type);
  arrowmask_release(k);
  column_free(&c);
  return bad;
}
