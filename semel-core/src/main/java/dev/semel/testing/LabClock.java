package dev.semel.testing;

import dev.semel.store.Write;
import java.time.Duration;
import java.time.Instant;

/** The time of a lab. It stands still until it is moved, and everything due on the way happens at its own moment. */
public final class LabClock {
    private static final int MOST_JUMPS = 100_000;

    private final Lab lab;
    private boolean auto;

    LabClock(Lab lab) {
        this.lab = lab;
    }

    public Instant now() {
        return lab.world().clock().now();
    }

    /** Lets all work come to rest, then lets that much time pass, moment by moment, and all work come to rest again. */
    public void advance(Duration by) {
        ManualClock clock = lab.world().clock();
        long until = clock.micros() + by.toNanos() / 1_000;
        if (by.isNegative()) {
            throw new IllegalArgumentException("time goes forward only, not by " + by);
        }
        passUntil(until);
        moveTo(until);
        lab.rest();
    }

    /** From now on time jumps to the next due moment whenever {@link Lab#settle} finds that everything waits. */
    public LabClock autoAdvance() {
        auto = true;
        return this;
    }

    boolean isAuto() {
        return auto;
    }

    void manual() {
        auto = false;
    }

    /** Goes from one due moment to the next, as long as there is one before that. */
    void passUntil(long until) {
        for (int jumps = 0; ; jumps++) {
            long due = lab.rest();
            if (due > until || due == Write.Rest.NEVER) {
                return;
            }
            if (jumps == MOST_JUMPS) {
                throw new AssertionError("After " + MOST_JUMPS + " moments something was still due. " + lab.describe());
            }
            moveTo(due);
        }
    }

    private void moveTo(long micros) {
        ManualClock clock = lab.world().clock();
        long by = micros - clock.micros();
        if (by > 0) {
            clock.advance(Duration.ofNanos(by * 1_000));
        }
    }
}
