package dev.semel.testing;

import dev.semel.engine.Ambient;
import java.util.function.Consumer;

/** Tracks whether one engine of a test has crashed; afterwards none of its calls reach the store or a provider. */
final class Life implements Ambient.Hooks {
    /** The engine that this thread belongs to; user code also runs on such threads. */
    private static final ScopedValue<Life> OF_THIS_THREAD = ScopedValue.newInstance();

    private final Points points;
    private final ManualClock clock;
    private final Consumer<Life> onDeath;
    private volatile boolean dead;

    Life(Points points, ManualClock clock, Consumer<Life> onDeath) {
        this.points = points;
        this.clock = clock;
        this.onDeath = onDeath;
    }

    /** Throws if the engine of this thread has crashed, because a dead process makes no calls. */
    static void refuseTheDead() {
        if (OF_THIS_THREAD.isBound()) {
            OF_THIS_THREAD.get().alive();
        }
    }

    boolean isDead() {
        return dead;
    }

    /** The callback runs before the crash is visible, so that a replacement is requested first. */
    synchronized void die() {
        if (!dead) {
            onDeath.accept(this);
            dead = true;
        }
    }

    /** Whether the engine has crashed; waits for a crash in progress. */
    synchronized boolean isOver() {
        return dead;
    }

    @Override
    public void alive() {
        if (dead) {
            throw new Ambient.Death();
        }
    }

    @Override
    public void point(String label) {
        alive();
        if (points.pass(label)) {
            die();
            throw new Ambient.Death();
        }
    }

    @Override
    public void onJump(Runnable look) {
        clock.onMove(() -> {
            if (!dead) {
                look.run();
            }
        });
    }

    @Override
    public Runnable around(Runnable work) {
        return () -> ScopedValue.where(OF_THIS_THREAD, this).run(work);
    }
}
