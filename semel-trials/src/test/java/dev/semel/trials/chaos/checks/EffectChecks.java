package dev.semel.trials.chaos.checks;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * What the receiver counted, against what each protection promises.
 *
 * <p>A worker that stands still between its last look at its lease and the socket sends that one request when it goes
 * on; nobody can take it back. Such a late request is excused once for each worker and effect, and only where its sender
 * was frozen just before or cut off from its lease.
 */
final class EffectChecks {
    private static final long JUST_THAWED_MICROS = 4_000_000;
    private static final long MILLI = 1_000;
    private static final JsonMapper JSON = new JsonMapper();

    private final Evidence evidence;
    private final Map<String, List<DatabaseDump.Effect>> ledger = new HashMap<>();
    private final List<Violation> found = new ArrayList<>();

    private EffectChecks(Evidence evidence) {
        this.evidence = evidence;
        Map<String, String> keys = new HashMap<>();
        evidence.dump().runs().forEach(run -> keys.put(run.id(), run.key()));
        for (DatabaseDump.Effect effect : evidence.dump().effects()) {
            if (!effect.step().equals(EffectStepNames.SHARED)) {
                String name = keys.getOrDefault(effect.run(), "?") + "/" + effect.step();
                ledger.computeIfAbsent(name, _ -> new ArrayList<>()).add(effect);
            }
        }
    }

    static List<Violation> judge(Evidence evidence) {
        EffectChecks judge = new EffectChecks(evidence);
        Map<String, List<ReceivedRequest>> names = new TreeMap<>(evidence.byName());
        names.forEach(judge::keys);
        names.forEach(judge::attempts);
        names.forEach(judge::counts);
        judge.done(names);
        judge.apart();
        judge.timers(names);
        return judge.found;
    }

    private static List<ReceivedRequest> posts(List<ReceivedRequest> lines) {
        return lines.stream().filter(ReceivedRequest::isPost).toList();
    }

    private static int accepted(List<ReceivedRequest> lines) {
        return (int) lines.stream().filter(ReceivedRequest::accepted).count();
    }

    /** Invariant 19: all attempts of a effect carry one key and one body. */
    private void keys(String name, List<ReceivedRequest> lines) {
        Set<String> keys = lines.stream().map(ReceivedRequest::key).collect(Collectors.toSet());
        if (keys.size() > 1 || keys.contains("")) {
            found.add(new Violation(19, name + " went out with " + keys.size() + " keys"));
        }
        long bodies =
                posts(lines).stream().map(ReceivedRequest::bodyHash).distinct().count();
        if (bodies > 1) {
            found.add(new Violation(19, name + " went out with " + bodies + " bodies"));
        }
    }

    /** Invariant 19: two effects never share a key. */
    private void apart() {
        Map<String, String> owners = new HashMap<>();
        for (ReceivedRequest line : evidence.heard()) {
            String other = owners.putIfAbsent(line.key(), line.name());
            if (other != null && !other.equals(line.name())) {
                found.add(new Violation(19, line.name() + " and " + other + " share the key " + line.key()));
            }
        }
    }

    /** Whether its sender had been frozen until just before, or was cut off from its lease. */
    private boolean justThawed(ReceivedRequest line) {
        return evidence.faults().stream()
                .anyMatch(fault ->
                        fault.worker().equals(line.worker()) && fault.excuses(line.at() + MILLI, JUST_THAWED_MICROS));
    }

    /** Invariants 11 and 13: one request for each reservation, none after the record, and a fenced worker stops. */
    private void attempts(String name, List<ReceivedRequest> lines) {
        List<DatabaseDump.Effect> rows = ledger.getOrDefault(name, List.of());
        if (rows.size() != 1) {
            return; // shared by several runs, or a doubled run that another judge sees
        }
        DatabaseDump.Effect row = rows.getFirst();
        Set<Integer> seen = new HashSet<>();
        Set<String> excused = new HashSet<>();
        int highest = 0;
        for (ReceivedRequest line : posts(lines)) {
            if (!seen.add(line.attempt())) {
                found.add(new Violation(13, name + " was sent twice under reservation " + line.attempt()));
            }
            boolean overtaken = line.attempt() < highest;
            boolean afterRecord = row.state() == DatabaseDump.DONE && line.at() > row.acceptedAt();
            if ((overtaken || afterRecord) && !(justThawed(line) && excused.add(line.worker()))) {
                found.add(new Violation(
                        afterRecord ? 11 : 13,
                        line.worker() + " sent " + name
                                + (afterRecord ? " after its result was on record" : " after it was taken over")));
            }
            highest = Math.max(highest, line.attempt());
        }
        if (highest > row.attempt()) {
            found.add(new Violation(
                    11, name + " was sent as attempt " + highest + ", and only " + row.attempt() + " are on record"));
        }
    }

