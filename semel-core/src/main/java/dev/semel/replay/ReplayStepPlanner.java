package dev.semel.replay;

import dev.semel.definition.DeclaredStep;
import dev.semel.effect.EffectLedger;
import dev.semel.journal.JournalEntry;
import dev.semel.journal.RunJournalStepIndex;
import dev.semel.run.JournalStepPathFormat;
import dev.semel.run.RunState;
import dev.semel.run.StepId;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Reads what the engine will read: journal, ledger, child runs and protections. A version without a matching step may
 * cause a duplicate, so a user must decide.
 */
public final class ReplayStepPlanner {
    private static final String UNSENT = "the notification was not sent, and this replay sends no notifications";
    private static final String MAYBE_SENT =
            "the notification may have been sent; this replay sends no notifications, so the outcome stays unknown";

    private final ReplayPlannerInput source;
    private final ReplayOptions terms;
    private final RunJournalStepIndex memory;
    private final Set<String> carried;
    private final boolean compensated;
    private final Map<String, EffectLedger.EffectRow> rows = new TreeMap<>();

    private ReplayStepPlanner(ReplayPlannerInput source, ReplayOptions terms) {
        this.source = source;
        this.terms = terms;
        this.memory = new RunJournalStepIndex(source.entries());
        this.carried = ReplayJournalEntrySelector.select(source.entries(), terms).stream()
                .map(JournalEntry::path)
                .collect(Collectors.toSet());
        for (EffectLedger.EffectRow row : source.rows()) {
            String path = row.details().path();
            if (row.holder().step().equals(StepId.of(source.lineage(), path).text())) {
                rows.merge(path, row, ReplayStepPlanner::decisive);
            }
        }
        // An earlier run of the lineage may have compensated, which is not in the journal of the last one.
        this.compensated =
                !memory.compensationScopes().isEmpty() || rows.keySet().stream().anyMatch(ReplayStepPlanner::isUndo);
    }

    /** A `once` effect has two rows; if the step's own row is done, the effect is done. */
    private static EffectLedger.EffectRow decisive(EffectLedger.EffectRow one, EffectLedger.EffectRow other) {
        return one.state() == EffectLedger.EffectState.DONE || other.state() == EffectLedger.EffectState.FREE
                ? one
                : other;
    }

    public static List<PlannedReplayStep> plan(ReplayPlannerInput source, ReplayOptions terms) {
        return new ReplayStepPlanner(source, terms).all();
    }

    private List<PlannedReplayStep> all() {
        List<PlannedReplayStep> all = new ArrayList<>();
        memory.steps().forEach((path, trace) -> {
            PlannedReplayStep one = isUndo(path)
                    ? null
                    : terms.redo().contains(path) ? repeat(path, trace.kind()) : recorded(path, trace);
            if (one != null) {
                all.add(withUserDecision(one));
            }
        });
        if (source.state() == RunState.COMPLETED && terms.carriesWholeJournal()) {
            return all; // no steps are left
        }
        rows.forEach((path, row) -> {
            PlannedReplayStep one = isUndo(path) || memory.stepAt(path) != null
                    ? null
                    : terms.redo().contains(path)
                            ? repeat(path, JournalEntry.EntryKind.EFFECT)
                            : effectOrSilent(path, row);
            if (one != null) {
                all.add(withUserDecision(one.withCertainty(isCertain(path))));
            }
        });
        all.addAll(unreached());
        return all;
    }

    private static boolean isUndo(String path) {
        return JournalStepPathFormat.compensationOf(JournalStepPathFormat.scopeOf(path)) != null;
    }

    /** Whether the next run certainly reaches a step that an earlier run did and the last run did not reach. */
    private boolean isCertain(String path) {
        List<DeclaredStep> next = source.versions().next();
        DeclaredStep here = next == null ? null : ReplayDeclaredStepsByVersion.find(next, path);
        return here != null && here.location().always();
    }

    /** A result for another input, or one that was compensated, is not simply reused. */
    private PlannedReplayStep withUserDecision(PlannedReplayStep one) {
        boolean harmless =
                one.action() == SafeReplayStepAction.RUN_AGAIN || one.action() == SafeReplayStepAction.SILENT;
        if (!one.isSideEffect() || !one.action().isConsented() || harmless) {
            return one;
        }
        if (terms.otherInput()) {
            return one.withAction(SafeReplayStepAction.ASK, "the key of this step was derived from the original input");
        }
        return compensated && one.action() == SafeReplayStepAction.REUSE
                ? one.withAction(SafeReplayStepAction.ASK, "the run failed and compensated this step")
                : one;
    }

