package dev.semel.trials.simulation;

import dev.semel.engine.ClockAndRandomSource;
import dev.semel.engine.EngineLimits;
import dev.semel.engine.run.WorkflowCatalog;
import dev.semel.runtime.RunHandle;
import dev.semel.runtime.RuntimeOptions;
import dev.semel.runtime.SemelRuntime;
import dev.semel.store.StoreQueries;
import dev.semel.store.WorkflowStore;
import dev.semel.store.sqlite.SqliteStore;
import dev.semel.workflow.Key;
import dev.semel.workflow.Start;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import tools.jackson.databind.JsonNode;

/**
 * One history: three workers on one SQLite file, receivers that count, and clients that ask twice. First everything
 * goes wrong that may (safety), then nothing does any more and all must come to its end (liveness).
 *
 * <p>The seed fixes the programs, the order of what is done to the workers, and what the nth batch and the nth request
 * of a effect meet. It does not fix which thread comes first: the engine runs on real threads. So a seed that failed once
 * may pass the next time; its trace says what happened, and a few repetitions find it again.
 */
final class Simulation {
    /** The first workspace of a store, which Java workflows use. */
    private static final int WORKSPACE = 1;

    private static final int WORKERS = 3;
    private static final int ACTIONS = 45;
    private static final int KILLS = 3;
    private static final int RUNS_AT_MOST = 12;
    private static final int ROUNDS = 400;
    private static final int STEP_SECONDS = 12;
    private static final Duration LEASE = Duration.ofSeconds(60);
    private static final StoreFaults.FaultProbabilities ODDS = StoreFaults.FaultProbabilities.NONE
            .answerLost(0.05)
            .commitLost(0.04)
            .down(0.04)
            .locked(0.04)
            .outage(0.02, 6);

    private final SharedState shared;
    private final Random random;
    private final List<SimulatedWorker> workers = new ArrayList<>();
    private final List<SimulatedWorker> gone = new ArrayList<>();
    private final List<Thread> clients = new ArrayList<>();
    private final List<Thread> closers = new ArrayList<>();
    private int opened;

    /** What all parts share. */
    static final class SharedState {
        private final long seed;
        private final PlantedBug bug;
        private final SimulatedClock time = new SimulatedClock();
        private final WorkflowStore store;
        private final StoreQueries reads;
        private final SimulatedReceivers receivers;
        private final AtomicLong activity = new AtomicLong();
        private final AtomicInteger killsLeft = new AtomicInteger(KILLS);
        private final Set<String> met = new ConcurrentSkipListSet<>();
        private final List<String> trace = new ArrayList<>();
        private volatile boolean troubled = true;
        final Map<String, Set<String>> acknowledged = new ConcurrentHashMap<>();
        final Set<String> cancelled = ConcurrentHashMap.newKeySet();

        SharedState(long seed, PlantedBug bug, Path file) {
            this.seed = seed;
            this.bug = bug;
            ClockAndRandomSource ids = time.ambient(new Random(seed), new WorkerSwitch());
            this.store = SqliteStore.forTests(file, time::micros, ids.idSupplier());
            store.migrate();
            this.reads = store.openQueries();
            this.receivers = new SimulatedReceivers(this, store);
        }

        PlantedBug bug() {
            return bug;
        }

        SimulatedClock time() {
            return time;
        }

        WorkflowStore store() {
            return store;
        }

        /** For the thread that plays the history, and for no other. */
        StoreQueries reads() {
            return reads;
        }

        private void close() {
            reads.close();
            receivers.close();
            store.close();
        }

        SimulatedReceivers receivers() {
            return receivers;
        }

        AtomicLong activity() {
            return activity;
        }

        boolean troubled() {
            return troubled;
        }

        boolean mayKill() {
            return killsLeft.getAndUpdate(left -> Math.max(0, left - 1)) > 0;
        }

        /** Chance that hangs on a name and on nothing else. */
        Random chance(String name) {
            return new Random(seed * 1_000_003 + name.hashCode() * 31L + 7);
        }

        RandomProgram program(String id) {
            return RandomProgram.of(chance("program " + id), id.contains("/"));
        }

        void met(String what) {
            met.add(what);
        }

        Set<String> met() {
            return met;
        }

        void trace(String line) {
            synchronized (trace) {
                trace.add("  " + time.seconds() + " s  " + line);
            }
        }

        List<String> trace() {
            synchronized (trace) {
                return List.copyOf(trace);
            }
        }
    }

    /** @param file a new one for each history; it may be deleted when the history has ended */
    Simulation(long seed, PlantedBug bug, Path file) {
        this.shared = new SharedState(seed, bug, file);
        this.random = new Random(seed);
    }

    SharedState world() {
        return shared;
    }

