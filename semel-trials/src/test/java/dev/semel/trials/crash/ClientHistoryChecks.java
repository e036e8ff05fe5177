package dev.semel.trials.crash;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/** Compares what clients were notified with what the store holds. Pure; links nothing of the engine. */
final class ClientHistoryChecks {
    /** The only ways to say no that leave a caller free to ask again. */
    private static final Set<Integer> RETRYABLE = Set.of(409, 503);

    private final ClientLedger ledger;
    private final StoredRuns stored;
    private final List<String> violations = new ArrayList<>();
    private final Map<String, StoredRuns.Row> byId = new HashMap<>();
    private final Map<String, List<StoredRuns.Row>> byKey = new HashMap<>();

    private ClientHistoryChecks(ClientLedger ledger, StoredRuns stored) {
        this.ledger = ledger;
        this.stored = stored;
        for (StoredRuns.Row row : stored.rows()) {
            byId.put(row.runId(), row);
            if (row.key() != null) {
                byKey.computeIfAbsent(row.key(), _ -> new ArrayList<>()).add(row);
            }
        }
    }

    /** Everything that is wrong, empty where all promises were kept. */
    static List<String> of(ClientLedger ledger, StoredRuns stored) {
        ClientHistoryChecks clientHistoryChecks = new ClientHistoryChecks(ledger, stored);
        clientHistoryChecks.judgeStore();
        clientHistoryChecks.judgeAnswers();
        return clientHistoryChecks.violations;
    }

    static void holds(ClientLedger ledger, StoredRuns stored) {
        List<String> violations = of(ledger, stored);
        if (!violations.isEmpty()) {
            throw new AssertionError(violations.size() + " promises broken, the first of them:\n"
                    + String.join("\n", violations.subList(0, Math.min(20, violations.size()))));
        }
    }

    private void judgeStore() {
        if (!stored.integrity().equals("ok")) {
            violations.add("the file is damaged: " + stored.integrity());
        }
        Set<String> invoked = ledger.keys();
        byKey.forEach((key, rows) -> {
            if (rows.size() > 1) {
                violations.add("key " + key + " has " + rows.size() + " runs");
            }
            if (!invoked.contains(key)) {
                violations.add("key " + key + " has a run and nobody ever sent it");
            }
        });
        for (StoredRuns.Row row : stored.rows()) {
            if (row.works() + row.ends() != 1) {
                violations.add(row.runId() + " has " + row.works() + " rows of work and " + row.ends() + " ends");
            } else if (!row.completed()) {
                violations.add(row.runId() + " did not complete");
            }
            if (row.key() != null && row.names() != 1) {
                violations.add(row.runId() + " has " + row.names() + " rows for its key");
            }
            if (row.replays() != row.reported()) {
                violations.add(
                        row.runId() + " counts " + row.replays() + " replays and has rows for " + row.reported());
            }
        }
    }

    private void judgeAnswers() {
        Map<String, List<ClientCall>> calls = new TreeMap<>();
        ledger.calls()
                .forEach(call -> calls.computeIfAbsent(call.key(), _ -> new ArrayList<>())
                        .add(call));
        calls.forEach((key, all) -> {
            Set<String> ids = new TreeSet<>();
            int fresh = 0;
            for (ClientCall call : all) {
                if (call.outcome() instanceof ClientCall.Ok ok) {
                    ids.add(ok.runId());
                    fresh += ok.replayed() ? 0 : 1;
                } else if (call.outcome() instanceof ClientCall.Rejected no && !RETRYABLE.contains(no.status())) {
                    violations.add("key " + key + " was answered " + no.status() + ": " + no.body());
                }
            }
            if (ids.size() > 1) {
                violations.add("key " + key + " was answered with several runs: " + ids);
            }
            if (fresh > 1) {
                violations.add("key " + key + " was called new " + fresh + " times");
            }
            ids.forEach(id -> judgeAcknowledged(key, id));
            judgeReplays(key, all);
        });
    }

    private void judgeAcknowledged(String key, String id) {
        StoredRuns.Row row = byId.get(id);
        if (row == null) {
            violations.add("key " + key + " was answered with " + id + ", which is lost");
        } else if (!key.equals(row.key())) {
            violations.add("key " + key + " was answered with " + id + ", which belongs to another key");
        }
    }

    /** Every replay that was answered since the last kill is counted, and none that nobody asked for. */
    private void judgeReplays(String key, List<ClientCall> calls) {
        long least = 0;
        long most = 0;
        for (ClientCall call : calls) {
            boolean replayed = call.outcome() instanceof ClientCall.Ok ok && ok.replayed();
            least += replayed && call.epoch() >= ledger.epoch() ? 1 : 0;
            most += replayed || call.outcome() instanceof ClientCall.Unknown ? 1 : 0;
        }
        for (StoredRuns.Row row : byKey.getOrDefault(key, List.of())) {
            if (row.replays() < least || row.replays() > most) {
                violations.add(
                        "key " + key + " counts " + row.replays() + " replays; there were " + least + " to " + most);
            }
        }
    }
}
