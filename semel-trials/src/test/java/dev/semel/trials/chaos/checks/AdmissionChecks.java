package dev.semel.trials.chaos.checks;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/** One run per key, nothing acknowledged is lost, and everything comes to its end. */
final class AdmissionChecks {
    private final Evidence evidence;
    private final List<Violation> found = new ArrayList<>();

    private AdmissionChecks(Evidence evidence) {
        this.evidence = evidence;
    }

    static List<Violation> judge(Evidence evidence) {
        AdmissionChecks judge = new AdmissionChecks(evidence);
        judge.keys();
        judge.answers();
        judge.ends();
        return judge.found;
    }

    /** How often a key may have been let go: each release lets one more run be, whether its answer came or not. */
    private static int releases(List<ClientRecord> calls) {
        return (int) calls.stream()
                .filter(call ->
                        call.ask() == ClientRecord.RequestKind.RELEASE && call.outcome() != ClientRecord.Outcome.NO)
                .count();
    }

    private void keys() {
        Map<String, List<ClientRecord>> calls = evidence.byKey();
        evidence.runsByKey().forEach((key, runs) -> {
            int most = 1 + releases(calls.getOrDefault(key, List.of()));
            if (runs.size() > most) {
                found.add(new Violation(1, "key " + key + " has " + runs.size() + " runs, not " + most));
            }
            if (!calls.containsKey(key)) {
                found.add(new Violation(1, "key " + key + " has a run and nobody ever sent it"));
            }
        });
    }

    private void answers() {
        Map<String, DatabaseDump.Run> byId = new HashMap<>();
        evidence.dump().runs().forEach(run -> byId.put(run.id(), run));
        evidence.byKey().forEach((key, calls) -> {
            Set<String> ids = new TreeSet<>();
            int fresh = 0;
            for (ClientRecord call : calls) {
                if (call.isStarted()) {
                    ids.add(call.run());
                    fresh += call.replayed() ? 0 : 1;
                }
            }
            int most = 1 + releases(calls);
            if (ids.size() > most) {
                found.add(new Violation(1, "key " + key + " was answered with several runs: " + ids));
            }
            if (fresh > most) {
                found.add(new Violation(1, "key " + key + " was called new " + fresh + " times"));
            }
            ids.forEach(id -> acknowledged(key, byId.get(id), id));
            released(key, calls);
        });
    }

    private void acknowledged(String key, DatabaseDump.@org.jspecify.annotations.Nullable Run run, String id) {
        if (run == null) {
            found.add(new Violation(2, "key " + key + " was acknowledged with " + id + ", which is lost"));
        } else if (!run.key().equals(key)) {
            found.add(new Violation(2, "key " + key + " was acknowledged with " + id + " of key " + run.key()));
        }
    }

    /** One client alone uses a key that it lets go, so the order of its calls is known. */
    private void released(String key, List<ClientRecord> calls) {
        String before = "";
        boolean free = false;
        for (ClientRecord call : calls) {
            if (call.ask() == ClientRecord.RequestKind.RELEASE && call.outcome() == ClientRecord.Outcome.OK) {
                free = true;
            } else if (call.isStarted()) {
                if (free && call.run().equals(before)) {
                    found.add(new Violation(1, "key " + key + " was let go and still answers with " + before));
                }
                before = call.run();
                free = false;
            }
        }
    }

    private void ends() {
        Set<Long> leases = new HashSet<>(evidence.dump().leases());
        for (DatabaseDump.Run run : evidence.dump().runs()) {
            if (run.works() + run.ends() != 1) {
                found.add(new Violation(
                        15, run.id() + " has " + run.works() + " rows of work and " + run.ends() + " ends"));
            } else if (run.works() == 1) {
                String owner =
                        run.owner() != 0 && !leases.contains(run.owner()) ? " and belongs to a lease that is gone" : "";
                found.add(
                        new Violation(16, run.id() + " (" + run.key() + ") has not ended" + owner + ": " + run.work()));
            } else if (!run.completed()) {
                found.add(new Violation(16, run.id() + " (" + run.key() + ") did not complete: " + run.error()));
            }
        }
    }
}
