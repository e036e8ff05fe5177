package dev.semel.replay;

import dev.semel.effect.Ledger;
import dev.semel.journal.Entry;
import dev.semel.journal.Memory;
import dev.semel.run.RunState;
import dev.semel.run.StepId;
import dev.semel.run.StepPath;
import dev.semel.workflow.Expected;
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
public final class Foresight {
    private static final String UNSENT = "it was not sent, and this replay sends no notifications";
    private static final String MAYBE_SENT =
            "it may have been sent; this replay sends no notifications and does not settle it";

    private final Past past;
    private final Terms terms;
    private final Memory memory;
    private final Set<String> carried;
    private final boolean compensated;
    private final Map<String, Ledger.Row> rows = new TreeMap<>();

    private Foresight(Past past, Terms terms) {
        this.past = past;
        this.terms = terms;
        this.memory = new Memory(past.entries());
        this.carried =
                Carried.of(past.entries(), terms).stream().map(Entry::path).collect(Collectors.toSet());
        for (Ledger.Row row : past.rows()) {
            String path = row.facts().path();
            if (row.holder().step().equals(StepId.of(past.lineage(), path).text())) {
                rows.merge(path, row, Foresight::decisive);
            }
        }
        // An earlier run of the lineage may have compensated, which is not in the journal of the last one.
        this.compensated = !memory.undos().isEmpty() || rows.keySet().stream().anyMatch(Foresight::isUndo);
    }

    /** A `once` effect has two rows; if the step's own row is done, the effect is done. */
    private static Ledger.Row decisive(Ledger.Row one, Ledger.Row other) {
        return one.state() == Ledger.State.DONE || other.state() == Ledger.State.FREE ? one : other;
    }

    public static List<Foretold> of(Past past, Terms terms) {
        return new Foresight(past, terms).all();
    }

    private List<Foretold> all() {
        List<Foretold> all = new ArrayList<>();
        memory.traces().forEach((path, trace) -> {
            Foretold one = isUndo(path)
                    ? null
                    : terms.redo().contains(path) ? repeat(path, trace.kind()) : recorded(path, trace);
            if (one != null) {
                all.add(withUserDecision(one));
            }
        });
        if (past.state() == RunState.COMPLETED && terms.carriesAll()) {
            return all; // no steps are left
        }
        rows.forEach((path, row) -> {
            Foretold one = isUndo(path) || memory.at(path) != null
                    ? null
                    : terms.redo().contains(path) ? repeat(path, Entry.Kind.EFFECT) : effectOrSilent(path, row);
            if (one != null) {
                all.add(withUserDecision(one.perhaps(isCertain(path))));
            }
        });
        all.addAll(unreached());
        return all;
    }

    private static boolean isUndo(String path) {
        return StepPath.undoOf(StepPath.scopeOf(path)) != null;
    }

    /** Whether the next run certainly reaches a step that an earlier run did and the last run did not reach. */
    private boolean isCertain(String path) {
        List<Expected> next = past.versions().next();
        Expected here = next == null ? null : Versions.find(next, path);
        return here != null && here.place().certain();
    }

    /** A result for another input, or one that was compensated, is not simply reused. */
    private Foretold withUserDecision(Foretold one) {
        boolean harmless = one.action() == Action.RUN_AGAIN || one.action() == Action.SILENT;
        if (!one.isDeed() || !one.action().isSafe() || harmless) {
            return one;
        }
        if (terms.otherInput()) {
            return one.instead(Action.ASK, "its key was derived from the original input");
        }
        return compensated && one.action() == Action.REUSE
                ? one.instead(Action.ASK, "the run failed and compensated it")
                : one;
    }

    /** The step runs again on purpose. That duplicates a side effect, so it needs a confirmation. */
    private Foretold repeat(String path, Entry.Kind what) {
        String kind = what.word();
        if (what == Entry.Kind.STEP) {
            return step(path, kind, Action.RUN_AGAIN, "you requested to repeat it");
        }
        return terms.confirmed()
                ? step(path, kind, Action.SEND, "you requested to repeat it; it gets a new key")
                : step(path, kind, Action.ASK, "you requested to repeat it, without confirming that");
    }