    /** Plays the history; what was broken, in words. */
    List<String> play() {
        try {
            IntStream.range(0, WORKERS).forEach(_ -> open());
            for (int i = 0; i < ACTIONS; i++) {
                act();
                replaceDead();
            }
            boolean rested = new LivenessPhase(this, shared).comeToRest(ROUNDS);
            collect();
            List<String> broken = new ArrayList<>(new SimulationChecks(shared).broken());
            if (!rested && broken.isEmpty()) {
                broken.add("it never came to rest");
            }
            return broken;
        } finally {
            List.copyOf(workers).forEach(this::stop);
            gone.forEach(worker -> worker.life().kill());
            until(() -> closers.stream().noneMatch(Thread::isAlive));
            shared.close();
        }
    }

    private void open() {
        int number = opened++;
        Random own = new Random(shared.seed * 31 + number);
        StoreFaults faults = new StoreFaults(new Random(own.nextLong()), ODDS);
        faults.off(); // a worker that cannot open is no worker
        SimulatedWorker worker = new SimulatedWorker("w" + number, shared, faults);
        WorkflowCatalog.VersionCompiler noFiles = version -> {
            throw new WorkflowCatalog.WorkflowNotRegistered(version.name(), version.workflowId());
        };
        RuntimeOptions settings = RuntimeOptions.of("shared", noFiles)
                .withWorkerName(worker.name())
                .withLimits(EngineLimits.DEFAULT.withLease(LEASE))
                .withClock(shared.time().ambient(own, worker.life()), () -> 0);
        try {
            worker.opened(SemelRuntime.openForTest(worker.store(), settings, worker.workflows()));
        } catch (RuntimeException e) {
            if (!worker.life().isDead()) {
                throw e;
            }
            shared.trace(worker.name() + " dies while it opens: it drives runs from its first moment");
            open();
            return;
        }
        if (shared.troubled()) {
            faults.on();
        }
        workers.add(worker);
        shared.trace(worker.name() + " opens");
    }

    private void act() {
        int drawn = random.nextInt(100);
        if (drawn < 30) {
            trigger("r" + random.nextInt(RUNS_AT_MOST));
        } else if (drawn < 40) {
            anyRun(this::signal);
        } else if (drawn < 44) {
            anyRun(this::cancel);
        } else if (drawn < 88) {
            advance(1 + random.nextInt(STEP_SECONDS));
        } else if (drawn < 93) {
            kill();
        } else if (drawn < 95) {
            close();
        } else if (drawn < 97) {
            lapse();
        } else {
            pauseBeyondItsLease();
        }
    }

    private SimulatedWorker anyWorker() {
        return workers.get(random.nextInt(workers.size()));
    }

    private interface OnRun {
        void run(SimulatedWorker worker, String id, String runId);
    }

    private void anyRun(OnRun onRun) {
        List<Map.Entry<String, Set<String>>> known = List.copyOf(new TreeMap<>(shared.acknowledged).entrySet());
        if (!known.isEmpty()) {
            Map.Entry<String, Set<String>> one = known.get(random.nextInt(known.size()));
            onRun.run(anyWorker(), one.getKey(), one.getValue().iterator().next());
        }
    }

    /** Asks for a run until it is notified of one. An answer may get lost on its way to the client, too. */
    void trigger(String id) {
        SimulatedWorker worker = anyWorker();
        boolean lost = shared.troubled() && random.nextInt(5) == 0;
        boolean asksAgain = shared.met.contains("asked " + id);
        shared.met("asked " + id);
        client(worker.name() + " is asked for " + id, () -> {
            Start start = asksAgain && shared.bug == PlantedBug.RETRY_WITHOUT_KEY ? Start.fresh() : Start.withKey(id);
            RunHandle<String> run = worker.semel().start(worker.parent(), new RandomProgram.ProgramInput(id), start);
            shared.trace(worker.name() + " answers " + run.id() + " for " + id + (lost ? ", which is lost" : ""));
            if (run.replayed()) {
                shared.met("replayed");
            }
            if (!lost) {
                shared.acknowledged
                        .computeIfAbsent(id, _ -> new ConcurrentSkipListSet<>())
                        .add(run.id());
            }
        });
    }

    /** As many as its program may wait for, each twice. */
    void signal(SimulatedWorker worker, String id, String runId) {
        long waits = shared.program(id).ops().stream()
                .filter(kind -> kind == RandomProgram.Kind.AWAIT || kind == RandomProgram.Kind.AWAIT_FOR)
                .count();
        if (LivenessPhase.staysUnsignalled(shared, id) || waits == 0) {
            return;
        }
        client(worker.name() + " is given the signals of " + id, () -> {
            RunHandle<JsonNode> run = worker.semel().run(WORKSPACE, runId);
            for (int i = 0; i < waits * 2; i++) {
                run.signal(ProgramExecution.GO, "go", Key.of("k" + i / 2));
            }
        });
    }

    private void cancel(SimulatedWorker worker, String id, String runId) {
        shared.cancelled.add(id);
        client(worker.name() + " is asked to cancel " + id, () -> {
            var _ = worker.semel().run(WORKSPACE, runId).cancel();
        });
    }

