package dev.semel.testing;

import dev.semel.run.MicrosecondConverter;
import dev.semel.runtime.ManualClock;
import dev.semel.store.StoreWrite;
import java.time.Duration;
import java.time.Instant;

/** The manual clock of the test kit: it stands still until a test advances it, and due work runs at its due time. */
public final class TestKitClock {
    private static final int MOST_JUMPS = 100_000;

    private final WorkflowTestKit kit;
    private boolean auto;

    TestKitClock(WorkflowTestKit kit) {
        this.kit = kit;
    }

    public Instant now() {
        return kit.environment().clock().now();
    }

    /** Advances the clock from due time to due time, and waits until the engines are idle before and after. */
    public void advance(Duration by) {
        ManualClock clock = kit.environment().clock();
        long until = clock.micros() + MicrosecondConverter.of(by);
        if (by.isNegative()) {
            throw new IllegalArgumentException("the clock cannot go back; the given duration is " + by);
        }
        advanceThrough(until);
        moveTo(until);
        kit.awaitIdle();
    }

    /** Makes {@link WorkflowTestKit#settle} advance the clock to the next due time whenever all runs wait. */
    public TestKitClock autoAdvance() {
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
    void advanceThrough(long until) {
        for (int jumps = 0; ; jumps++) {
            long due = kit.awaitIdle();
            if (due > until || due == StoreWrite.Suspension.NEVER) {
                return;
            }
            if (jumps == MOST_JUMPS) {
                throw new AssertionError("The runs still had due work after the clock advanced " + MOST_JUMPS
                        + " times. " + kit.describe());
            }
            moveTo(due);
        }
    }

    private void moveTo(long micros) {
        ManualClock clock = kit.environment().clock();
        long by = micros - clock.micros();
        if (by > 0) {
            clock.advance(Duration.ofNanos(by * 1_000));
        }
    }
}
