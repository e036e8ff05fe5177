package dev.semel.trials.chaos;

import dev.semel.engine.ClockAndRandomSource;
import dev.semel.engine.EngineLimits;
import dev.semel.engine.run.WorkflowCatalog;
import dev.semel.runtime.RuntimeOptions;
import dev.semel.runtime.SemelRuntime;
import dev.semel.store.StoreFailure;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.locks.LockSupport;

/**
 * A worker process: the engine on the shared PostgreSQL, a source for clients, and a clock that may be wrong. It ends when
 * its standard input does, so that no worker outlives its trial.
 */
final class ChaosChild {
    private static final int STUCK_OPENING = 60;
    private static final long SUSPENDED_NANOS = Duration.ofMillis(400).toNanos();
    private static final long TICK_NANOS = Duration.ofMillis(5).toNanos();

    private ChaosChild() {}

    /**
     * How this process lives; it comes and goes as one line.
     *
     * @param skewMicros how wrong its clock is
     * @param sleepy its forward clock does not count the time in which it stood still, as that of a suspended machine;
     *     then only the fence keeps it from writing
     */
    record WorkerConfig(
            String worker,
            String url,
            String receiver,
            Path events,
            PlantedBug bug,
            long skewMicros,
            boolean sleepy,
            int leaseMillis) {
        String[] words() {
            return new String[] {
                worker,
                url,
                receiver,
                events.toString(),
                bug.name(),
                Long.toString(skewMicros),
                Boolean.toString(sleepy),
                Integer.toString(leaseMillis)
            };
        }

        static WorkerConfig of(String[] words) {
            return new WorkerConfig(
                    words[0],
                    words[1],
                    words[2],
                    Path.of(words[3]),
                    PlantedBug.valueOf(words[4]),
                    Long.parseLong(words[5]),
                    Boolean.parseBoolean(words[6]),
                    Integer.parseInt(words[7]));
        }
    }

    public static void main(String[] args) throws IOException {
        WorkerConfig life = WorkerConfig.of(args);
        WorkerEventLog events = new WorkerEventLog(life.worker(), life.events());
        TamperingDataSource tampering = new TamperingDataSource(life, events);
        LeaseClock clock = new LeaseClock();
        Thread.ofPlatform().daemon(true).start(clock::tick);
        Thread.ofPlatform().daemon(true).start(() -> listen(tampering, clock));
        if (life.bug() == PlantedBug.COMMIT_NOT_DURABLE) {
            tampering.planted("setting of the connection");
        }
        if (life.skewMicros() != 0) {
            events.note("skewed", Long.toString(life.skewMicros()));
        }
        ChaosFlows flows = new ChaosFlows(life, events);
        ChildStore.WorkerEnvironment environment =
                new ChildStore.WorkerEnvironment(ambient(life, clock), () -> clock.lapsing);
        SemelRuntime semel = open(life, flows, new ChildStore(life, tampering, events, environment));
        if (life.bug() == PlantedBug.SWEEPER_DELETES_LIVE_KEYS) {
            Thread.ofPlatform().daemon(true).start(tampering::sweepLiveKeys);
        }
        WorkerClientSocket workerClientSocket = new WorkerClientSocket(semel, flows, life, tampering);
        Runtime.getRuntime().addShutdownHook(new Thread(() -> {
            workerClientSocket.close();
            semel.close();
        }));
        System.out.println("source " + workerClientSocket.port());
        System.out.flush();
        workerClientSocket.serve();
    }

    /** The database may be down, or another worker may hold a lock as it stands still: then it tries again. */
    private static SemelRuntime open(WorkerConfig life, ChaosFlows flows, ChildStore store) {
        WorkflowCatalog.VersionCompiler noFiles = version -> {
            throw new WorkflowCatalog.WorkflowNotRegistered(version.name(), version.workflowId());
        };
        RuntimeOptions settings = RuntimeOptions.of(life.url(), noFiles)
                .withClock(store.ambient(), () -> 0)
                .withWorkerName(life.worker())
                .withLimits(EngineLimits.DEFAULT.withLease(Duration.ofMillis(life.leaseMillis())));
        for (int tries = 1; ; tries++) {
            try {
                return SemelRuntime.openForTest(store.store(), settings, flows.all());
            } catch (StoreFailure | dev.semel.error.SemelException e) {
                System.err.println(life.worker() + " could not open: " + e.getMessage());
                if (tries == STUCK_OPENING) {
                    throw e;
                }
                LockSupport.parkNanos(Duration.ofMillis(250).toNanos());
            }
        }
    }

    /** Commands on the standard input; its end is ours. */
    private static void listen(TamperingDataSource tampering, LeaseClock clock) {
        try (BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                switch (line) {
                    case "freeze in a batch" -> tampering.freezeInNextBatch();
                    case "lapse" -> clock.lapsing = true;
                    case "renew" -> clock.lapsing = false;
                    default -> System.err.println("nobody knows " + line);
                }
            }
        } catch (IOException e) {
            System.err.println("standard input is gone: " + e.getMessage());
        }
        Runtime.getRuntime().halt(0);
    }

    private static ClockAndRandomSource ambient(WorkerConfig life, LeaseClock clock) {
        ClockAndRandomSource real = ClockAndRandomSource.real();
        return new ClockAndRandomSource(
                () -> real.micros() + life.skewMicros(),
                () -> life.sleepy() ? clock.nanos : System.nanoTime(),
                new SecureRandom());
    }

    /** A forward clock that stands still while its process does, and while the lease lapses. */
    private static final class LeaseClock {
        volatile long nanos = System.nanoTime();
        volatile boolean lapsing;

        @SuppressWarnings("NonAtomicVolatileUpdate") // one thread alone writes it
        void tick() {
            long last = System.nanoTime();
            while (true) {
                LockSupport.parkNanos(TICK_NANOS);
                long now = System.nanoTime();
                if (now - last < SUSPENDED_NANOS && !lapsing) {
                    nanos += now - last;
                }
                last = now;
            }
        }
    }

    static String describe(Throwable failure) {
        return Objects.requireNonNullElse(failure.getMessage(), failure.toString())
                .replace('\n', ' ')
                .replace('\t', ' ');
    }
}
