package dev.semel.store;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** Waits for what another thread or process brings about. Fails after a time that no healthy machine needs. */
public final class Await {
    private static final long LONGEST = TimeUnit.SECONDS.toNanos(60);
    private static final long LOOK_AGAIN = TimeUnit.MILLISECONDS.toNanos(10);

    private Await() {}

    @FunctionalInterface
    public interface Condition {
        boolean holds() throws Exception;
    }

    public static void until(String what, Condition condition) {
        long start = System.nanoTime();
        while (!holds(condition)) {
            if (System.nanoTime() - start > LONGEST) {
                throw new AssertionError("waited in vain until " + what);
            }
            LockSupport.parkNanos(LOOK_AGAIN);
        }
    }

    private static boolean holds(Condition condition) {
        try {
            return condition.holds();
        } catch (RuntimeException e) {
            throw e;
        } catch (Exception e) {
            throw new AssertionError("the condition could not be looked at", e);
        }
    }
}