    /** The step runs again on purpose. That duplicates a side effect, so it needs a confirmation. */
    private PlannedReplayStep repeat(String path, JournalEntry.EntryKind what) {
        String kind = what.word();
        if (what == JournalEntry.EntryKind.STEP) {
            return step(path, kind, SafeReplayStepAction.RUN_AGAIN, "you requested to repeat this step");
        }
        return terms.confirmed()
                ? step(
                        path,
                        kind,
                        rows.containsKey(path) || memory.stepAt(path) != null
                                ? SafeReplayStepAction.SEND_AGAIN
                                : SafeReplayStepAction.SEND,
                        "you requested to repeat this step; the repeat gets a new key")
                : step(
                        path,
                        kind,
                        SafeReplayStepAction.ASK,
                        "you requested to repeat this step, but did not confirm that its effect may happen twice");
    }

    private @Nullable PlannedReplayStep recorded(String path, RunJournalStepIndex.StepRecord trace) {
        boolean kept = carried.contains(path);
        return switch (trace.kind()) {
            case STEP ->
                kept
                        ? reuse(path, "step")
                        : step(
                                path,
                                "step",
                                SafeReplayStepAction.RUN_AGAIN,
                                isNotificationEvent(path)
                                        ? "it publishes the event of the notification, which starts no run twice"
                                        : "it has no external effect");
            case TX -> kept ? reuse(path, "tx") : tx(path, trace);
            case APPROVAL ->
                kept
                        ? reuse(path, "approval")
                        : step(path, "approval", SafeReplayStepAction.ASK, "the approval is requested again");
            case CALL -> kept ? reuse(path, "call") : call(path, trace);
            case EFFECT -> kept ? reuse(path, "effect") : effectOrSilent(path, rows.get(path));
            case AWAIT -> kept ? null : await(path, trace);
            case SIGNAL ->
                kept || trace.done() == null || at(path, "signal") == ReplayDeclaredStepsByVersion.StepMatch.SAME
                        ? null // the receiving run knows its key
                        : step(
                                path,
                                "signal",
                                SafeReplayStepAction.ASK,
                                "another workflow version sent this signal; this version may send it again");
            case SLEEP, NOW, UUID, RANDOM, STATUS -> null;
        };
    }

    private ReplayDeclaredStepsByVersion.StepMatch at(String path, String kind) {
        return source.versions().match(path, kind);
    }

    private static PlannedReplayStep reuse(String path, String kind) {
        return step(path, kind, SafeReplayStepAction.REUSE, "its result is recorded");
    }

    private @Nullable PlannedReplayStep tx(String path, RunJournalStepIndex.StepRecord trace) {
        ReplayDeclaredStepsByVersion.StepMatch stepMatch = at(path, "tx");
        if (trace.done() == null) {
            return stepMatch == ReplayDeclaredStepsByVersion.StepMatch.GONE
                    ? null
                    : step(path, "tx", SafeReplayStepAction.RUN_AGAIN, "its transaction was rolled back");
        }
        return switch (stepMatch) {
            case SAME, CHANGED ->
                step(path, "tx", SafeReplayStepAction.REUSE, "the database changes of this step were committed");
            case GONE, UNKNOWN -> mismatch(path, "tx", stepMatch);
        };
    }

    /** The engine follows the recorded child run, or its latest replay. */
    private @Nullable PlannedReplayStep call(String path, RunJournalStepIndex.StepRecord trace) {
        ReplayDeclaredStepsByVersion.StepMatch stepMatch = at(path, "call");
        String ref = trace.started() == null ? null : trace.started().ref();
        if (ref == null) {
            return stepMatch == ReplayDeclaredStepsByVersion.StepMatch.GONE
                    ? null
                    : step(
                            path,
                            "call",
                            SafeReplayStepAction.SEND,
                            "the run reached this step, but the step started no child run");
        }
        if (stepMatch != ReplayDeclaredStepsByVersion.StepMatch.SAME) {
            return mismatch(path, "call", stepMatch);
        }
        ChildRunState called = source.called().get(ref);
        if (called == null || called.beingRemoved()) {
            return step(path, "call", SafeReplayStepAction.ASK, "run " + ref + " that this step called was deleted");
        }
        String who = "run " + called.runId();
        return switch (called.state()) {
            case COMPLETED ->
                step(
                        path,
                        "call",
                        SafeReplayStepAction.REUSE,
                        "this step uses the result of " + who + ", which completed");
            case FAILED ->
                step(
                        path,
                        "call",
                        SafeReplayStepAction.ASK,
                        who + " that this step called has failed: replay that run first");
            case CANCELLED ->
                step(
                        path,
                        "call",
                        SafeReplayStepAction.ASK,
                        who + " that this step called was cancelled: replay that run first");
            case QUEUED, STARTED, RUNNING, WAITING, HELD, IN_DOUBT ->
                step(path, "call", SafeReplayStepAction.REUSE, "this step waits for " + who + ", which has not ended");
        };
    }

