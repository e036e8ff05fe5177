package dev.semel.trials.crash;

import dev.semel.trials.support.JavaProcess;
import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStreamWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.concurrent.atomic.AtomicInteger;

/** A worker's process, and clients that trigger at it, each its own keys, until they are notified to stop. */
final class FailoverClients implements AutoCloseable {
    private static final int CLIENTS = 8;

    private final String name;
    private final Process process;
    private final BufferedWriter reported;
    private final CompletableFuture<String> durability = new CompletableFuture<>();
    private final Map<String, CompletableFuture<String>> waiting = new ConcurrentHashMap<>();
    private final Map<String, Set<String>> acknowledged = new ConcurrentHashMap<>();
    private final Set<String> asked = new ConcurrentSkipListSet<>();
    private final List<String> broken = java.util.Collections.synchronizedList(new ArrayList<>());
    private final AtomicInteger refused = new AtomicInteger();
    private final List<Thread> threads = new ArrayList<>();
    private volatile boolean stopped;

    private FailoverClients(String name, Process process) {
        this.name = name;
        this.process = process;
        this.reported = new BufferedWriter(new OutputStreamWriter(process.getOutputStream(), StandardCharsets.UTF_8));
        Thread.ofVirtual().start(this::listen);
    }

    /** Returns at once; {@link #awaitReady} waits. */
    static FailoverClients start(Path folder, String name, String store, String receiver) {
        try {
            return new FailoverClients(
                    name,
                    JavaProcess.of(
                                    List.of(
                                            "-Xmx192m",
                                            "-XX:+UseSerialGC",
                                            "-XX:TieredStopAtLevel=1",
                                            "-Djdk.httpclient.redirects.retrylimit=1"),
                                    FailoverWorker.class.getName(),
                                    List.of(store, receiver))
                            .redirectError(folder.resolve(name + ".err").toFile())
                            .start());
        } catch (IOException e) {
            throw new AssertionError("the worker did not start", e);
        }
    }

    /** What the worker said of its store. */
    String durability() {
        return durability.join();
    }

    void awaitReady() {
        Await.holds(name + " is ready", durability::isDone);
        if (durability.join().isEmpty()) {
            throw new AssertionError("the worker " + name + " ended before it was ready");
        }
    }

    private void listen() {
        try (BufferedReader said =
                new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
            for (String line = said.readLine(); line != null; line = said.readLine()) {
                String[] parts = line.split("\t", 3);
                if (parts[0].equals("ready")) {
                    durability.complete(parts[1]);
                }
                var answer = waiting.remove(parts[0]);
                if (answer != null) {
                    answer.complete(parts[1] + "\t" + parts[2]);
                }
            }
        } catch (IOException e) {
            broken.add(name + " was cut off: " + e.getMessage());
        }
        durability.complete("");
    }

    void begin() {
        for (int i = 0; i < CLIENTS; i++) {
            int number = i;
            threads.add(Thread.ofVirtual().start(() -> {
                for (int n = 0; !stopped; n++) {
                    ask(name + "-" + number + "-" + n);
                }
            }));
        }
    }

    /** Until it is acknowledged, or everybody stops. */
    private void ask(String key) {
        while (!stopped && !send(key)) {
            Await.breathe();
        }
    }

    private boolean send(String key) {
        asked.add(key);
        var answer = new CompletableFuture<String>();
        waiting.put(key, answer);
        try {
            synchronized (reported) {
                reported.write(key + "\n");
                reported.flush();
            }
        } catch (IOException e) {
            throw new AssertionError(name + " is gone", e);
        }
        String[] parts = answer.join().split("\t", 2);
        switch (parts[0]) {
            case "ok" -> {
                acknowledged.merge(key, Set.of(parts[1]), FailoverClients::both);
                return true;
            }
            case "no" -> refused.incrementAndGet();
            default -> broken.add(key + ": " + parts[1]);
        }
        return false;
    }

    private static Set<String> both(Set<String> some, Set<String> others) {
        Set<String> all = new TreeSet<>(some);
        all.addAll(others);
        return all;
    }

    void stop() {
        stopped = true;
        join();
    }

    /** Asks for every key once more, until it has its answer: who got none may ask again. */
    void settle() {
        ConcurrentLinkedQueue<String> rest = new ConcurrentLinkedQueue<>(asked);
        for (int i = 0; i < CLIENTS; i++) {
            threads.add(Thread.ofVirtual().start(() -> {
                for (String key = rest.poll(); key != null; key = rest.poll()) {
                    String mine = key;
                    Await.holds(mine + " is answered", () -> send(mine));
                }
            }));
        }
        join();
    }

    private void join() {
        for (Thread thread : threads) {
            try {
                thread.join();
            } catch (InterruptedException e) {
                throw new AssertionError("interrupted", e);
            }
        }
        threads.clear();
    }

    int acknowledgedSoFar() {
        return acknowledged.size();
    }

    /** Every key that was acknowledged, with all runs that were named for it. */
    Map<String, Set<String>> acknowledged() {
        Map<String, Set<String>> all = new TreeMap<>();
        acknowledged.forEach((key, runs) -> all.put(key, new TreeSet<>(runs)));
        return all;
    }

    Set<String> asked() {
        return new TreeSet<>(asked);
    }

    int refused() {
        return refused.get();
    }

    List<String> broken() {
        return List.copyOf(broken);
    }

    boolean alive() {
        return process.isAlive();
    }

    @Override
    public void close() {
        process.destroyForcibly();
    }
}