    /** Requests that a worker sent as it thawed while another had gone on: nobody could take them back. */
    private int late(List<ReceivedRequest> posts) {
        int highest = posts.stream().mapToInt(ReceivedRequest::attempt).max().orElse(0);
        return (int) posts.stream()
                .filter(line -> line.attempt() < highest && justThawed(line))
                .count();
    }

    /** Invariants 20 and 23. */
    private void counts(String name, List<ReceivedRequest> lines) {
        List<ReceivedRequest> posts = posts(lines);
        switch (lines.getFirst().step()) {
            case EffectStepNames.CHARGE -> atMost(20, 1, accepted(posts), name + " accepted under provider_key");
            case EffectStepNames.SHARED -> atMost(23, 1, accepted(posts), name + " accepted across runs");
            case EffectStepNames.LETTER -> atMost(20, 1, posts.size(), name + " requested under at_most_once");
            case EffectStepNames.PARCEL ->
                atMost(20, 1 + late(posts), accepted(posts), name + " accepted under lookup");
            case EffectStepNames.ASKED -> asked(name, posts);
            case EffectStepNames.PING -> {}
            default -> found.add(new Violation(20, "nobody knows the effect " + name));
        }
    }

    private void asked(String name, List<ReceivedRequest> posts) {
        String key = posts.getFirst().effect();
        long decided = evidence.byKey().getOrDefault(key, List.of()).stream()
                .filter(call -> call.ask() == ClientRecord.RequestKind.DECIDE)
                .mapToLong(ClientRecord::at)
                .min()
                .orElse(Long.MAX_VALUE);
        long before = posts.stream().filter(line -> line.at() + MILLI < decided).count();
        atMost(20, 1, (int) before, name + " requested under ask, undecided");
        atMost(20, 1, accepted(posts), name + " accepted under ask");
    }

    private void atMost(int invariant, int most, int count, String what) {
        if (count > most) {
            found.add(new Violation(invariant, count + " times " + what + ", " + most + " at most"));
        }
    }

    /** Invariant 20: what is called done was accepted; a tx step has its row once. */
    private void done(Map<String, List<ReceivedRequest>> names) {
        ledger.forEach((name, rows) -> {
            boolean isDone = rows.stream().allMatch(row -> row.state() == DatabaseDump.DONE);
            if (isDone && accepted(names.getOrDefault(name, List.of())) == 0) {
                found.add(new Violation(20, name + " is called done, and the receiver never accepted it"));
            }
        });
        Set<String> ordered = ledger.keySet().stream()
                .filter(name -> name.endsWith("/" + EffectStepNames.LETTER))
                .map(name -> name.substring(0, name.indexOf('/')))
                .collect(Collectors.toSet());
        evidence.dump().rows().forEach((action, rows) -> atMost(20, 1, rows, "rows of the tx step of " + action));
        for (String action : ordered) {
            if (!evidence.dump().rows().containsKey(action)) {
                found.add(new Violation(20, "the tx step of " + action + " is recorded and its row is not there"));
            }
        }
    }

    /** Invariant 25: what comes after a sleep leaves no earlier than its due time by the database's clock. */
    private void timers(Map<String, List<ReceivedRequest>> names) {
        Map<String, String> keys = new HashMap<>();
        evidence.dump().runs().forEach(run -> keys.put(run.id(), run.key()));
        for (DatabaseDump.JournalChunk line : evidence.dump().lines()) {
            if (line.entries().isEmpty()) {
                continue;
            }
            for (JsonNode entry : JSON.readTree(line.entries())) {
                String step = entry.get("step").stringValue();
                if (step.endsWith(EffectStepNames.NAP) && entry.has("due") && !entry.has("error")) {
                    long due = entry.get("due").longValue();
                    String next = keys.getOrDefault(line.run(), "?") + "/" + EffectStepNames.PARCEL;
                    names.getOrDefault(next, List.of()).stream()
                            .filter(heard -> heard.at() + MILLI < due)
                            .forEach(heard -> found.add(new Violation(
                                    25,
                                    next + " left " + (due - heard.at()) + " microseconds before its sleep was over")));
                }
            }
        }
    }
}