    /** Signals belong to a run: those of the old run do not reach the new one. */
    private @Nullable PlannedReplayStep await(String path, RunJournalStepIndex.StepRecord trace) {
        if (at(path, "await") == ReplayDeclaredStepsByVersion.StepMatch.GONE) {
            return null;
        }
        JournalEntry.StepResult done = trace.done();
        return done != null && done.outcome() != JournalEntry.StepOutcome.TIMED_OUT
                ? step(path, "await", SafeReplayStepAction.ASK, "the signal went to the old run and must be sent again")
                : step(path, "await", SafeReplayStepAction.RUN_AGAIN, "this step waits again");
    }

    /** An effect. A notification that is not recorded is not sent if the options say so. */
    private @Nullable PlannedReplayStep effectOrSilent(String path, EffectLedger.@Nullable EffectRow row) {
        PlannedReplayStep one = effect(path, row);
        ReplayDeclaredStepsByVersion.StepMatch stepMatch = at(path, "effect");
        boolean there = stepMatch == ReplayDeclaredStepsByVersion.StepMatch.SAME
                || stepMatch == ReplayDeclaredStepsByVersion.StepMatch.CHANGED;
        boolean done = row != null && row.state() == EffectLedger.EffectState.DONE;
        if (one == null || done || !there || terms.notifications() != ReplayNotificationMode.NONE) {
            return one;
        }
        Boolean notifies = RunNotificationEffectFinder.isNotification(source, path, row);
        if (notifies == null) {
            return one.withCertainty(false); // only its code knows what it does
        }
        boolean sent = row != null && row.state() != EffectLedger.EffectState.FREE;
        return notifies ? one.withAction(SafeReplayStepAction.SILENT, sent ? MAYBE_SENT : UNSENT) : one;
    }

    /** The same decision that the engine will take, from ledger row and protection. */
    private @Nullable PlannedReplayStep effect(String path, EffectLedger.@Nullable EffectRow row) {
        ReplayDeclaredStepsByVersion.StepMatch stepMatch = at(path, "effect");
        if (row == null) {
            return stepMatch == ReplayDeclaredStepsByVersion.StepMatch.GONE
                    ? null
                    : step(
                            path,
                            "effect",
                            SafeReplayStepAction.SEND,
                            "the run reached this step, but never sent the effect");
        }
        String protection = row.details().protection();
        boolean unguarded = protection.equals("repeatable") || protection.equals("none");
        if (row.state() == EffectLedger.EffectState.FREE && !unguarded) {
            return stepMatch == ReplayDeclaredStepsByVersion.StepMatch.GONE
                    ? null
                    : step(path, "effect", SafeReplayStepAction.SEND, "the effect was rejected, or not sent");
        }
        boolean done = row.state() == EffectLedger.EffectState.DONE;
        PlannedReplayStep one = switch (stepMatch) {
            case SAME -> done ? reuseFromLedger(path) : resend(path, row);
            // A finished effect is found by its path, whatever its protection is now.
            case CHANGED -> done ? reuseFromLedger(path) : mismatch(path, "effect", stepMatch);
            case GONE -> protection.equals("repeatable") ? null : mismatch(path, "effect", stepMatch);
            case UNKNOWN -> mismatch(path, "effect", stepMatch);
        };
        boolean other = source.runsWithOtherInput().contains(row.holder().run());
        return other && one != null && one.action().isSafe() && one.action() != SafeReplayStepAction.RUN_AGAIN
                ? one.withAction(
                        SafeReplayStepAction.ASK, "this step was done, or may have been done, with another input")
                : one;
    }

    private static PlannedReplayStep reuseFromLedger(String path) {
        return step(path, "effect", SafeReplayStepAction.REUSE, "the effect ledger has its result");
    }

    /** An earlier run did it, or may have, and the next version has no equal step. */
    private static PlannedReplayStep mismatch(
            String path, String kind, ReplayDeclaredStepsByVersion.StepMatch stepMatch) {
        String why = switch (stepMatch) {
            case CHANGED ->
                "another workflow version sent this effect or may have sent it; in this version the step has another"
                        + " protection or key";
            case GONE ->
                "another workflow version executed this step or may have executed it; this version has no such step,"
                        + " but another step may do the same";
            case SAME, UNKNOWN ->
                "another workflow version executed this step or may have executed it; this version is Java code, which"
                        + " Semel cannot predict";
        };
        return step(path, kind, SafeReplayStepAction.ASK, why);
    }

