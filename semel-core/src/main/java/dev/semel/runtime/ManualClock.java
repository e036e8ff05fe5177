package dev.semel.runtime;

import dev.semel.engine.ClockAndRandomSource;
import dev.semel.run.MicrosecondConverter;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;

/**
 * A clock that tests advance manually, for tests of windows and expiry.
 * Pass {@link #ambient} and {@link #databaseSkew} to {@link dev.semel.runtime.RuntimeOptions#withClock}. On SQLite the time stands
 * still until the test advances it. PostgreSQL keeps its own running clock, shifted by the same amount: leave a margin
 * of some seconds there. Timeouts and leases use the real monotonic clock, so advancing by a year ends no lease.
 */
public final class ManualClock {
    private final ClockAndRandomSource real = ClockAndRandomSource.real();
    private final boolean running;
    /** The time of a clock that stands still, or the offset of a running one. */
    private final AtomicLong micros;

    private final long startedByRealTime;
    private final List<Runnable> looks = new CopyOnWriteArrayList<>();

    private ManualClock(boolean running, long micros, long realMicros) {
        this.running = running;
        this.micros = new AtomicLong(micros);
        this.startedByRealTime = realMicros;
    }

    /** A clock that runs with the machine's clock and can be advanced, also on SQLite. */
    public static ManualClock running() {
        return new ManualClock(true, 0, 0);
    }

    public static ManualClock startingNow() {
        long now = ClockAndRandomSource.real().micros();
        return new ManualClock(false, now, now);
    }

    public static ManualClock startingAt(Instant instant) {
        long micros = MicrosecondConverter.of(instant);
        return new ManualClock(false, micros, ClockAndRandomSource.real().micros());
    }

    public Instant now() {
        return Instant.EPOCH.plus(micros(), ChronoUnit.MICROS);
    }

    /** Advances the clock; it never goes back. */
    public void advance(Duration by) {
        if (by.isNegative()) {
            throw new IllegalArgumentException("the clock cannot go back; the given duration is " + by);
        }
        micros.addAndGet(MicrosecondConverter.of(by));
        looks.forEach(Runnable::run);
    }

    /** Registers a callback that runs after every advance. */
    public void onMove(Runnable look) {
        looks.add(look);
    }

    /** Microseconds since 1970, the unit of stores. */
    public long micros() {
        return running ? real.micros() + micros.get() : micros.get();
    }

    public ClockAndRandomSource ambient() {
        return new ClockAndRandomSource(
                this::micros, real::nanos, real.random(), new ClockAndRandomSource.TestInstrumentation() {
                    @Override
                    public void onClockJump(Runnable look) {
                        onMove(look);
                    }
                });
    }

    /** The offset for a database's clock: the advanced time plus the distance of the start from the real time. */
    public LongSupplier databaseSkew() {
        return () -> micros.get() - startedByRealTime;
    }
}