    /** What a client does is its own thread's: a worker may stand still in the middle of it. */
    void client(String what, Runnable action) {
        shared.trace(what);
        clients.add(Thread.ofVirtual().start(() -> {
            try {
                action.run();
            } catch (RuntimeException | ClockAndRandomSource.SimulatedCrash e) {
                shared.met("client refused");
                shared.trace("refused: " + what + ": " + e.getMessage());
            }
        }));
        settle();
    }

    private void kill() {
        if (shared.mayKill()) {
            SimulatedWorker worker = anyWorker();
            shared.trace(worker.name() + " is killed");
            shared.met("killed");
            worker.life().kill();
        }
    }

    /** A worker that is notified to stop while its store fails: what it cannot hand over goes on elsewhere. */
    private void close() {
        SimulatedWorker worker = anyWorker();
        shared.trace(worker.name() + " is closed");
        shared.met("closed");
        workers.remove(worker);
        gone.add(worker);
        closers.add(Thread.ofVirtual().start(worker.semel()::close));
        settle();
        open();
    }

    /** A worker that may not use its lease for a moment, and then may again: nobody took its runs meanwhile. */
    private void lapse() {
        SimulatedWorker worker = anyWorker();
        shared.trace(worker.name() + " cannot renew its lease");
        shared.met("lapsed");
        worker.store().lapsing(true);
        for (int passed = 0; passed < LEASE.toSeconds() - STEP_SECONDS; passed += STEP_SECONDS) {
            trigger("r" + random.nextInt(RUNS_AT_MOST));
            advance(STEP_SECONDS);
        }
        worker.store().lapsing(false);
        shared.trace(worker.name() + " can renew its lease again");
        advance(1);
    }

    private void pauseBeyondItsLease() {
        SimulatedWorker worker = anyWorker();
        shared.trace(worker.name() + " is paused");
        shared.met("paused");
        worker.life().pause();
        for (int passed = 0; passed <= LEASE.toSeconds() + STEP_SECONDS; passed += STEP_SECONDS) {
            advance(STEP_SECONDS);
        }
        shared.trace(worker.name() + " goes on");
        worker.life().resume();
        settle();
    }

    void replaceDead() {
        for (SimulatedWorker worker : List.copyOf(workers)) {
            if (worker.life().isDead()) {
                workers.remove(worker);
                stop(worker);
                open();
            }
        }
    }

    /** A dead engine has nothing to hand over; its threads end by themselves. */
    private void stop(SimulatedWorker worker) {
        worker.life().kill();
        gone.add(worker);
        closers.add(Thread.ofVirtual().start(worker.semel()::close));
    }

    void calm() {
        shared.troubled = false;
        all().forEach(worker -> worker.faults().off());
        until(() -> closers.stream().noneMatch(Thread::isAlive));
    }

    private Stream<SimulatedWorker> all() {
        return Stream.concat(workers.stream(), gone.stream());
    }

    List<SimulatedWorker> workers() {
        return workers;
    }

    /** Lets time pass, when no request is on the wire and so that whoever is alive can keep its lease. */
    void advance(int seconds) {
        until(() -> all().noneMatch(worker -> worker.life().onTheWire()));
        List<SimulatedWorker> alive =
                workers.stream().filter(worker -> worker.life().isAlive()).toList();
        List<Long> ticks = alive.stream().map(worker -> worker.store().ticks()).toList();
        shared.time().advance(seconds);
        until(() -> IntStream.range(0, alive.size())
                .allMatch(i -> alive.get(i).store().ticks() > ticks.get(i)
                        || !alive.get(i).life().isAlive()));
        settle();
    }

    /** Looks until it holds, or for so long that something else is wrong and the verdict will say what. */
    private static void until(BooleanSupplier holds) {
        for (int looks = 0; looks < 4_000 && !holds.getAsBoolean(); looks++) {
            LockSupport.parkNanos(500_000);
        }
    }

    /** Gives the threads of the engines a chance: until nothing was written for a moment, at most so long. */
    void settle() {
        long seen = -1;
        for (int looks = 0; looks < 30 && seen != shared.activity.get(); looks++) {
            seen = shared.activity.get();
            LockSupport.parkNanos(1_500_000);
        }
    }

    void joinClients() {
        until(() -> clients.stream().noneMatch(Thread::isAlive));
        clients.removeIf(thread -> !thread.isAlive());
    }

    /** What was met, so that a test can tell whether the seeds show anything. */
    private void collect() {
        for (SimulatedWorker worker : all().toList()) {
            for (StoreFaults.Fault fault : StoreFaults.Fault.values()) {
                if (worker.faults().met(fault) > 0) {
                    shared.met("fault " + fault);
                }
            }
            worker.semel().counts().forEach((name, count) -> {
                if (count.getAsLong() > 0) {
                    shared.met("counted " + name);
                }
            });
        }
    }
}
