package dev.semel.replay;

import dev.semel.effect.Ledger;
import dev.semel.journal.Entry;
import dev.semel.journal.Memory;
import dev.semel.run.RunState;
import dev.semel.run.StepId;
import dev.semel.run.StepPath;
import dev.semel.workflow.Expected;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * What a safe replay of a run will do, step by step, told before anything is done. It looks at the same record that the
 * engine will look at: the journal, the rows of the ledger, and what protects each effect.
 */
public final class Foresight {
    private final Past past;
    private final Set<String> carried;
    private final Map<String, Ledger.Row> rows = new HashMap<>();

    private Foresight(Past past, Set<String> carried) {
        this.past = past;
        this.carried = carried;
        for (Ledger.Row row : past.rows()) {
            String path = row.facts().path();
            if (row.holder().step().equals(StepId.of(past.lineage(), path).text())) {
                rows.merge(path, row, Foresight::telling);
            }
        }
    }

    /** An effect across runs has two rows; what is done under the step's own is done, whatever became of the other. */
    private static Ledger.Row telling(Ledger.Row one, Ledger.Row other) {
        return one.state() == Ledger.State.DONE || other.state() == Ledger.State.FREE ? one : other;
    }

    public static List<Foretold> of(Past past, Terms terms) {
        Memory memory = new Memory(past.entries());
        Set<String> carried =
                Carried.of(past.entries(), terms).stream().map(Entry::path).collect(Collectors.toSet());
        Foresight foresight = new Foresight(past, carried);
        List<Foretold> all = new ArrayList<>();
        memory.traces().forEach((path, trace) -> {
            Foretold one = terms.redo().contains(path)
                    ? again(path, trace, terms.confirmed())
                    : foresight.recorded(path, trace);
            if (one != null && StepPath.undoOf(StepPath.scopeOf(path)) == null) {
                all.add(guarded(one, terms, !memory.undos().isEmpty()));
            }
        });
        all.addAll(foresight.ahead(memory));
        return all;
    }

    /** What was done for another input, or was undone since, is not simply reused. */
    private static Foretold guarded(Foretold one, Terms terms, boolean undone) {
        boolean deed = one.kind().equals("effect")
                || one.kind().equals("tx")
                || one.kind().equals("call");
        if (!deed || !one.action().isSafe() || one.action() == Action.RUN_AGAIN) {
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
            case TX ->
                trace.done() != null
                        ? told(path, "tx", Action.REUSE, "its rows and its record were one commit")
                        : told(path, "tx", Action.RUN_AGAIN, "what it wrote was rolled back");
            case APPROVAL -> kept ? reuse(path, "approval") : told(path, "approval", Action.ASK, "it is asked again");
            case CALL ->
                trace.failed() != null && !kept
                        ? told(path, "call", Action.ASK, "the run that it called failed, and is found again")
                        : told(path, "call", Action.REUSE, "it finds the run that it called before");
            case EFFECT -> kept ? reuse(path, "effect") : effect(path, rows.get(path));
            case SLEEP, AWAIT, SIGNAL, NOW, UUID, RANDOM, STATUS -> null;
        };
    }

    private static Foretold reuse(String path, String kind) {
        return told(path, kind, Action.REUSE, "its result is on record");
    }

    /** The same question that the engine will ask: who holds the row, and what does the protection say? */
    private Foretold effect(String path, Ledger.@Nullable Row row) {
        if (row == null) {
            return told(path, "effect", Action.SEND, "it was asked for and never sent");
        }
        String protection = row.facts().protection();
        return switch (row.state()) {
            case DONE -> told(path, "effect", Action.REUSE, "the ledger has its result");
            case FREE ->
                protection.equals("repeatable") || protection.equals("none")
                        ? sent(path, row)
                        : told(path, "effect", Action.SEND, "it was refused, or did not leave");
            case RESERVED, UNKNOWN -> sent(path, row);
        };
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

    /** What the workflow declares and the run did not come to. A run that completed has nothing before it. */
    private List<Foretold> ahead(Memory memory) {
        List<Foretold> all = new ArrayList<>();
        List<Expected> expected = past.state() == RunState.COMPLETED ? null : past.expected();
        Set<String> met = new HashSet<>();
        memory.traces().keySet().forEach(path -> met.addAll(List.of(path.split("(\\[[^/]*)?/", -1))));
        for (Expected one : expected == null ? List.<Expected>of() : expected) {
            if (!met.contains(one.step()) || one.loops()) {
                boolean again = one.protection().equals("repeatable");
                String why = one.certain() ? "it was not come to" : "only if the run comes to it";
                Action action = again ? Action.RUN_AGAIN : Action.SEND;
                all.add(new Foretold(one.step(), "effect", action, why, 0, one.certain()));
            }
        }
        return all;
    }

    private static Foretold told(String path, String kind, Action action, String why) {
        return new Foretold(path, kind, action, why, 0, true);
    }
}
