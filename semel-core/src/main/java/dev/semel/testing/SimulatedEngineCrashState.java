package dev.semel.testing;

import dev.semel.engine.ClockAndRandomSource;
import dev.semel.runtime.ManualClock;
import java.util.function.Consumer;

/** Tracks whether one engine of a test has crashed; afterwards none of its calls reach the store or a provider. */
final class SimulatedEngineCrashState implements ClockAndRandomSource.TestInstrumentation {
    /** The engine that this thread belongs to; user code also runs on such threads. */
    private static final ScopedValue<SimulatedEngineCrashState> OF_THIS_THREAD = ScopedValue.newInstance();

    private final CrashInjectionPointTracker points;
    private final ManualClock clock;
    private final Consumer<SimulatedEngineCrashState> onDeath;
    private volatile boolean dead;

    SimulatedEngineCrashState(
            CrashInjectionPointTracker points, ManualClock clock, Consumer<SimulatedEngineCrashState> onDeath) {
        this.points = points;
        this.clock = clock;
        this.onDeath = onDeath;
    }

    /** Throws if the engine of this thread has crashed, because a dead process makes no calls. */
    static void rejectIfCrashed() {
        if (OF_THIS_THREAD.isBound()) {
            OF_THIS_THREAD.get().checkAlive();
        }
    }

    boolean hasCrashed() {
        return dead;
    }

    /** The callback runs before the crash is visible, so that a replacement is requested first. */
    synchronized void crash() {
        if (!dead) {
            onDeath.accept(this);
            dead = true;
        }
    }

    /** Whether the engine has crashed; waits for a crash in progress. */
    synchronized boolean awaitCrashed() {
        return dead;
    }

    @Override
    public void checkAlive() {
        if (dead) {
            throw new ClockAndRandomSource.SimulatedCrash();
        }
    }

    @Override
    public void point(String label) {
        checkAlive();
        if (points.recordAndCheck(label)) {
            crash();
            throw new ClockAndRandomSource.SimulatedCrash();
        }
    }

    @Override
    public void onClockJump(Runnable look) {
        clock.onMove(() -> {
            if (!dead) {
                look.run();
            }
        });
    }

    @Override
    public Runnable wrap(Runnable work) {
        return () -> ScopedValue.where(OF_THIS_THREAD, this).run(work);
    }
}
