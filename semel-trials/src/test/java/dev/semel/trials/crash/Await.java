package dev.semel.trials.crash;

import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.locks.LockSupport;

/** Looks again and again until something holds, and says what it waited for when it never does. */
final class Await {
    static final Duration GENEROUS = Duration.ofSeconds(60);
    private static final long BETWEEN_LOOKS = Duration.ofMillis(20).toNanos();

    static void holds(String what, Callable<Boolean> look) {
        long deadline = System.nanoTime() + GENEROUS.toNanos();
        while (!ask(what, look)) {
            if (System.nanoTime() > deadline) {
                throw new AssertionError("waited " + GENEROUS.toSeconds() + " s and it never held: " + what);
            }
            breathe();
        }
    }

    /** Gives the processor away between two looks. */
    static void breathe() {
        LockSupport.parkNanos(BETWEEN_LOOKS);
    }

    private static boolean ask(String what, Callable<Boolean> look) {
        try {
            return look.call();
        } catch (Exception e) {
            throw new AssertionError("looking failed: " + what, e);
        }
    }

    private Await() {}
}
