package dev.semel.testing;

import dev.semel.store.Write;
import java.time.Duration;
import java.time.Instant;

/** The manual clock of the test kit: it stands still until a test advances it, and due work runs at its due time. */
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

    /** Advances the clock from due time to due time, and waits until the engines are idle before and after. */
    public void advance(Duration by) {
        ManualClock clock = lab.world().clock();
        long until = clock.micros() + by.toNanos() / 1_000;
        if (by.isNegative()) {
            throw new IllegalArgumentException("the clock cannot go back, but got " + by);
        }
        passUntil(until);
        moveTo(until);
        lab.rest();
    }

    /** Makes {@link Lab#settle} advance the clock to the next due time whenever all runs wait. */
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

    /** Advances from one due time to the next, up to the given time. */
    void passUntil(long until) {
        for (int jumps = 0; ; jumps++) {
            long due = lab.rest();
            if (due > until || due == Write.Rest.NEVER) {
                return;
            }
            if (jumps == MOST_JUMPS) {
                throw new AssertionError(
                        "Work was still due after the clock advanced " + MOST_JUMPS + " times. " + lab.describe());
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
