package dev.semel.trials.chaos;

import dev.semel.trials.chaos.checks.Fault;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.locks.LockSupport;

/** The three worker processes, and what is done to them. */
final class WorkerProcesses implements AutoCloseable {
    private final ChaosPlan plan;
    private final String url;
    private final String receiver;
    private final Path folder;
    private final Random random;
    private final List<WorkerSlot> seats = new ArrayList<>();
    private final ConcurrentLinkedQueue<Fault> faults = new ConcurrentLinkedQueue<>();

    /** One of the three places; the processes in it come and go. */
    private static final class WorkerSlot {
        volatile WorkerProcess process;
        volatile boolean busy;
        int lives;

        WorkerSlot(WorkerProcess process) {
            this.process = process;
        }
    }

    WorkerProcesses(ChaosPlan plan, String url, String receiver, Path folder) {
        this.plan = plan;
        this.url = url;
        this.receiver = receiver;
        this.folder = folder;
        this.random = new Random(plan.seed());
    }

    static long micros() {
        Instant now = Instant.now();
        return now.getEpochSecond() * 1_000_000 + now.getNano() / 1_000;
    }

    /** The first one makes the tables, so it begins alone; {@code then} is done before the others come. */
    void start(Runnable then) {
        for (int i = 0; i < ChaosPlan.WORKERS; i++) {
            seats.add(new WorkerSlot(process(i, 1)));
            if (i == 0) {
                awaitGate(seats.getFirst());
                then.run();
            }
        }
        awaitGates();
    }

    private WorkerProcess process(int seat, int life) {
        String name = "w" + seat + "." + life;
        boolean own = plan.bug() == PlantedBug.NONE || plan.bug() == PlantedBug.TAKEOVER_BY_OWN_CLOCK;
        String settings = "-c chaos.worker=" + name
                + (plan.bug() == PlantedBug.COMMIT_NOT_DURABLE ? " -c synchronous_commit=off" : "");
        return WorkerProcess.start(
                new ChaosChild.WorkerConfig(
                        name,
                        url + "&options="
                                + java.net.URLEncoder.encode(settings, StandardCharsets.UTF_8)
                                        .replace("+", "%20"),
                        receiver,
                        folder.resolve("events"),
                        plan.bug(),
                        own && seat == plan.skewed() ? plan.skewMicros() : 0,
                        plan.bug() != PlantedBug.NONE || random.nextInt(10) < 6,
                        ChaosPlan.LEASE_MILLIS),
                folder);
    }

    private void awaitGate(WorkerSlot seat) {
        long deadline = System.nanoTime() + Duration.ofSeconds(60).toNanos();
        while (seat.process.port() == 0) {
            if (!seat.process.alive()) {
                seat.process = process(seats.indexOf(seat), 1 + ++seat.lives);
            }
            if (System.nanoTime() > deadline) {
                throw new AssertionError(seat.process.name() + " did not open its source: see its .err in " + folder);
            }
            LockSupport.parkNanos(Duration.ofMillis(20).toNanos());
        }
    }

    void awaitGates() {
        seats.forEach(this::awaitGate);
    }

    WorkerProcess any(Random chance) {
        return seats.get(chance.nextInt(seats.size())).process;
    }

    List<Fault> faults() {
        return List.copyOf(faults);
    }

    void databaseKilled(long from) {
        faults.add(new Fault(Fault.Kind.DATABASE_KILLED, "postgres", from, micros()));
    }

    /** Strikes a worker, in a thread of its own; one that is down already is left alone. */
    void strike(ChaosPlan.PlannedFault blow) {
        WorkerSlot seat = seats.get(blow.worker());
        if (seat.busy) {
            return;
        }
        seat.busy = true;
        Thread.ofVirtual().start(() -> {
            try {
                WorkerProcess process = seat.process;
                long from = micros();
                switch (blow.kind()) {
                    case KILLED -> process.kill();
                    case FROZEN -> process.freeze();
                    case FROZEN_IN_A_BATCH -> process.freezeInABatch();
                    case LAPSED -> process.lapse(true);
                    case DATABASE_KILLED -> throw new IllegalArgumentException("a worker is no database");
                }
                LockSupport.parkNanos(blow.lasts().toNanos());
                faults.add(new Fault(blow.kind(), process.name(), from, micros()));
                if (blow.kind() == Fault.Kind.KILLED) {
                    seat.process = process(blow.worker(), 2 + seat.lives++);
                } else {
                    process.lapse(false);
                    process.thaw();
                }
            } finally {
                seat.busy = false;
            }
        });
    }

    /** Waits until nobody is down any more; who ended by himself is started again. */
    void heal() {
        long deadline = System.nanoTime() + Duration.ofSeconds(60).toNanos();
        while (seats.stream().anyMatch(seat -> seat.busy) && System.nanoTime() < deadline) {
            LockSupport.parkNanos(Duration.ofMillis(20).toNanos());
        }
        awaitGates();
    }

    /** In good order; what a planted bug left behind need not come to an end. */
    void stop() {
        seats.forEach(seat -> {
            if (plan.bug() == PlantedBug.NONE) {
                seat.process.stop();
            } else {
                seat.process.kill();
            }
        });
    }

    void dumpThreads() {
        seats.forEach(seat -> seat.process.dumpThreads());
    }

    /** What the workers noted of themselves. */
    List<String[]> events() {
        try {
            return Files.readAllLines(folder.resolve("events"), StandardCharsets.UTF_8).stream()
                    .map(line -> line.split("\t", -1))
                    .filter(words -> words.length == 3)
                    .toList();
        } catch (IOException e) {
            throw new AssertionError("the events cannot be read", e);
        }
    }

    @Override
    public void close() {
        seats.forEach(seat -> {
            seat.process.thaw();
            seat.process.close();
        });
    }
}
