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
 * What a safe replay of a run will do, step by step, told before anything is done. It looks at the same record that the
 * engine will look at: the journal, the rows of the ledger, the runs that were called, and what protects each effect.
 * What an earlier run did is held against the version that the replay goes by: where that one has no such deed, or
 * another one, nobody knows beforehand whether it is done twice, and a person is asked.
 */
public final class Foresight {
    private final Past past;
    private final Terms terms;
    private final Memory memory;
    private final Set<String> carried;
    private final boolean undone;
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
                rows.merge(path, row, Foresight::telling);
            }
        }
        // An earlier run of the lineage may have undone it, of which the journal of the last one knows nothing.
        this.undone = !memory.undos().isEmpty() || rows.keySet().stream().anyMatch(Foresight::isUndo);
    }

    /** An effect across runs has two rows; what is done under the step's own is done, whatever became of the other. */
    private static Ledger.Row telling(Ledger.Row one, Ledger.Row other) {
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
                    : terms.redo().contains(path) ? again(path, trace, terms.confirmed()) : recorded(path, trace);
            if (one != null) {
                all.add(guarded(one));
            }
        });
        if (past.state() == RunState.COMPLETED && terms.carriesAll()) {
            return all; // nothing is before it
        }
        rows.forEach((path, row) -> {
            Foretold one = isUndo(path) || memory.at(path) != null ? null : effect(path, row);
            if (one != null) {
                all.add(guarded(one.perhaps(isCertain(path))));
            }
        });
        all.addAll(ahead());
        return all;
    }

    private static boolean isUndo(String path) {
        return StepPath.undoOf(StepPath.scopeOf(path)) != null;
    }

    /** Of what an earlier run did and the last one did not come to: whether the next one will. */
    private boolean isCertain(String path) {
        List<Expected> next = past.versions().next();
        Expected here = next == null ? null : Versions.find(next, path);
        return here != null && here.place().certain();
    }

    /** What was done for another input, or was undone since, is not simply reused. */
    private Foretold guarded(Foretold one) {
        if (!one.isDeed() || !one.action().isSafe() || one.action() == Action.RUN_AGAIN) {
            return one;
        }
        if (terms.otherInput()) {
            return one.instead(Action.ASK, "its key was made for the input that the run had");
        }
        return undone && one.action() == Action.REUSE
                ? one.instead(Action.ASK, "the run failed and undid what it had done")
                : one;
    }

    /** It is done again on purpose. A deed is then doubled, which nobody should do by accident. */
    private static Foretold again(String path, Memory.Trace trace, boolean confirmed) {
        String kind = trace.kind().word();
        if (trace.kind() == Entry.Kind.STEP) {
            return told(path, kind, Action.RUN_AGAIN, "it is to be done again");
        }
        return confirmed
                ? told(path, kind, Action.SEND, "it is done again on purpose, with a key of its own")
                : told(path, kind, Action.ASK, "it is to be done again, and that is not confirmed");
    }

    private @Nullable Foretold recorded(String path, Memory.Trace trace) {
        boolean kept = carried.contains(path);
        return switch (trace.kind()) {
            case STEP -> kept ? reuse(path, "step") : told(path, "step", Action.RUN_AGAIN, "it is a plain step");
            case TX -> kept ? reuse(path, "tx") : tx(path, trace);
            case APPROVAL -> kept ? reuse(path, "approval") : told(path, "approval", Action.ASK, "it is asked again");
            case CALL -> kept ? reuse(path, "call") : call(path, trace);
            case EFFECT -> kept ? reuse(path, "effect") : effect(path, rows.get(path));
            case AWAIT -> kept ? null : await(path, trace);
            case SIGNAL ->
                kept || trace.done() == null || at(path, "signal") == Versions.Place.SAME
                        ? null // its key is known where it went
                        : told(path, "signal", Action.ASK, "another version sent it, and this one may send it again");
            case SLEEP, NOW, UUID, RANDOM, STATUS -> null;
        };
    }

    private Versions.Place at(String path, String kind) {
        return past.versions().at(path, kind);
    }

    private static Foretold reuse(String path, String kind) {
        return told(path, kind, Action.REUSE, "its result is on record");
    }

    private @Nullable Foretold tx(String path, Memory.Trace trace) {
        Versions.Place place = at(path, "tx");
        if (trace.done() == null) {
            return place == Versions.Place.GONE
                    ? null
                    : told(path, "tx", Action.RUN_AGAIN, "what it wrote was rolled back");
        }
        return switch (place) {
            case SAME, CHANGED -> told(path, "tx", Action.REUSE, "its rows and its record were one commit");
            case GONE, UNKNOWN -> strange(path, "tx", place);
        };
    }

    /** The engine follows the run that is on record at this place, or what replayed that one since. */
    private @Nullable Foretold call(String path, Memory.Trace trace) {
        Versions.Place place = at(path, "call");
        String ref = trace.begun() == null ? null : trace.begun().ref();
        if (ref == null) {
            return place == Versions.Place.GONE
                    ? null
                    : told(path, "call", Action.SEND, "it was asked for, and no run was started");
        }
        if (place != Versions.Place.SAME) {
            return strange(path, "call", place);
        }
        Called called = past.called().get(ref);
        if (called == null || called.going()) {
            return told(path, "call", Action.ASK, "run " + ref + " that it called is not kept any more");
        }
        String who = "run " + called.runId();
        return switch (called.state()) {
            case COMPLETED -> told(path, "call", Action.REUSE, "it finds " + who + ", which completed");
            case FAILED -> told(path, "call", Action.ASK, who + " that it called has failed: replay that first");
            case CANCELLED -> told(path, "call", Action.ASK, who + " that it called was cancelled: replay that first");
            case QUEUED, STARTED, RUNNING, WAITING, IN_DOUBT ->
                told(path, "call", Action.REUSE, "it waits for " + who + ", which has not ended");
        };
    }

    /** Signals are sent to a run: what the old one took does not come to the new one. */
    private @Nullable Foretold await(String path, Memory.Trace trace) {
        if (at(path, "await") == Versions.Place.GONE) {
            return null;
        }
        Entry.Done done = trace.done();
        return done != null && done.how() != Entry.How.TIMED_OUT
                ? told(path, "await", Action.ASK, "what it waited for went to the old run, and has to be sent again")
                : told(path, "await", Action.RUN_AGAIN, "it waits again");
    }

    /** The same question that the engine will ask: who holds the row, and what does the protection say? */
    private @Nullable Foretold effect(String path, Ledger.@Nullable Row row) {
        Versions.Place place = at(path, "effect");
        if (row == null) {
            return place == Versions.Place.GONE
                    ? null
                    : told(path, "effect", Action.SEND, "it was asked for and never sent");
        }
        String protection = row.facts().protection();
        boolean loose = protection.equals("repeatable") || protection.equals("none");
        if (row.state() == Ledger.State.FREE && !loose) {
            return place == Versions.Place.GONE
                    ? null
                    : told(path, "effect", Action.SEND, "it was refused, or did not leave");
        }
        boolean done = row.state() == Ledger.State.DONE;
        Foretold one = switch (place) {
            case SAME -> done ? found(path) : sent(path, row);
            // What is done is found by the place alone, whatever protects it now.
            case CHANGED -> done ? found(path) : strange(path, "effect", place);
            case GONE -> protection.equals("repeatable") ? null : strange(path, "effect", place);
            case UNKNOWN -> strange(path, "effect", place);
        };
        boolean other = past.otherData().contains(row.holder().run());
        return other && one != null && one.action().isSafe() && one.action() != Action.RUN_AGAIN
                ? one.instead(Action.ASK, "it was done, or may have been, for another input")
                : one;
    }

    private static Foretold found(String path) {
        return told(path, "effect", Action.REUSE, "the ledger has its result");
    }

    /** An earlier run did it, or may have, and the version that comes next does not simply find that. */
    private static Foretold strange(String path, String kind, Versions.Place place) {
        String why = switch (place) {
            case CHANGED -> "another version did it, or may have; this one protects or names it in another way";
            case GONE -> "another version did it, or may have; this one has no such step, and may do it elsewhere";
            case SAME, UNKNOWN ->
                "another version did it, or may have; what this one does is code and not known beforehand";
        };
        return told(path, kind, Action.ASK, why);
    }

    /** It may have happened, and what protects it says what comes next. */
    private Foretold sent(String path, Ledger.Row row) {
        long until = row.expiresAt();
        return switch (row.facts().protection()) {
            case "repeatable" -> told(path, "effect", Action.RUN_AGAIN, "it may be repeated");
            case "none" -> told(path, "effect", Action.UNPROTECTED, "it may have happened, and nothing protects it");
            case "provider_key" ->
                past.now() < until
                        ? new Foretold(path, "effect", Action.RESEND, "the provider still knows its key", until, true)
                        : told(path, "effect", Action.ASK, "the provider may have forgotten its key");
            case "lookup" -> told(path, "effect", Action.CHECK, "it may have happened; the provider is asked");
            case "at_most_once" -> told(path, "effect", Action.REUSE, "it is never sent again and stays indeterminate");
            default -> told(path, "effect", Action.ASK, "it may have happened");
        };
    }

    /** What the workflow declares and no run came to. */
    private List<Foretold> ahead() {
        List<Foretold> all = new ArrayList<>();
        for (Expected one : Objects.requireNonNullElse(past.versions().next(), List.<Expected>of())) {
            if (one.place().loops() || !isMet(one)) {
                all.add(first(one));
            }
        }
        return all;
    }

    private boolean isMet(Expected one) {
        boolean recorded = memory.traces().entrySet().stream()
                .anyMatch(trace -> trace.getValue().kind().word().equals(one.kind())
                        && one.place().covers(trace.getKey()));
        return recorded
                || (one.kind().equals("effect")
                        && rows.keySet().stream().anyMatch(path -> one.place().covers(path)));
    }

    private static Foretold first(Expected one) {
        boolean certain = one.place().certain() && !one.across();
        String why = one.across()
                ? "unless another run did it under the same key"
                : certain ? "it was not come to" : "only if the run comes to it";
        String more = switch (one.kind()) {
            case "call" -> "; it starts a run of \"" + one.protection() + "\", which is not told here";
            case "await" -> "; it waits for what is sent to the new run";
            case "approval" -> "; a person is asked";
            default -> "";
        };
        boolean again = one.protection().equals("repeatable") || one.kind().equals("await");
        return new Foretold(
                one.place().shown(), one.kind(), again ? Action.RUN_AGAIN : Action.SEND, why + more, 0, certain);
    }

    private static Foretold told(String path, String kind, Action action, String why) {
        return new Foretold(path, kind, action, why, 0, true);
    }
}