    /** It may have happened; its protection decides. */
    private PlannedReplayStep resend(String path, EffectLedger.EffectRow row) {
        long until = row.expiresAt();
        return switch (row.details().protection()) {
            case "repeatable" ->
                step(
                        path,
                        "effect",
                        SafeReplayStepAction.RUN_AGAIN,
                        "the workflow declares that repeating this effect is harmless");
            case "none" ->
                step(
                        path,
                        "effect",
                        SafeReplayStepAction.UNPROTECTED,
                        "the effect may have happened, and nothing prevents a duplicate if it is sent again");
            case "provider_key" ->
                source.now() < until
                        ? new PlannedReplayStep(
                                path,
                                "effect",
                                SafeReplayStepAction.RESEND,
                                "the provider still remembers its key",
                                until,
                                true)
                        : step(path, "effect", SafeReplayStepAction.ASK, "the provider may have forgotten its key");
            case "lookup" ->
                step(
                        path,
                        "effect",
                        SafeReplayStepAction.CHECK,
                        "the effect may have happened; the engine queries the provider first");
            case "at_most_once" ->
                step(
                        path,
                        "effect",
                        SafeReplayStepAction.REUSE,
                        "this effect is never sent again, and its outcome stays unknown");
            default -> step(path, "effect", SafeReplayStepAction.ASK, "the effect may have happened");
        };
    }

    /** Declared steps that no run has reached. */
    private List<PlannedReplayStep> unreached() {
        List<PlannedReplayStep> all = new ArrayList<>();
        for (DeclaredStep one : Objects.requireNonNullElse(source.versions().next(), List.<DeclaredStep>of())) {
            boolean reached = isReached(one);
            boolean otherChannels = reached && one.location().hasChannels() && !isCarried(one);
            if (!reached || otherChannels || one.location().isPerItem()) {
                PlannedReplayStep first = firstTime(one);
                all.add(
                        otherChannels && first.action() == SafeReplayStepAction.SEND
                                ? first.withAction(SafeReplayStepAction.SEND, "the notification may use other channels")
                                : first);
            }
        }
        return all;
    }

    /** Its channels are recorded, and the replay uses them. */
    private boolean isCarried(DeclaredStep one) {
        return carried.stream().anyMatch(path -> one.location().matches(path));
    }

    private boolean isNotificationEvent(String path) {
        List<DeclaredStep> next = source.versions().next();
        DeclaredStep here = next == null ? null : ReplayDeclaredStepsByVersion.find(next, path);
        return here != null && here.location().hasChannels() && path.endsWith(".event");
    }

    private boolean isReached(DeclaredStep one) {
        boolean recorded = memory.steps().entrySet().stream()
                .anyMatch(trace -> trace.getValue().kind().word().equals(one.kind())
                        && one.location().matches(trace.getKey()));
        return recorded
                || (one.kind().equals("effect")
                        && rows.keySet().stream()
                                .anyMatch(path -> one.location().matches(path)));
    }

    private PlannedReplayStep firstTime(DeclaredStep one) {
        boolean certain = one.location().always() && !one.crossRun();
        if (terms.notifications() == ReplayNotificationMode.NONE && RunNotificationEffectFinder.isNotification(one)) {
            return new PlannedReplayStep(
                    one.location().displayPath(), one.kind(), SafeReplayStepAction.SILENT, UNSENT, 0, certain);
        }
        String why = one.crossRun()
                ? "the replay sends this effect, unless another run sent it with the same key"
                : certain ? "the run did not reach this step" : "this step runs only if the run reaches it";
        String more = switch (one.kind()) {
            case "call" -> "; it starts a run of \"" + one.protection() + "\", whose steps are not listed here";
            case "await" -> "; it waits for a signal to the new run";
            case "approval" -> "; it needs an approval";
            default -> "";
        };
        boolean again = one.protection().equals("repeatable") || one.kind().equals("await");
        return new PlannedReplayStep(
                one.location().displayPath(),
                one.kind(),
                again ? SafeReplayStepAction.RUN_AGAIN : SafeReplayStepAction.SEND,
                why + more,
                0,
                certain);
    }

    private static PlannedReplayStep step(String path, String kind, SafeReplayStepAction action, String why) {
        return new PlannedReplayStep(path, kind, action, why, 0, true);
    }
}
