import java.util.concurrent.TimeUnit;

/**
 * A JVM with the arrowmask library in it: calls in several threads, while signals
 * come from outside and the JVM uses SIGSEGV for its own null checks.
 */
public final class Host {
  static native long digest(int rows); // 0 when every digest is right

  static native boolean profiled(); // SIGPROF reached its handler

  private static int length(String s) {
    return s.length(); // compiled to a load that faults for null
  }

  static volatile int caught;

  public static void main(String[] args) throws Exception {
    System.load(args[0]); // the library itself, then the way to it
    System.load(args[1]);
    Thread[] threads = new Thread[4];
    long[] bad = new long[threads.length];
    for (int i = 0; i < threads.length; i++) {
      int n = i;
      threads[i] =
          new Thread(
              () -> {
                for (int j = 0; j < 2000; j++) {
                  bad[n] += digest(j % 500);
                  try {
                    length(j % 2 == 0 ? null : "text");
                  } catch (NullPointerException e) {
                    caught++;
                  }
                }
              });
      threads[i].start();
    }
    String me = Long.toString(ProcessHandle.current().pid());
    for (int i = 0; i < 50; i++) {
      for (String signal : new String[] {"CHLD", "PROF", "URG"}) {
        Process p = new ProcessBuilder("kill", "-s", signal, me).start();
        if (!p.waitFor(20, TimeUnit.SECONDS) || p.exitValue() != 0) throw new Exception("kill -s " + signal);
      }
      if (i % 10 == 0) System.gc();
    }
    long sum = 0;
    for (int i = 0; i < threads.length; i++) {
      threads[i].join();
      sum += bad[i];
    }
    if (sum != 0 || caught == 0 || !profiled()) throw new Exception(sum + " wrong answers, " + caught + " faults caught");
    System.out.println("JVM " + Runtime.version() + ": survived SIGCHLD, SIGPROF, SIGURG and its own SIGSEGV");
  }
}