    private @Nullable Foretold recorded(String path, Memory.Trace trace) {
        boolean kept = carried.contains(path);
        return switch (trace.kind()) {
            case STEP -> kept ? reuse(path, "step") : step(path, "step", Action.RUN_AGAIN, "it is a plain step");
            case TX -> kept ? reuse(path, "tx") : tx(path, trace);
            case APPROVAL ->
                kept
                        ? reuse(path, "approval")
                        : step(path, "approval", Action.ASK, "the approval is requested again");
            case CALL -> kept ? reuse(path, "call") : call(path, trace);
            case EFFECT -> kept ? reuse(path, "effect") : effectOrSilent(path, rows.get(path));
            case AWAIT -> kept ? null : await(path, trace);
            case SIGNAL ->
                kept || trace.done() == null || at(path, "signal") == Versions.Place.SAME
                        ? null // the receiving run knows its key
                        : step(path, "signal", Action.ASK, "another version sent it; this version may send it again");
            case SLEEP, NOW, UUID, RANDOM, STATUS -> null;
        };
    }

    private Versions.Place at(String path, String kind) {
        return past.versions().at(path, kind);
    }

    private static Foretold reuse(String path, String kind) {
        return step(path, kind, Action.REUSE, "its result is recorded");
    }

    private @Nullable Foretold tx(String path, Memory.Trace trace) {
        Versions.Place place = at(path, "tx");
        if (trace.done() == null) {
            return place == Versions.Place.GONE
                    ? null
                    : step(path, "tx", Action.RUN_AGAIN, "its transaction was rolled back");
        }
        return switch (place) {
            case SAME, CHANGED -> step(path, "tx", Action.REUSE, "its rows and its record were committed together");
            case GONE, UNKNOWN -> mismatch(path, "tx", place);
        };
    }

    /** The engine follows the recorded child run, or its latest replay. */
    private @Nullable Foretold call(String path, Memory.Trace trace) {
        Versions.Place place = at(path, "call");
        String ref = trace.begun() == null ? null : trace.begun().ref();
        if (ref == null) {
            return place == Versions.Place.GONE
                    ? null
                    : step(path, "call", Action.SEND, "it was reached, but no run was started");
        }
        if (place != Versions.Place.SAME) {
            return mismatch(path, "call", place);
        }
        Called called = past.called().get(ref);
        if (called == null || called.going()) {
            return step(path, "call", Action.ASK, "run " + ref + " that it called was deleted");
        }
        String who = "run " + called.runId();
        return switch (called.state()) {
            case COMPLETED -> step(path, "call", Action.REUSE, "it uses " + who + ", which completed");
            case FAILED -> step(path, "call", Action.ASK, who + " that it called has failed: replay that first");
            case CANCELLED -> step(path, "call", Action.ASK, who + " that it called was cancelled: replay that first");
            case QUEUED, STARTED, RUNNING, WAITING, IN_DOUBT ->
                step(path, "call", Action.REUSE, "it waits for " + who + ", which has not ended");
        };
    }

    /** Signals belong to a run: those of the old run do not reach the new one. */
    private @Nullable Foretold await(String path, Memory.Trace trace) {
        if (at(path, "await") == Versions.Place.GONE) {
            return null;
        }
        Entry.Done done = trace.done();
        return done != null && done.how() != Entry.How.TIMED_OUT
                ? step(path, "await", Action.ASK, "its signal went to the old run and must be sent again")
                : step(path, "await", Action.RUN_AGAIN, "it waits again");
    }

    /** An effect. A notification that is not recorded is not sent if the options say so. */
    private @Nullable Foretold effectOrSilent(String path, Ledger.@Nullable Row row) {
        Foretold one = effect(path, row);
        Versions.Place place = at(path, "effect");
        boolean there = place == Versions.Place.SAME || place == Versions.Place.CHANGED;
        boolean done = row != null && row.state() == Ledger.State.DONE;
        if (one == null || done || !there || terms.telling() != Notify.NONE) {
            return one;
        }
        Boolean notifies = Notifications.isOne(past, path, row);
        if (notifies == null) {
            return one.perhaps(false); // only its code knows what it does
        }
        boolean sent = row != null && row.state() != Ledger.State.FREE;
        return notifies ? one.instead(Action.SILENT, sent ? MAYBE_SENT : UNSENT) : one;
    }

