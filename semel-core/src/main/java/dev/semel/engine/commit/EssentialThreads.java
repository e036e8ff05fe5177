package dev.semel.engine.commit;

import dev.semel.engine.ClockAndRandomSource;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** The threads without which a worker is useless. It notices if one of them ends with an error. */
public final class EssentialThreads {
    private static final Logger LOG = System.getLogger(EssentialThreads.class.getName());

    private volatile @Nullable String dead;
    private volatile Consumer<String> onDeath = _ -> {};

    /** Returns the name of the first thread that died; null while all of them live. */
    public @Nullable String dead() {
        return dead;
    }

    /** Calls this with the name of a thread that dies, or has died. The library itself never ends the process. */
    public void onDeath(Consumer<String> action) {
        onDeath = action;
        String before = dead;
        if (before != null) {
            action.accept(before);
        }
    }

    /** Call it when the thread is started: one that has ended by then counts as dead. */
    public Thread watch(Thread thread) {
        thread.setUncaughtExceptionHandler(this::onUncaught);
        if (!thread.isAlive()) {
            report(thread.getName());
        }
        return thread;
    }

    private void onUncaught(Thread thread, Throwable failure) {
        if (ClockAndRandomSource.SimulatedCrash.causes(failure)) {
            return;
        }
        try {
            LOG.log(Level.ERROR, "thread " + thread.getName() + " died; this worker must be restarted", failure);
        } finally {
            report(thread.getName()); // also if memory does not suffice for the log
        }
    }

    private void report(String name) {
        if (dead == null) {
            dead = name;
        }
        onDeath.accept(name);
    }
}
