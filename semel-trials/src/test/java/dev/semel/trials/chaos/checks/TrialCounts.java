package dev.semel.trials.chaos.checks;

import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/** What was counted; a trial in which nothing happened shows nothing. */
public final class TrialCounts {
    private static final String HELD = "runs held after five deaths, let go on";

    private final Map<String, Long> counts = new LinkedHashMap<>();

    public static TrialCounts none() {
        return new TrialCounts();
    }

    public static TrialCounts of(Evidence evidence) {
        TrialCounts figures = new TrialCounts();
        figures.triggers(evidence);
        figures.faults(evidence);
        figures.ownership(evidence);
        figures.effects(evidence);
        return figures;
    }

    public long get(String name) {
        return counts.getOrDefault(name, 0L);
    }

    /** What never happened, and should have; duplicates need not be. */
    public List<String> missing() {
        return counts.entrySet().stream()
                .filter(entry -> entry.getValue() == 0
                        && !entry.getKey().startsWith("duplicate")
                        && !entry.getKey().equals(HELD))
                .map(Map.Entry::getKey)
                .toList();
    }

    public void add(TrialCounts other) {
        other.counts.forEach((name, count) -> counts.merge(name, count, Long::sum));
    }

    private void triggers(Evidence evidence) {
        List<ClientRecord> starts = evidence.reported().stream()
                .filter(call -> call.ask() == ClientRecord.RequestKind.START)
                .toList();
        counts.put(
                "triggers acknowledged",
                starts.stream().filter(ClientRecord::isStarted).count());
        counts.put(
                "of them repeats",
                starts.stream()
                        .filter(call -> call.isStarted() && call.replayed())
                        .count());
        counts.put(
                "answers lost",
                starts.stream()
                        .filter(call -> call.outcome() == ClientRecord.Outcome.UNKNOWN)
                        .count());
        counts.put("runs", (long) evidence.dump().runs().size());
        counts.put(
                HELD,
                evidence.reported().stream()
                        .filter(call -> call.ask() == ClientRecord.RequestKind.GO_ON
                                && call.outcome() == ClientRecord.Outcome.OK)
                        .count());
    }

    private void faults(Evidence evidence) {
        for (Fault.Kind kind : Fault.Kind.values()) {
            counts.put(
                    kind.name().toLowerCase(java.util.Locale.ROOT).replace('_', ' '),
                    evidence.faults().stream()
                            .filter(fault -> fault.kind() == kind)
                            .count());
        }
    }

    private void ownership(Evidence evidence) {
        Set<String> skewed = evidence.events().stream()
                .filter(event -> event[1].equals("skewed"))
                .map(event -> event[0])
                .collect(Collectors.toSet());
        long takeovers = 0;
        long bySkewed = 0;
        for (ChangeAudit line : evidence.dump().audit()) {
            if (line.what().equals("lease-") && !line.worker().equals(line.detail())) {
                takeovers++;
                bySkewed += skewed.contains(line.worker()) || skewed.contains(line.detail()) ? 1 : 0;
            }
        }
        counts.put("takeovers", takeovers);
        counts.put("takeovers by or from a skewed worker", bySkewed);
        long atFence = evidence.noted("refused at the fence");
        long byClaim = evidence.noted("refused by the claim");
        counts.put("zombie writes refused", atFence + byClaim);
        counts.put("of them at the fence", atFence);
        counts.put("writes held back for want of a lease", evidence.noted("held back"));
        counts.put(
                "requests by a skewed worker",
                evidence.heard().stream()
                        .filter(line -> skewed.contains(line.worker()))
                        .count());
    }

    private void effects(Evidence evidence) {
        List<ReceivedRequest> posts =
                evidence.heard().stream().filter(ReceivedRequest::isPost).toList();
        counts.put("effects received", (long) posts.size());
        for (String step : List.of(
                EffectStepNames.CHARGE,
                EffectStepNames.LETTER,
                EffectStepNames.PARCEL,
                EffectStepNames.PING,
                EffectStepNames.ASKED,
                EffectStepNames.SHARED)) {
            Set<String> seen = new HashSet<>();
            long again = posts.stream()
                    .filter(line -> line.step().equals(step) && !seen.add(line.name()))
                    .count();
            counts.put("effects under " + protection(step), (long) seen.size());
            counts.put("duplicate requests under " + protection(step), again);
        }
    }

    private static String protection(String step) {
        return switch (step) {
            case EffectStepNames.CHARGE -> "provider_key";
            case EffectStepNames.LETTER -> "at_most_once";
            case EffectStepNames.PARCEL -> "lookup";
            case EffectStepNames.PING -> "repeatable";
            case EffectStepNames.ASKED -> "ask";
            default -> "once across runs";
        };
    }

    @Override
    public String toString() {
        return counts.entrySet().stream()
                .map(entry -> String.format("  %-44s %8d", entry.getKey(), entry.getValue()))
                .collect(Collectors.joining("\n"));
    }
}
