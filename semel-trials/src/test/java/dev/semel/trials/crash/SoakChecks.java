package dev.semel.trials.crash;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Compares what the provider received with what the clients started and what the store recorded. Pure. */
final class SoakChecks {
    /** A send that a kill cut off was reserved at most this long before: the time-out of the request, and its queue. */
    private static final long CUT_OFF_MICROS = 35_000_000;

    private static final long CLOCK_ERROR_MICROS = 1_000_000;
    private static final Pattern ITEM = Pattern.compile("<([a-z]+-\\d+-\\d+)>");

    private final Evidence evidence;
    private final List<String> lost = new ArrayList<>();
    private final List<String> doubled = new ArrayList<>();
    private final List<String> unexplained = new ArrayList<>();
    private int explained;

    /**
     * @param keys that clients sent
     * @param received the provider's log
     * @param rows names in the table that the `tx` steps write
     * @param effects the ledger
     * @param reviews keys of the runs about which users are asked
     * @param kills times of each `kill -9`, in microseconds
     */
    record Evidence(
            Set<String> keys,
            List<Received> received,
            List<String> rows,
            List<LedgerRow> effects,
            List<String> reviews,
            List<Long> kills) {}

    /** One request in the provider's log. */
    record Received(String method, String name, String key, boolean accepted, String body) {
        static Received parse(String line) {
            String[] parts = line.split("\t", -1);
            String[] path = parts[3].split("/", 4);
            return new Received(
                    parts[2], path[3], parts[4], parts[6].equals("accepted"), parts.length > 8 ? parts[8] : "");
        }
    }

    /** One row of the ledger: state 1 reserved, 2 done, 3 in doubt, 4 free. */
    record LedgerRow(String runKey, String path, int state, long firstAt) {}

    /** The verdict of a soak; empty lists where every promise held. */
    record Verdict(List<String> lost, List<String> doubled, List<String> unexplained, int explained, int accepted) {
        boolean good() {
            return lost.isEmpty() && doubled.isEmpty() && unexplained.isEmpty();
        }
    }

    private SoakChecks(Evidence evidence) {
        this.evidence = evidence;
    }

    static Verdict of(Evidence evidence) {
        SoakChecks checks = new SoakChecks(evidence);
        Set<String> inDoubt = checks.judgeLedger();
        checks.judgeRequests(inDoubt);
        checks.judgeKeys();
        checks.judgeRows();
        checks.judgeDigests();
        int accepted =
                (int) evidence.received().stream().filter(Received::accepted).count();
        return new Verdict(checks.lost, checks.doubled, checks.unexplained, checks.explained, accepted);
    }

    /** Returns the keys of runs whose request may have been sent or not. */
    private Set<String> judgeLedger() {
        Set<String> inDoubt = new HashSet<>();
        for (LedgerRow row : evidence.effects()) {
            if (row.state() == 2) {
                continue;
            }
            if (SoakWorkflow.of(row.runKey()).mayBeInDoubt() && row.state() == 3 && wasCutOff(row)) {
                explained++;
                inDoubt.add(row.runKey());
            } else {
                unexplained.add(row.runKey() + " " + row.path() + " has state " + row.state());
            }
        }
        for (String key : evidence.reviews()) {
            if (!inDoubt.contains(key)) {
                unexplained.add(key + " has a review");
            }
        }
        return inDoubt;
    }

    private boolean wasCutOff(LedgerRow row) {
        return evidence.kills().stream()
                .anyMatch(kill -> row.firstAt() > kill - CUT_OFF_MICROS && row.firstAt() < kill + CLOCK_ERROR_MICROS);
    }

    private void judgeRequests(Set<String> inDoubt) {
        Map<String, Integer> accepted = new HashMap<>();
        Map<String, Integer> posted = new HashMap<>();
        for (Received request : evidence.received()) {
            if (request.method().equals("POST")) {
                posted.merge(request.name(), 1, Integer::sum);
                accepted.merge(request.name(), request.accepted() ? 1 : 0, Integer::sum);
            }
        }
        posted.remove("digest");
        for (String key : evidence.keys()) {
            SoakWorkflow kind = SoakWorkflow.of(key);
            for (String name : kind.requests(key)) {
                int times = accepted.getOrDefault(name, 0);
                Integer tries = posted.remove(name);
                if (times == 0 && !inDoubt.contains(key)) {
                    lost.add(name + " was never accepted");
                } else if (times > 1 || kind.mayBeInDoubt() && tries != null && tries > 1) {
                    doubled.add(name + " was sent " + tries + " times and accepted " + times + " times");
                }
            }
        }
        posted.keySet().forEach(name -> doubled.add(name + " was sent and belongs to no trigger"));
    }

    /** One key for each effect, in all its attempts. */
    private void judgeKeys() {
        Map<String, String> keys = new HashMap<>();
        Map<String, String> names = new HashMap<>();
        for (Received request : evidence.received()) {
            if (request.method().equals("POST") && !request.key().isEmpty()) {
                String name = names.putIfAbsent(request.key(), request.name());
                if (name != null && !name.equals(request.name())) {
                    lost.add(request.name() + " and " + name + " have one key");
                }
                String key = keys.putIfAbsent(request.name(), request.key());
                if (key != null && !key.equals(request.key()) && !request.name().equals("digest")) {
                    doubled.add(request.name() + " was sent with several keys");
                }
            }
        }
    }

    private void judgeRows() {
        Map<String, Integer> rows = new TreeMap<>();
        evidence.rows().forEach(name -> rows.merge(name, 1, Integer::sum));
        for (String key : evidence.keys()) {
            if (SoakWorkflow.of(key) == SoakWorkflow.TX) {
                count("row of " + key, rows.getOrDefault(key, 0));
            }
        }
    }

    private void judgeDigests() {
        Map<String, Integer> items = new HashMap<>();
        for (Received request : evidence.received()) {
            if (request.name().equals("digest") && request.accepted()) {
                Matcher item = ITEM.matcher(request.body());
                while (item.find()) {
                    items.merge(item.group(1), 1, Integer::sum);
                }
            }
        }
        for (String key : evidence.keys()) {
            if (SoakWorkflow.of(key) == SoakWorkflow.DIGEST) {
                count("item " + key, items.getOrDefault(key, 0));
            }
        }
    }

    private void count(String what, int times) {
        if (times == 0) {
            lost.add(what + " is missing");
        } else if (times > 1) {
            doubled.add(what + " is there " + times + " times");
        }
    }
}
