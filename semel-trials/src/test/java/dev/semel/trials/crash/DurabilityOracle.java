package dev.semel.trials.crash;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;

/** Judges from system calls alone whether an answer was sent before what it promises was on the disk. */
record DurabilityOracle(List<Syscall> calls) {
    /** For every key: a write into the WAL and its sync lie between the request and the answer. */
    List<String> sqlite(List<String> keys) {
        List<String> violations = new ArrayList<>();
        for (String key : keys) {
            Exchange exchange = exchange(key);
            boolean durable = calls.stream()
                    .filter(write -> write.name().equals("pwrite64")
                            && write.target().endsWith("-wal")
                            && write.start() > exchange.request().end())
                    .anyMatch(write -> any(sync -> sync.syncs()
                            && sync.target().endsWith("-wal")
                            && sync.start() > write.end()
                            && sync.end() < exchange.answer().start()));
            if (!durable) {
                violations.add(key + " was answered before its sync");
            }
        }
        return violations;
    }

    /**
     * For every key: the backend that got it synced the WAL, or another process did so for it, after it had received
     * COMMIT and before it answered; and the server wrote its own answer after it had read that one.
     */
    List<String> postgres(List<String> keys) {
        List<String> violations = new ArrayList<>();
        for (String key : keys) {
            Exchange exchange = exchange(key);
            Syscall syscall = need(
                    "the backend that got " + key,
                    call -> call.name().equals("recvfrom")
                            && call.text().contains(key)
                            && call.start() > exchange.request().end());
            Syscall committed = need(
                    "the answer to COMMIT of " + key,
                    call -> call.thread() == syscall.thread()
                            && call.writes()
                            && call.text().contains("COMMIT\\0")
                            && call.start() > syscall.end());
            Syscall asked = calls.stream()
                    .filter(call -> call.thread() == syscall.thread() && call.reads() && call.end() < committed.start())
                    .max(Comparator.comparingInt(Syscall::end))
                    .orElseThrow();
            boolean durable = any(call -> call.syncs()
                    && call.target().contains("/pg_wal/")
                    && call.start() > asked.end()
                    && call.end() < committed.start());
            if (!durable) {
                violations.add(key + " was committed without a sync");
            }
            boolean heard = any(call -> call.reads()
                    && call.thread() != syscall.thread()
                    && call.text().contains("COMMIT\\0")
                    && call.end() > committed.start()
                    && call.end() < exchange.answer().start());
            if (!heard) {
                violations.add(key + " was answered before COMMIT was");
            }
        }
        return violations;
    }

    /** A request as the server read it, and the first byte of its answer. */
    private record Exchange(Syscall request, Syscall answer) {}

    private Exchange exchange(String key) {
        Syscall request = need(
                "the request with " + key,
                call -> call.reads()
                        && call.text().contains("POST /v1/")
                        && call.text().contains(key));
        Syscall answer = need(
                "the answer to " + key,
                call -> call.writes()
                        && call.target().equals(request.target())
                        && call.start() > request.end()
                        && call.text().contains("HTTP/1.1 200"));
        return new Exchange(request, answer);
    }

    private boolean any(Predicate<Syscall> which) {
        return calls.stream().anyMatch(which);
    }

    /** The log must show it, or the oracle is blind and may not say that all is well. */
    private Syscall need(String what, Predicate<Syscall> which) {
        Optional<Syscall> found = calls.stream().filter(which).findFirst();
        return found.orElseThrow(
                () -> new AssertionError("the log of " + calls.size() + " calls does not show " + what));
    }
}
