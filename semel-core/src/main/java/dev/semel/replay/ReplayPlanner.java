package dev.semel.replay;

import dev.semel.effect.EffectLedger;
import dev.semel.journal.JournalEntry;
import dev.semel.journal.JournalIndex;
import dev.semel.workflow.RunState;
import dev.semel.run.StepId;
import dev.semel.run.StepPathFormat;
import dev.semel.definition.DeclaredStep;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Predicts what a safe replay of a run will do at each step, before it starts. It reads what the engine will read:
 * journal, ledger, child runs and protections. If the replay uses another workflow version without a matching step, a
 * duplicate is possible, so a user must decide.
 */
public final class ReplayPlanner {
    private static final String UNSENT = "it was not sent, and this replay sends no notifications";
    private static final String MAYBE_SENT =
            "it may have been sent; this replay sends no notifications and does not settle it";

    private final ReplaySource past;
    private final ReplayOptions terms;
    private final JournalIndex memory;
    private final Set<String> carried;
    private final boolean compensated;
    private final Map<String, EffectLedger.EffectRow> rows = new TreeMap<>();

    private ReplayPlanner(ReplaySource past, ReplayOptions terms) {
        this.past = past;
        this.terms = terms;
        this.memory = new JournalIndex(past.entries());
        this.carried =
                CarriedJournal.select(past.entries(), terms).stream().map(JournalEntry::path).collect(Collectors.toSet());
        for (EffectLedger.EffectRow row : past.rows()) {
            String path = row.details().path();
            if (row.holder().step().equals(StepId.of(past.lineage(), path).text())) {
                rows.merge(path, row, ReplayPlanner::decisive);
            }
        }
        // An earlier run of the lineage may have compensated, which is not in the journal of the last one.
        this.compensated = !memory.compensationScopes().isEmpty() || rows.keySet().stream().anyMatch(ReplayPlanner::isUndo);
    }

    /** A `once` effect has two rows; if the step's own row is done, the effect is done. */
    private static EffectLedger.EffectRow decisive(EffectLedger.EffectRow one, EffectLedger.EffectRow other) {
        return one.state() == EffectLedger.EffectState.DONE || other.state() == EffectLedger.EffectState.FREE ? one : other;
    }

    public static List<PlannedStep> plan(ReplaySource past, ReplayOptions terms) {
        return new ReplayPlanner(past, terms).all();
    }

    private List<PlannedStep> all() {
        List<PlannedStep> all = new ArrayList<>();
        memory.steps().forEach((path, trace) -> {
            PlannedStep one = isUndo(path)
                    ? null
                    : terms.redo().contains(path) ? repeat(path, trace.kind()) : recorded(path, trace);
            if (one != null) {
                all.add(withUserDecision(one));
            }
        });
        if (past.state() == RunState.COMPLETED && terms.carriesWholeJournal()) {
            return all; // no steps are left
        }
        rows.forEach((path, row) -> {
            PlannedStep one = isUndo(path) || memory.stepAt(path) != null
                    ? null
                    : terms.redo().contains(path) ? repeat(path, JournalEntry.EntryKind.EFFECT) : effectOrSilent(path, row);
            if (one != null) {
                all.add(withUserDecision(one.withCertainty(isCertain(path))));
            }
        });
        all.addAll(unreached());
        return all;
    }

    private static boolean isUndo(String path) {
        return StepPathFormat.compensationOf(StepPathFormat.scopeOf(path)) != null;
    }

    /** Whether the next run certainly reaches a step that an earlier run did and the last run did not reach. */
    private boolean isCertain(String path) {
        List<DeclaredStep> next = past.versions().next();
        DeclaredStep here = next == null ? null : DeclaredVersions.find(next, path);
        return here != null && here.location().always();
    }

    /** A result for another input, or one that was compensated, is not simply reused. */
    private PlannedStep withUserDecision(PlannedStep one) {
        boolean harmless = one.action() == ReplayAction.RUN_AGAIN || one.action() == ReplayAction.SILENT;
        if (!one.isSideEffect() || !one.action().isSafe() || harmless) {
            return one;
        }
        if (terms.otherInput()) {
            return one.withAction(ReplayAction.ASK, "its key was derived from the original input");
        }
        return compensated && one.action() == ReplayAction.REUSE
                ? one.withAction(ReplayAction.ASK, "the run failed and compensated it")
                : one;
    }

    /** The step runs again on purpose. That duplicates a side effect, so it needs a confirmation. */
    private PlannedStep repeat(String path, JournalEntry.EntryKind what) {
        String kind = what.word();
        if (what == JournalEntry.EntryKind.STEP) {
            return step(path, kind, ReplayAction.RUN_AGAIN, "you requested to repeat it");
        }
        return terms.confirmed()
                ? step(path, kind, ReplayAction.SEND, "you requested to repeat it; it gets a new key")
                : step(path, kind, ReplayAction.ASK, "you requested to repeat it, without confirming that");
    }

