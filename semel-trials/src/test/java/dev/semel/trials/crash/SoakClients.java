package dev.semel.trials.crash;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.random.RandomGenerator;

/** Clients of a soak: each starts runs of one kind, sends every request once to three times, and waits for their ends. */
final class SoakClients {
    private static final Duration LONGEST_RUN = Duration.ofMinutes(5);
    private static final Duration BETWEEN_TRIES = Duration.ofMillis(200);
    private static final Set<String> ENDS = Set.of("completed", "failed", "cancelled");

    private final ClientLedger ledger;
    private final Seed seed;
    private final List<Thread> threads = new ArrayList<>();
    private final ConcurrentLinkedQueue<String> broken = new ConcurrentLinkedQueue<>();
    /** Clients hold the read lock until the runs that they started have ended. */
    private final ReentrantReadWriteLock rest = new ReentrantReadWriteLock(true);

    private volatile int port;
    private volatile String token = "";
    private volatile boolean stopped;

    SoakClients(ClientLedger ledger, Seed seed) {
        this.ledger = ledger;
        this.seed = seed;
    }

    void use(int current) {
        port = current;
    }

    private KeepAliveClient caller() {
        return new KeepAliveClient(port, token);
    }

    void start(String apiToken) {
        token = apiToken;
        for (SoakWorkflow kind : SoakWorkflow.values()) {
            for (int i = 0; i < kind.clients(); i++) {
                int number = i;
                RandomGenerator chance = seed.part(kind.ordinal() * 100 + number);
                threads.add(Thread.ofVirtual().start(() -> client(kind, number, chance)));
            }
        }
    }

    private void client(SoakWorkflow kind, int number, RandomGenerator chance) {
        try (KeepAliveClient caller = caller()) {
            for (int i = 0; !stopped; i++) {
                rest.readLock().lock();
                try {
                    List<String> runs = new ArrayList<>();
                    for (int burst = 0; burst < kind.burst(); burst++) {
                        String key = kind.word() + "-" + number + "-" + (i * kind.burst() + burst);
                        runs.add(trigger(caller, kind, key, chance));
                    }
                    runs.forEach(run -> awaitEnd(caller, run));
                } finally {
                    rest.readLock().unlock();
                }
            }
        } catch (RuntimeException | Error e) {
            broken.add("a client of " + kind + " broke: " + e);
        }
    }

    private String trigger(KeepAliveClient caller, SoakWorkflow kind, String key, RandomGenerator chance) {
        String body = kind.body(key, chance);
        String path = "POST /v1/workflows/" + kind.workflow() + "/trigger";
        String run = "";
        for (int answers = 1 + chance.nextInt(3); answers > 0; ) {
            caller.use(port);
            if (ledger.record(key, () -> caller.send(path, "Idempotency-Key: " + key + "\r\n", body))
                    instanceof ClientCall.Ok ok) {
                run = ok.runId();
                answers--;
            } else {
                pause();
            }
        }
        if (kind == SoakWorkflow.SIGNAL) {
            for (int answers = 1 + chance.nextInt(2); answers > 0; answers--) {
                signal(caller, key);
            }
        }
        return run;
    }

    private void signal(KeepAliveClient caller, String key) {
        String body = "{\"key\":\"" + key + "\",\"data\":{}}";
        String header = "Idempotency-Key: go-" + key + "\r\n";
        until(
                "the signal of " + key,
                () -> {
                    Reply reply = caller.send("POST /v1/signals/soak.go", header, body);
                    if (reply.status() != 200 && reply.status() != 503 && reply.status() != 409) {
                        broken.add("the signal of " + key + " was answered " + reply.status() + ": " + reply.body());
                    }
                    return reply.status() == 200;
                },
                caller);
    }

    private void awaitEnd(KeepAliveClient caller, String run) {
        until(
                "the end of " + run,
                () -> {
                    Reply reply = caller.send("GET /v1/runs/" + run, "", "");
                    return reply.status() == 200
                            && ENDS.contains(reply.json().get("status").stringValue());
                },
                caller);
    }

    private interface Try {
        boolean works() throws IOException;
    }

    private void until(String what, Try attempt, KeepAliveClient caller) {
        long deadline = System.nanoTime() + LONGEST_RUN.toNanos();
        while (!works(attempt, caller)) {
            if (System.nanoTime() > deadline) {
                broken.add(what + " did not come in " + LONGEST_RUN.toMinutes() + " minutes");
                return;
            }
            pause();
        }
    }

    private boolean works(Try attempt, KeepAliveClient caller) {
        caller.use(port);
        try {
            return attempt.works();
        } catch (IOException e) {
            return false; // the server is down; the next one is asked
        }
    }

    private static void pause() {
        LockSupport.parkNanos(BETWEEN_TRIES.toNanos());
    }

    /** Waits until all runs have ended, and lets nobody start another before the work is done. */
    void atRest(Runnable work) {
        rest.writeLock().lock();
        try {
            work.run();
        } finally {
            rest.writeLock().unlock();
        }
    }

    void stop() {
        stopped = true;
        try {
            for (Thread thread : threads) {
                thread.join();
            }
        } catch (InterruptedException e) {
            throw new AssertionError("interrupted", e);
        }
    }

    List<String> broken() {
        return List.copyOf(broken);
    }
}
