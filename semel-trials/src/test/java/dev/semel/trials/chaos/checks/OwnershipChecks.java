package dev.semel.trials.chaos.checks;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Only the owner of a run writes to it, a lease is used once, and what is recorded stays as it is. */
final class OwnershipChecks {
    private static final JsonMapper JSON = new JsonMapper();

    private final Evidence evidence;
    private final Map<Long, String> workers = new HashMap<>();
    private final Set<Long> over = new HashSet<>();
    private final Map<String, @Nullable Long> owners = new HashMap<>();
    private final List<Violation> found = new ArrayList<>();

    private OwnershipChecks(Evidence evidence) {
        this.evidence = evidence;
    }

    static List<Violation> judge(Evidence evidence) {
        OwnershipChecks judge = new OwnershipChecks(evidence);
        evidence.dump().audit().forEach(judge::walk);
        judge.results();
        judge.overlaps();
        return judge.found;
    }

    private void walk(ChangeAudit line) {
        switch (line.what()) {
            case "lease+" -> started(line);
            case "lease-" -> ended(line);
            case "work+", "work~" -> moved(line);
            case "journal+", "end+", "reserved" -> wrote(line);
            case "end~", "end-", "journal~" ->
                found.add(new Violation(
                        15, line.worker() + " changed what was recorded of " + line.run() + ": " + line.what()));
            default -> {}
        }
    }

    private void started(ChangeAudit line) {
        Long lease = line.owner();
        if (workers.put(lease, line.detail()) != null) {
            found.add(new Violation(12, "lease " + lease + " was used again, by " + line.detail()));
        }
        over.remove(lease);
    }

    private void ended(ChangeAudit line) {
        over.add(line.owner());
        if (line.number() == 1 && !line.worker().equals(line.detail())) {
            found.add(new Violation(
                    12, line.worker() + " took over from " + line.detail() + " before its lease had run out"));
        }
    }

    private void moved(ChangeAudit line) {
        Long lease = line.owner();
        Long before = owners.get(line.run());
        owners.put(line.run(), lease);
        if (lease == null) {
            return;
        }
        if (over.contains(lease)) {
            found.add(new Violation(
                    12,
                    line.run() + " was given to lease " + lease + " of " + workers.get(lease) + ", which was over"));
        }
        if (before != null && !before.equals(lease)) {
            found.add(new Violation(
                    12, line.worker() + " claimed " + line.run() + ", which " + workers.get(before) + " was driving"));
        }
    }

    /** A row that only the owner of a run writes. Who ends it is the owner until the end of the same transaction. */
    private void wrote(ChangeAudit line) {
        Long owner = owners.get(line.run());
        String rightful = owner == null ? "nobody" : workers.getOrDefault(owner, "an unknown lease");
        if (!rightful.equals(line.worker())) {
            found.add(new Violation(
                    12,
                    line.worker() + " wrote (" + line.what() + " " + line.detail() + ") to " + line.run()
                            + ", which belonged to " + rightful));
        }
    }

    private void results() {
        Map<String, Integer> results = new HashMap<>();
        for (DatabaseDump.JournalChunk line : evidence.dump().lines()) {
            if (line.entries().isEmpty()) {
                continue;
            }
            for (JsonNode entry : JSON.readTree(line.entries())) {
                boolean failed = entry.has("error") && !entry.has("attempt");
                if (entry.has("result") || failed) {
                    results.merge(line.run() + " " + entry.get("step").stringValue(), 1, Integer::sum);
                }
            }
        }
        results.forEach((step, times) -> {
            if (times > 1) {
                found.add(new Violation(15, step + " has " + times + " results"));
            }
        });
    }

    private void overlaps() {
        for (String[] event : evidence.events()) {
            if (event[1].equals("overlap")) {
                found.add(new Violation(14, event[0] + " executed " + event[2] + " twice at once"));
            }
        }
    }
}