    /** The same decision that the engine will take, from ledger row and protection. */
    private @Nullable Foretold effect(String path, Ledger.@Nullable Row row) {
        Versions.Place place = at(path, "effect");
        if (row == null) {
            return place == Versions.Place.GONE
                    ? null
                    : step(path, "effect", Action.SEND, "it was reached and never sent");
        }
        String protection = row.facts().protection();
        boolean unguarded = protection.equals("repeatable") || protection.equals("none");
        if (row.state() == Ledger.State.FREE && !unguarded) {
            return place == Versions.Place.GONE
                    ? null
                    : step(path, "effect", Action.SEND, "it was rejected, or not sent");
        }
        boolean done = row.state() == Ledger.State.DONE;
        Foretold one = switch (place) {
            case SAME -> done ? reuseFromLedger(path) : resend(path, row);
            // A finished effect is found by its path, whatever its protection is now.
            case CHANGED -> done ? reuseFromLedger(path) : mismatch(path, "effect", place);
            case GONE -> protection.equals("repeatable") ? null : mismatch(path, "effect", place);
            case UNKNOWN -> mismatch(path, "effect", place);
        };
        boolean other = past.otherData().contains(row.holder().run());
        return other && one != null && one.action().isSafe() && one.action() != Action.RUN_AGAIN
                ? one.instead(Action.ASK, "it was done, or may have been done, for another input")
                : one;
    }

    private static Foretold reuseFromLedger(String path) {
        return step(path, "effect", Action.REUSE, "the ledger has its result");
    }

    /** An earlier run did it, or may have, and the next version has no equal step. */
    private static Foretold mismatch(String path, String kind, Versions.Place place) {
        String why = switch (place) {
            case CHANGED -> "another version did it, or may have; this version has another protection or key";
            case GONE ->
                "another version did it, or may have; this version has no such step, and another step may do it";
            case SAME, UNKNOWN ->
                "another version did it, or may have; this version is Java code and cannot be predicted";
        };
        return step(path, kind, Action.ASK, why);
    }

    /** It may have happened; its protection decides. */
    private Foretold resend(String path, Ledger.Row row) {
        long until = row.expiresAt();
        return switch (row.facts().protection()) {
            case "repeatable" -> step(path, "effect", Action.RUN_AGAIN, "it may be repeated");
            case "none" -> step(path, "effect", Action.UNPROTECTED, "it may have happened, and it has no protection");
            case "provider_key" ->
                past.now() < until
                        ? new Foretold(
                                path, "effect", Action.RESEND, "the provider still remembers its key", until, true)
                        : step(path, "effect", Action.ASK, "the provider may have forgotten its key");
            case "lookup" ->
                step(path, "effect", Action.CHECK, "it may have happened; the engine queries the provider first");
            case "at_most_once" -> step(path, "effect", Action.REUSE, "it is never sent again and stays indeterminate");
            default -> step(path, "effect", Action.ASK, "it may have happened");
        };
    }

    /** Declared steps that no run has reached. */
    private List<Foretold> unreached() {
        List<Foretold> all = new ArrayList<>();
        for (Expected one : Objects.requireNonNullElse(past.versions().next(), List.<Expected>of())) {
            if (one.place().loops() || !isReached(one)) {
                all.add(firstTime(one));
            }
        }
        return all;
    }

    private boolean isReached(Expected one) {
        boolean recorded = memory.traces().entrySet().stream()
                .anyMatch(trace -> trace.getValue().kind().word().equals(one.kind())
                        && one.place().covers(trace.getKey()));
        return recorded
                || (one.kind().equals("effect")
                        && rows.keySet().stream().anyMatch(path -> one.place().covers(path)));
    }

    private Foretold firstTime(Expected one) {
        boolean certain = one.place().certain() && !one.across();
        if (terms.telling() == Notify.NONE && Notifications.isOne(one)) {
            return new Foretold(one.place().shown(), one.kind(), Action.SILENT, UNSENT, 0, certain);
        }
        String why = one.across()
                ? "unless another run did it with the same key"
                : certain ? "the run did not reach it" : "only if the run reaches it";
        String more = switch (one.kind()) {
            case "call" -> "; it starts a run of \"" + one.protection() + "\", whose steps are not listed here";
            case "await" -> "; it waits for a signal to the new run";
            case "approval" -> "; it needs an approval";
            default -> "";
        };
        boolean again = one.protection().equals("repeatable") || one.kind().equals("await");
        return new Foretold(
                one.place().shown(), one.kind(), again ? Action.RUN_AGAIN : Action.SEND, why + more, 0, certain);
    }

    private static Foretold step(String path, String kind, Action action, String why) {
        return new Foretold(path, kind, action, why, 0, true);
    }
}
