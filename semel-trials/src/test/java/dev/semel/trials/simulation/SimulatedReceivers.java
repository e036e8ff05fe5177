package dev.semel.trials.simulation;

import dev.semel.engine.EngineEnvironment;
import dev.semel.run.RunId;
import dev.semel.store.Store;
import dev.semel.store.StoreQueries;
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
 * The outside world: counts what arrives and what it accepts of each deed. What goes wrong with the nth request of a
 * deed is drawn from the seed, so it is the same whichever worker sends it.
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

    /** Which deed, under which protection, for which run; one deed has one name whoever does it. */
    record EffectRequest(RandomProgram.Kind kind, String name, String runId) {}

    /** What was seen of one deed. */
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
    private final Map<String, EffectCounts> deeds = new TreeMap<>();
    private final List<String> broken = new ArrayList<>();
    private final Simulation.SharedState world;
    private final StoreQueries reads;

    SimulatedReceivers(Simulation.SharedState world, Store store) {
        this.world = world;
        this.reads = store.openQueries();
    }

    /** A request of a worker. Returns what the provider answers. */
    String send(SimulatedWorker by, EffectRequest deed, Step step) throws IOException {
        lock.lock();
        try {
            refuseTheDead(by);
            EffectCounts seen = deeds.computeIfAbsent(deed.name(), _ -> new EffectCounts(deed.kind()));
            Mode mode = mode(deed, seen.tries++);
            world.met("receiver " + mode);
            world.met("protection " + deed.kind());
            world.trace(by.name() + " sends " + deed.name() + " attempt " + step.attempt() + ": " + mode);
            if (mode == Mode.DOWN) {
                throw new ConnectException("nobody listens");
            }
            noteOwner(by, deed);
            String key = world.bug() == PlantedBug.KEY_PER_ATTEMPT ? step.key() + "#" + step.attempt() : step.key();
            seen.keys.add(key);
            seen.requests++;
            if (mode != Mode.LOSES_REQUEST) {
                accept(deed, seen, key);
            }
            if (mode == Mode.KILLS) {
                by.life().kill();
                throw new EngineEnvironment.SimulatedCrash();
            }
            if (mode != Mode.ACCEPTS) {
                throw new IOException("the answer was lost");
            }
            return "done " + deed.name();
        } finally {
            by.life().arrived();
            lock.unlock();
        }
    }

    private static void refuseTheDead(SimulatedWorker by) {
        if (by.life().isDead()) {
            throw new EngineEnvironment.SimulatedCrash();
        }
    }

    /** The store says whose the run is. A worker that lost it has nothing to send any more. */
    private void noteOwner(SimulatedWorker by, EffectRequest deed) {
        RunId run = RunId.parse(deed.runId());
        boolean owns = reads.runsOfLease(by.store().lease(), null, 10_000).stream()
                .anyMatch(driver -> driver.run().equals(run));
        if (!owns) {
            broken.add("a zombie sent: " + by.name() + " sent " + deed.name() + " of a run that it had lost");
        }
    }

    private void accept(EffectRequest deed, EffectCounts seen, String key) {
        boolean dedupes = deed.kind() == RandomProgram.Kind.PROVIDER_KEY
                || deed.kind() == RandomProgram.Kind.ONCE
                || deed.kind() == RandomProgram.Kind.UNDO;
        if (seen.known.add(key) || !dedupes) {
            seen.acceptedAt.add(world.time().micros());
        }
    }

    /** What became of a key; null where nothing did. */
    @Nullable
    String find(SimulatedWorker by, EffectRequest deed, Step step) {
        lock.lock();
        try {
            refuseTheDead(by);
            EffectCounts seen = deeds.get(deed.name());
            boolean there = seen != null && seen.known.contains(step.key());
            world.met(there ? "lookup found" : "lookup empty");
            world.trace(by.name() + " looks up " + deed.name() + ": " + (there ? "found" : "nothing"));
            return there ? "done " + deed.name() : null;
        } finally {
            lock.unlock();
        }
    }

    private Mode mode(EffectRequest deed, int nth) {
        if (nth >= BAD_AT_MOST || !world.troubled()) {
            return Mode.ACCEPTS;
        }
        Random random = world.chance(deed.name() + "#" + nth);
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
        return drawn < 94 || !world.mayKill() ? Mode.DOWN : Mode.KILLS;
    }

    /** A person says that it did not happen, so it may be sent once more. */
    void denied(String deed) {
        lock.lock();
        try {
            EffectCounts seen = deeds.get(deed);
            if (seen != null) {
                seen.doubtsDenied++;
            }
        } finally {
            lock.unlock();
        }
    }

    boolean accepted(String deed) {
        lock.lock();
        try {
            EffectCounts seen = deeds.get(deed);
            return seen != null && !seen.acceptedAt.isEmpty();
        } finally {
            lock.unlock();
        }
    }

    /** For the verdict, when nothing moves any more. */
    Map<String, EffectCounts> deeds() {
        return deeds;
    }

    List<String> broken() {
        return broken;
    }

    void close() {
        reads.close();
    }
}
