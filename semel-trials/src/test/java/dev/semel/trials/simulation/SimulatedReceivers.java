package dev.semel.trials.simulation;

import dev.semel.engine.ClockAndRandomSource;
import dev.semel.run.RunId;
import dev.semel.store.StoreQueries;
import dev.semel.store.WorkflowStore;
import dev.semel.workflow.Step;
import java.io.IOException;
import java.net.ConnectException;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * The outside world: counts what arrives and what it accepts of each effect. What goes wrong with the nth request of a
 * effect is drawn from the seed, so it is the same whichever worker sends it.
 */
final class SimulatedReceivers {
    /** What a request meets. */
    enum Mode {
        ACCEPTS,
        /** Accepts, and the answer is lost. */
        LOSES_ANSWER,
        /** Arrives, is not accepted, and the answer is lost. */
        LOSES_REQUEST,
        /** Nobody listens: the request does not arrive. */
        DOWN,
        /** Accepts, and the worker dies before it hears of it. */
        KILLS
    }

    /** Which effect, under which protection, for which run; one effect has one name whoever does it. */
    record EffectRequest(RandomProgram.Kind kind, String name, String runId) {}

    /** What was seen of one effect. */
    static final class EffectCounts {
        final RandomProgram.Kind kind;
        final Set<String> keys = new LinkedHashSet<>();
        final Set<String> known = new LinkedHashSet<>();
        final List<Long> acceptedAt = new ArrayList<>();
        int tries;
        int requests;
        int doubtsDenied;

        EffectCounts(RandomProgram.Kind kind) {
            this.kind = kind;
        }
    }

    private static final int BAD_AT_MOST = 3;

    private final ReentrantLock lock = new ReentrantLock();
    private final Map<String, EffectCounts> actions = new TreeMap<>();
    private final List<String> broken = new ArrayList<>();
    private final Simulation.SharedState shared;
    private final StoreQueries reads;

    SimulatedReceivers(Simulation.SharedState shared, WorkflowStore store) {
        this.shared = shared;
        this.reads = store.openQueries();
    }

    /** A request of a worker. Returns what the provider answers. */
    String send(SimulatedWorker by, EffectRequest request, Step step) throws IOException {
        lock.lock();
        try {
            refuseTheDead(by);
            EffectCounts counts = actions.computeIfAbsent(request.name(), _ -> new EffectCounts(request.kind()));
            Mode mode = mode(request, counts.tries++);
            shared.met("receiver " + mode);
            shared.met("protection " + request.kind());
            shared.trace(by.name() + " sends " + request.name() + " attempt " + step.attempt() + ": " + mode);
            if (mode == Mode.DOWN) {
                throw new ConnectException("nobody listens");
            }
            noteOwner(by, request);
            String key = shared.bug() == PlantedBug.KEY_PER_ATTEMPT ? step.key() + "#" + step.attempt() : step.key();
            counts.keys.add(key);
            counts.requests++;
            if (mode != Mode.LOSES_REQUEST) {
                accept(request, counts, key);
            }
            if (mode == Mode.KILLS) {
                by.life().kill();
                throw new ClockAndRandomSource.SimulatedCrash();
            }
            if (mode != Mode.ACCEPTS) {
                throw new IOException("the answer was lost");
            }
            return "done " + request.name();
        } finally {
            by.life().arrived();
            lock.unlock();
        }
    }

    private static void refuseTheDead(SimulatedWorker by) {
        if (by.life().isDead()) {
            throw new ClockAndRandomSource.SimulatedCrash();
        }
    }

    /** The store says whose the run is. A worker that lost it has nothing to send any more. */
    private void noteOwner(SimulatedWorker by, EffectRequest request) {
        RunId run = RunId.parse(request.runId());
        boolean owns = reads.runsOfLease(by.store().lease(), null, 10_000).stream()
                .anyMatch(driver -> driver.run().equals(run));
        if (!owns) {
            broken.add("a zombie sent: " + by.name() + " sent " + request.name() + " of a run that it had lost");
        }
    }

    private void accept(EffectRequest request, EffectCounts counts, String key) {
        boolean dedupes = request.kind() == RandomProgram.Kind.PROVIDER_KEY
                || request.kind() == RandomProgram.Kind.ONCE
                || request.kind() == RandomProgram.Kind.UNDO;
        if (counts.known.add(key) || !dedupes) {
            counts.acceptedAt.add(shared.time().micros());
        }
    }

    /** What became of a key; null where nothing did. */
    @Nullable
    String find(SimulatedWorker by, EffectRequest request, Step step) {
        lock.lock();
        try {
            refuseTheDead(by);
            EffectCounts counts = actions.get(request.name());
            boolean there = counts != null && counts.known.contains(step.key());
            shared.met(there ? "lookup found" : "lookup empty");
            shared.trace(by.name() + " looks up " + request.name() + ": " + (there ? "found" : "nothing"));
            return there ? "done " + request.name() : null;
        } finally {
            lock.unlock();
        }
    }

    private Mode mode(EffectRequest request, int nth) {
        if (nth >= BAD_AT_MOST || !shared.troubled()) {
            return Mode.ACCEPTS;
        }
        Random random = shared.chance(request.name() + "#" + nth);
        int drawn = random.nextInt(100);
        if (drawn < 45) {
            return Mode.ACCEPTS;
        }
        if (drawn < 65) {
            return Mode.LOSES_ANSWER;
        }
        if (drawn < 80) {
            return Mode.LOSES_REQUEST;
        }
        return drawn < 94 || !shared.mayKill() ? Mode.DOWN : Mode.KILLS;
    }

    /** A person says that it did not happen, so it may be sent once more. */
    void denied(String action) {
        lock.lock();
        try {
            EffectCounts counts = actions.get(action);
            if (counts != null) {
                counts.doubtsDenied++;
            }
        } finally {
            lock.unlock();
        }
    }

    boolean accepted(String action) {
        lock.lock();
        try {
            EffectCounts counts = actions.get(action);
            return counts != null && !counts.acceptedAt.isEmpty();
        } finally {
            lock.unlock();
        }
    }

    /** For the verdict, when nothing moves any more. */
    Map<String, EffectCounts> effects() {
        return actions;
    }

    List<String> broken() {
        return broken;
    }

    void close() {
        reads.close();
    }
}
