package dev.semel.trials.crash;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicReference;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * Clients that all send at the same time, each with keys of its own, each key one to three times, until they are notified
 * to stop or no server is left that answers.
 */
final class LoadClients {
    private final ClientLedger ledger;
    private final String name;
    private final int clients;
    private final Seed seed;
    private final List<Thread> threads = new ArrayList<>();
    private final AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
    private volatile boolean stopped;

    /** @param name begins every key, so that two crowds never share one */
    LoadClients(ClientLedger ledger, String name, int clients, Seed seed) {
        this.ledger = ledger;
        this.name = name;
        this.clients = clients;
        this.seed = seed;
    }

    static String body(String key) {
        return "{\"data\":{\"payment_id\":\"" + key + "\",\"amount\":4900,\"currency\":\"usd\"}}";
    }

    /** Begins to send; a client whose server does not answer goes to the next one. */
    void start(Integer... ports) {
        for (int i = 0; i < clients; i++) {
            int number = i;
            spawn(() -> client(number, List.of(ports)));
        }
    }

    private void client(int number, List<Integer> ports) {
        RandomGenerator chance = seed.part(number);
        try (KeepAliveClient caller = new KeepAliveClient(ports.get(number % ports.size()))) {
            int failures = 0;
            for (int i = 0; !stopped; i++) {
                String key = name + "-" + number + "-" + i;
                for (int times = 1 + chance.nextInt(3); times > 0 && !stopped; times--) {
                    boolean answered = !(send(caller, key) instanceof ClientCall.Unknown);
                    failures = answered ? 0 : failures + 1;
                    if (failures >= ports.size()) {
                        return;
                    }
                    if (!answered) {
                        caller.use(ports.get((number + failures) % ports.size()));
                        times++;
                    }
                }
            }
        }
    }

    private ClientCall.Outcome send(KeepAliveClient caller, String key) {
        return ledger.record(key, () -> caller.trigger(key, body(key)));
    }

    /** Every client sends one key of its own, once; {@link #join} waits for the answers. */
    void once(int port) {
        for (int i = 0; i < clients; i++) {
            String key = name + "-" + i;
            spawn(() -> {
                try (KeepAliveClient caller = new KeepAliveClient(port)) {
                    send(caller, key);
                }
            });
        }
    }

    /** Sends every key until it is answered with a run. */
    void settle(Collection<String> keys, int port) {
        ConcurrentLinkedQueue<String> rest = new ConcurrentLinkedQueue<>(keys);
        for (int i = 0; i < clients; i++) {
            spawn(() -> {
                try (KeepAliveClient caller = new KeepAliveClient(port)) {
                    for (String key = rest.poll(); key != null; key = rest.poll()) {
                        String mine = key;
                        Await.holds("key " + mine + " is answered", () -> send(caller, mine) instanceof ClientCall.Ok);
                    }
                }
            });
        }
        join();
    }

    private void spawn(Runnable work) {
        threads.add(Thread.ofVirtual().start(() -> {
            try {
                work.run();
            } catch (Throwable e) {
                failure.compareAndSet(null, e);
            }
        }));
    }

    void stop() {
        stopped = true;
        join();
    }

    /** Waits for all clients to end; one that broke breaks the trial. */
    void join() {
        try {
            for (Thread thread : threads) {
                thread.join();
            }
        } catch (InterruptedException e) {
            throw new AssertionError("interrupted", e);
        }
        threads.clear();
        Throwable broken = failure.get();
        if (broken != null) {
            throw new AssertionError("a client broke", broken);
        }
    }
}
