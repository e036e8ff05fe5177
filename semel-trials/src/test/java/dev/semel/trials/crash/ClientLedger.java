package dev.semel.trials.crash;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.concurrent.atomic.AtomicInteger;
import tools.jackson.databind.JsonNode;

/** The clients' own memory: every key they ever sent and every answer they got. */
final class ClientLedger {
    private final ConcurrentSkipListSet<String> invoked = new ConcurrentSkipListSet<>();
    private final ConcurrentLinkedQueue<ClientCall> calls = new ConcurrentLinkedQueue<>();
    private final AtomicInteger acknowledged = new AtomicInteger();
    private final AtomicInteger uncertain = new AtomicInteger();
    private volatile int epoch;

    /** A request about to be sent. */
    @FunctionalInterface
    interface Attempt {
        Reply send() throws IOException;
    }

    ClientCall.Outcome record(String key, Attempt attempt) {
        invoked.add(key);
        int begun = epoch;
        ClientCall.Outcome outcome;
        try {
            outcome = outcome(attempt.send());
        } catch (IOException e) {
            outcome = new ClientCall.Unknown(String.valueOf(e.getMessage()));
        }
        calls.add(new ClientCall(key, begun, outcome));
        if (outcome instanceof ClientCall.Ok) {
            acknowledged.incrementAndGet();
        } else {
            uncertain.incrementAndGet();
        }
        return outcome;
    }

    private static ClientCall.Outcome outcome(Reply reply) {
        if (reply.status() / 100 != 2) {
            return new ClientCall.Rejected(reply.status(), reply.body());
        }
        JsonNode body = reply.json();
        boolean replayed = body.get("idempotent_replayed").booleanValue();
        if (replayed != "true".equals(reply.headers().get("x-idempotent-replayed"))) {
            throw new AssertionError("header and body disagree: " + reply);
        }
        return new ClientCall.Ok(body.get("run_id").stringValue(), replayed);
    }

    /** A server was killed: rows of replays answered before this moment may be missing. */
    void killed() {
        epoch++;
    }

    /** Only replays answered since the last kill must all be on record. */
    int epoch() {
        return epoch;
    }

    int acknowledged() {
        return acknowledged.get();
    }

    /** Calls without a yes: refused, or no answer at all. */
    int uncertain() {
        return uncertain.get();
    }

    List<ClientCall> calls() {
        return new ArrayList<>(calls);
    }

    Set<String> keys() {
        return new TreeSet<>(invoked);
    }

    /** Every run that a client was notified of. */
    Set<String> runs() {
        Set<String> runs = new TreeSet<>();
        calls.forEach(call -> {
            if (call.outcome() instanceof ClientCall.Ok ok) {
                runs.add(ok.runId());
            }
        });
        return runs;
    }
}
