package dev.semel.replay;

import dev.semel.journal.JournalEntry;
import dev.semel.journal.RunJournalStepIndex;
import dev.semel.json.StrictJsonCodec;
import dev.semel.run.RunState;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/**
 * @param incomplete the list may be incomplete, because the workflow is Java code or calls another one; unlisted
 *     effects without a record are sent for the first time
 * @param blocked why the run cannot be replayed now; null if it can
 */
public record ReplayPreview(
        List<PlannedReplayStep> steps,
        boolean incomplete,
        @Nullable String blocked) {
    private static final Set<JournalEntry.EntryKind> AGAIN =
            Set.of(JournalEntry.EntryKind.STEP, JournalEntry.EntryKind.EFFECT, JournalEntry.EntryKind.TX);

    public ReplayPreview {
        steps = List.copyOf(steps);
    }

    public static ReplayPreview blocked(String why) {
        return new ReplayPreview(List.of(), false, why);
    }

    public static ReplayPreview of(ReplayPlannerInput source, ReplayOptions terms) {
        boolean known = terms.from().isEmpty() || terms.from().equals(ReplayOptions.START);
        boolean there = known
                || source.entries().stream().anyMatch(entry -> entry.path().equals(terms.from()));
        if (!there) {
            return blocked("the run did not reach step \"" + terms.from() + "\"");
        }
        RunJournalStepIndex memory = new RunJournalStepIndex(source.entries());
        List<String> sent = terms.notifications() == ReplayNotificationMode.AGAIN
                ? RunNotificationEffectFinder.sent(source)
                : List.of();
        for (String again : terms.redo()) {
            if (sent.contains(again)) {
                continue; // sent by a run of the lineage, if not by the last one
            }
            RunJournalStepIndex.StepRecord trace = memory.stepAt(again);
            if (trace == null || !AGAIN.contains(trace.kind())) {
                return blocked("step \"" + again + "\" cannot be repeated: "
                        + (trace == null
                                ? "the run did not reach this step"
                                : "it is a " + trace.kind().word()));
            }
        }
        boolean ended = source.state() == RunState.COMPLETED && terms.carriesWholeJournal();
        List<PlannedReplayStep> steps = ReplayStepPlanner.plan(source, terms);
        boolean calls = steps.stream()
                .anyMatch(step -> step.kind().equals("call") && step.action() == SafeReplayStepAction.SEND);
        return new ReplayPreview(steps, calls || (source.versions().next() == null && !ended), null);
    }

    public ReplayPreview withGivenResult(String path) {
        List<PlannedReplayStep> others = new ArrayList<>();
        for (PlannedReplayStep one : steps) {
            others.add(
                    one.step().equals(path)
                            ? one.withAction(SafeReplayStepAction.REUSE, "a user supplied its result")
                            : one);
        }
        return new ReplayPreview(others, incomplete, blocked);
    }

    /** The riskiest action; null for a blocked run. */
    public @Nullable SafeReplayStepAction worst() {
        if (blocked != null) {
            return null;
        }
        SafeReplayStepAction worst = SafeReplayStepAction.REUSE;
        for (PlannedReplayStep step : steps) {
            worst = step.action().isWorseThan(worst) ? step.action() : worst;
        }
        return worst;
    }

    /** Until when its first re-send is safe; the largest number if it has none. */
    public long resendUntil() {
        return steps.stream()
                .mapToLong(PlannedReplayStep::until)
                .filter(until -> until > 0)
                .min()
                .orElse(Long.MAX_VALUE);
    }

    /** All actions as a bit set. */
    public int actions() {
        int bits = 0;
        for (PlannedReplayStep step : steps) {
            bits |= step.action().bit();
        }
        return bits;
    }

    /** The differences of the other preview in words; empty if both predict the same actions. Times are ignored. */
    public List<String> differencesFrom(ReplayPreview other) {
        List<String> differences = new ArrayList<>();
        if (blocked != null || other.blocked != null) {
            return Objects.equals(blocked, other.blocked)
                    ? differences
                    : List.of(other.blocked == null ? "it can be replayed now" : other.blocked);
        }
        for (PlannedReplayStep now : other.steps) {
            PlannedReplayStep before = same(steps, now);
            if (before == null || before.action() != now.action()) {
                String action = now.action().word();
                differences.add(
                        before == null
                                ? "step " + now.step() + " is new in the replay, with the action " + action
                                : "the action of step " + now.step() + " was "
                                        + before.action().word() + " and is now " + action);
            } else if (before.certain() != now.certain()) {
                differences.add(
                        now.certain()
                                ? "the replay now certainly reaches step " + now.step()
                                : "the replay now reaches step " + now.step() + " only under a condition");
            }
        }
        for (PlannedReplayStep then : steps) {
            if (same(other.steps, then) == null) {
                differences.add("step " + then.step() + " is no longer part of the replay (its action was "
                        + then.action().word() + ")");
            }
        }
        if (incomplete != other.incomplete) {
            differences.add(
                    other.incomplete
                            ? "the later actions of the replay can no longer be predicted"
                            : "the later actions of the replay can be predicted now");
        }
        return differences;
    }

    /** The same step in another preview; two versions may have steps of different kinds at one path. */
    private static @Nullable PlannedReplayStep same(List<PlannedReplayStep> steps, PlannedReplayStep wanted) {
        for (PlannedReplayStep step : steps) {
            if (step.step().equals(wanted.step()) && step.kind().equals(wanted.kind())) {
                return step;
            }
        }
        return null;
    }

    public ObjectNode toJson() {
        ObjectNode out = JsonNodeFactory.instance.objectNode();
        if (blocked != null) {
            out.put("blocked", blocked);
        }
        out.put("incomplete", incomplete);
        var list = out.putArray("steps");
        for (PlannedReplayStep step : steps) {
            ObjectNode one = list.addObject();
            one.put("step", step.step())
                    .put("kind", step.kind())
                    .put("action", step.action().word())
                    .put("reason", step.why());
            if (step.until() != 0) {
                one.put("until", step.until());
            }
            if (!step.certain()) {
                one.put("certain", false);
            }
        }
        return out;
    }

    /** Reads what {@link #toJson} wrote. */
    public static ReplayPreview parse(String text) {
        JsonNode json = StrictJsonCodec.parse(text);
        List<PlannedReplayStep> steps = new ArrayList<>();
        for (JsonNode one : json.required("steps")) {
            steps.add(new PlannedReplayStep(
                    one.required("step").asString(),
                    one.required("kind").asString(),
                    SafeReplayStepAction.of(one.required("action").asString()),
                    one.required("reason").asString(),
                    one.path("until").asLong(0),
                    one.path("certain").asBoolean(true)));
        }
        boolean blocked = json.has("blocked");
        return new ReplayPreview(
                steps,
                json.required("incomplete").asBoolean(),
                blocked ? json.required("blocked").asString() : null);
    }
}