    private @Nullable PlannedStep recorded(String path, JournalIndex.StepRecord trace) {
        boolean kept = carried.contains(path);
        return switch (trace.kind()) {
            case STEP -> kept ? reuse(path, "step") : step(path, "step", ReplayAction.RUN_AGAIN, "it is a plain step");
            case TX -> kept ? reuse(path, "tx") : tx(path, trace);
            case APPROVAL ->
                kept
                        ? reuse(path, "approval")
                        : step(path, "approval", ReplayAction.ASK, "the approval is requested again");
            case CALL -> kept ? reuse(path, "call") : call(path, trace);
            case EFFECT -> kept ? reuse(path, "effect") : effectOrSilent(path, rows.get(path));
            case AWAIT -> kept ? null : await(path, trace);
            case SIGNAL ->
                kept || trace.done() == null || at(path, "signal") == DeclaredVersions.StepMatch.SAME
                        ? null // the receiving run knows its key
                        : step(path, "signal", ReplayAction.ASK, "another version sent it; this version may send it again");
            case SLEEP, NOW, UUID, RANDOM, STATUS -> null;
        };
    }

    private DeclaredVersions.StepMatch at(String path, String kind) {
        return past.versions().match(path, kind);
    }

    private static PlannedStep reuse(String path, String kind) {
        return step(path, kind, ReplayAction.REUSE, "its result is recorded");
    }

    private @Nullable PlannedStep tx(String path, JournalIndex.StepRecord trace) {
        DeclaredVersions.StepMatch place = at(path, "tx");
        if (trace.done() == null) {
            return place == DeclaredVersions.StepMatch.GONE
                    ? null
                    : step(path, "tx", ReplayAction.RUN_AGAIN, "its transaction was rolled back");
        }
        return switch (place) {
            case SAME, CHANGED -> step(path, "tx", ReplayAction.REUSE, "its rows and its record were committed together");
            case GONE, UNKNOWN -> mismatch(path, "tx", place);
        };
    }

    /** The engine follows the recorded child run, or its latest replay. */
    private @Nullable PlannedStep call(String path, JournalIndex.StepRecord trace) {
        DeclaredVersions.StepMatch place = at(path, "call");
        String ref = trace.started() == null ? null : trace.started().ref();
        if (ref == null) {
            return place == DeclaredVersions.StepMatch.GONE
                    ? null
                    : step(path, "call", ReplayAction.SEND, "it was reached, but no run was started");
        }
        if (place != DeclaredVersions.StepMatch.SAME) {
            return mismatch(path, "call", place);
        }
        CalledRunState called = past.called().get(ref);
        if (called == null || called.beingRemoved()) {
            return step(path, "call", ReplayAction.ASK, "run " + ref + " that it called was deleted");
        }
        String who = "run " + called.runId();
        return switch (called.state()) {
            case COMPLETED -> step(path, "call", ReplayAction.REUSE, "it uses " + who + ", which completed");
            case FAILED -> step(path, "call", ReplayAction.ASK, who + " that it called has failed: replay that first");
            case CANCELLED -> step(path, "call", ReplayAction.ASK, who + " that it called was cancelled: replay that first");
            case QUEUED, STARTED, RUNNING, WAITING, IN_DOUBT ->
                step(path, "call", ReplayAction.REUSE, "it waits for " + who + ", which has not ended");
        };
    }

    /** Signals belong to a run: those of the old run do not reach the new one. */
    private @Nullable PlannedStep await(String path, JournalIndex.StepRecord trace) {
        if (at(path, "await") == DeclaredVersions.StepMatch.GONE) {
            return null;
        }
        JournalEntry.StepResult done = trace.done();
        return done != null && done.outcome() != JournalEntry.StepOutcome.TIMED_OUT
                ? step(path, "await", ReplayAction.ASK, "its signal went to the old run and must be sent again")
                : step(path, "await", ReplayAction.RUN_AGAIN, "it waits again");
    }

    /** An effect. A notification that is not recorded is not sent if the options say so. */
    private @Nullable PlannedStep effectOrSilent(String path, EffectLedger.@Nullable EffectRow row) {
        PlannedStep one = effect(path, row);
        DeclaredVersions.StepMatch place = at(path, "effect");
        boolean there = place == DeclaredVersions.StepMatch.SAME || place == DeclaredVersions.StepMatch.CHANGED;
        boolean done = row != null && row.state() == EffectLedger.EffectState.DONE;
        if (one == null || done || !there || terms.notifications() != NotificationMode.NONE) {
            return one;
        }
        Boolean notifies = NotificationEffects.isNotification(past, path, row);
        if (notifies == null) {
            return one.withCertainty(false); // only its code knows what it does
        }
        boolean sent = row != null && row.state() != EffectLedger.EffectState.FREE;
        return notifies ? one.withAction(ReplayAction.SILENT, sent ? MAYBE_SENT : UNSENT) : one;
    }

