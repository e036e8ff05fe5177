package dev.semel.testing;

import dev.semel.engine.Ambient;
import java.util.function.Consumer;

/** The life of one engine. Once it is over, nothing that the engine does reaches the store or a provider. */
final class Life implements Ambient.Hooks {
    /** Which engine's thread this is; code of the user runs on such threads. */
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

    /** The process that wants to call out has died, so it does not. */
    static void refuseTheDead() {
        if (OF_THIS_THREAD.isBound()) {
            OF_THIS_THREAD.get().alive();
        }
    }

    boolean isDead() {
        return dead;
    }

    /** Whoever is told waits for {@link #isOver}; so nobody finds it dead before its successor is on the way. */
    synchronized void die() {
        if (!dead) {
            onDeath.accept(this);
            dead = true;
        }
    }

    /** Whether it has died; waits for one that is about to. */
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
