package dev.semel.testing;

import dev.semel.engine.Ambient;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;

/**
 * Time by hand, for tests of windows and expiry. Give {@link #ambient} and {@link #databaseSkew} to
 * {@code Settings.withClock}. On SQLite time stands still until it is moved. A PostgreSQL keeps its own clock, which is
 * moved along by the same amount and goes on by itself: leave a margin of some seconds around an edge there. Time-outs
 * and leases go by the real forward clock, so that moving the time by a year ends no lease.
 */
public final class ManualClock {
    private final Ambient real = Ambient.real();
    private final AtomicLong micros;
    private final long startedByRealTime;
    private final List<Runnable> looks = new CopyOnWriteArrayList<>();

    private ManualClock(long micros, long realMicros) {
        this.micros = new AtomicLong(micros);
        this.startedByRealTime = realMicros;
    }

    public static ManualClock startingNow() {
        long now = Ambient.real().micros();
        return new ManualClock(now, now);
    }

    public static ManualClock startingAt(Instant instant) {
        long micros = instant.getEpochSecond() * 1_000_000 + instant.getNano() / 1_000;
        return new ManualClock(micros, Ambient.real().micros());
    }

    public Instant now() {
        return Instant.ofEpochSecond(0, micros.get() * 1_000);
    }

    /** Moves time forward; it never goes back, as in a store. */
    public void advance(Duration by) {
        if (by.isNegative()) {
            throw new IllegalArgumentException("time goes forward only, not by " + by);
        }
        micros.addAndGet(by.toNanos() / 1_000);
        looks.forEach(Runnable::run);
    }

    /** Calls back after every move. */
    void onMove(Runnable look) {
        looks.add(look);
    }

    /** Microseconds since 1970, as stores count. */
    long micros() {
        return micros.get();
    }

    public Ambient ambient() {
        return new Ambient(micros::get, real::nanos, real.random(), new Ambient.Hooks() {
            @Override
            public void onJump(Runnable look) {
                onMove(look);
            }
        });
    }

    /** How far a database's clock is moved: what was advanced, and how far the start lay from the real time. */
    public LongSupplier databaseSkew() {
        return () -> micros.get() - startedByRealTime;
    }
}