    /** The same decision that the engine will take, from ledger row and protection. */
    private @Nullable PlannedStep effect(String path, EffectLedger.@Nullable EffectRow row) {
        DeclaredVersions.StepMatch place = at(path, "effect");
        if (row == null) {
            return place == DeclaredVersions.StepMatch.GONE
                    ? null
                    : step(path, "effect", ReplayAction.SEND, "it was reached and never sent");
        }
        String protection = row.details().protection();
        boolean unguarded = protection.equals("repeatable") || protection.equals("none");
        if (row.state() == EffectLedger.EffectState.FREE && !unguarded) {
            return place == DeclaredVersions.StepMatch.GONE
                    ? null
                    : step(path, "effect", ReplayAction.SEND, "it was rejected, or not sent");
        }
        boolean done = row.state() == EffectLedger.EffectState.DONE;
        PlannedStep one = switch (place) {
            case SAME -> done ? reuseFromLedger(path) : resend(path, row);
            // A finished effect is found by its path, whatever its protection is now.
            case CHANGED -> done ? reuseFromLedger(path) : mismatch(path, "effect", place);
            case GONE -> protection.equals("repeatable") ? null : mismatch(path, "effect", place);
            case UNKNOWN -> mismatch(path, "effect", place);
        };
        boolean other = past.runsWithOtherInput().contains(row.holder().run());
        return other && one != null && one.action().isSafe() && one.action() != ReplayAction.RUN_AGAIN
                ? one.withAction(ReplayAction.ASK, "it was done, or may have been done, for another input")
                : one;
    }

    private static PlannedStep reuseFromLedger(String path) {
        return step(path, "effect", ReplayAction.REUSE, "the ledger has its result");
    }

    /** An earlier run did it, or may have, and the next version has no equal step. */
    private static PlannedStep mismatch(String path, String kind, DeclaredVersions.StepMatch place) {
        String why = switch (place) {
            case CHANGED -> "another version did it, or may have; this version has another protection or key";
            case GONE ->
                "another version did it, or may have; this version has no such step, and another step may do it";
            case SAME, UNKNOWN ->
                "another version did it, or may have; this version is Java code and cannot be predicted";
        };
        return step(path, kind, ReplayAction.ASK, why);
    }

    /** It may have happened; its protection decides. */
    private PlannedStep resend(String path, EffectLedger.EffectRow row) {
        long until = row.expiresAt();
        return switch (row.details().protection()) {
            case "repeatable" -> step(path, "effect", ReplayAction.RUN_AGAIN, "it may be repeated");
            case "none" -> step(path, "effect", ReplayAction.UNPROTECTED, "it may have happened, and it has no protection");
            case "provider_key" ->
                past.now() < until
                        ? new PlannedStep(
                                path, "effect", ReplayAction.RESEND, "the provider still remembers its key", until, true)
                        : step(path, "effect", ReplayAction.ASK, "the provider may have forgotten its key");
            case "lookup" ->
                step(path, "effect", ReplayAction.CHECK, "it may have happened; the engine queries the provider first");
            case "at_most_once" -> step(path, "effect", ReplayAction.REUSE, "it is never sent again and stays indeterminate");
            default -> step(path, "effect", ReplayAction.ASK, "it may have happened");
        };
    }

    /** Declared steps that no run has reached. */
    private List<PlannedStep> unreached() {
        List<PlannedStep> all = new ArrayList<>();
        for (DeclaredStep one : Objects.requireNonNullElse(past.versions().next(), List.<DeclaredStep>of())) {
            if (one.location().inLoop() || !isReached(one)) {
                all.add(firstTime(one));
            }
        }
        return all;
    }

    private boolean isReached(DeclaredStep one) {
        boolean recorded = memory.steps().entrySet().stream()
                .anyMatch(trace -> trace.getValue().kind().word().equals(one.kind())
                        && one.location().matches(trace.getKey()));
        return recorded
                || (one.kind().equals("effect")
                        && rows.keySet().stream().anyMatch(path -> one.location().matches(path)));
    }

    private PlannedStep firstTime(DeclaredStep one) {
        boolean certain = one.location().always() && !one.crossRun();
        if (terms.notifications() == NotificationMode.NONE && NotificationEffects.isNotification(one)) {
            return new PlannedStep(one.location().displayPath(), one.kind(), ReplayAction.SILENT, UNSENT, 0, certain);
        }
        String why = one.crossRun()
                ? "unless another run did it with the same key"
                : certain ? "the run did not reach it" : "only if the run reaches it";
        String more = switch (one.kind()) {
            case "call" -> "; it starts a run of \"" + one.protection() + "\", whose steps are not listed here";
            case "await" -> "; it waits for a signal to the new run";
            case "approval" -> "; it needs an approval";
            default -> "";
        };
        boolean again = one.protection().equals("repeatable") || one.kind().equals("await");
        return new PlannedStep(
                one.location().displayPath(), one.kind(), again ? ReplayAction.RUN_AGAIN : ReplayAction.SEND, why + more, 0, certain);
    }

    private static PlannedStep step(String path, String kind, ReplayAction action, String why) {
        return new PlannedStep(path, kind, action, why, 0, true);
    }
}
