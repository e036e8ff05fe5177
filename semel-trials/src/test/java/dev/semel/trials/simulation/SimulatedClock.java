package dev.semel.trials.simulation;

import dev.semel.engine.ClockAndRandomSource;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicLong;

/** The time of the store and of all workers: it stands still until the simulation moves it. */
final class SimulatedClock {
    private static final long START = 1_767_225_600_000_000L;

    private final AtomicLong micros = new AtomicLong(START);
    private final List<Runnable> looks = new CopyOnWriteArrayList<>();

    long micros() {
        return micros.get();
    }

    long seconds() {
        return (micros.get() - START) / 1_000_000;
    }

    void advance(int seconds) {
        micros.addAndGet(seconds * 1_000_000L);
        looks.forEach(Runnable::run);
    }

    /** Leases go by the same clock, so that moving it lets them run out as real time would. */
    ClockAndRandomSource ambient(Random random, WorkerSwitch life) {
        return new ClockAndRandomSource(
                this::micros, () -> (micros() - START) * 1_000, random, new ClockAndRandomSource.TestInstrumentation() {
                    @Override
                    public void point(String label) {
                        life.point(label);
                    }

                    @Override
                    public void onClockJump(Runnable look) {
                        looks.add(look);
                    }
                });
    }
}
