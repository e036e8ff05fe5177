package dev.semel.replay;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.semel.effect.Ledger;
import dev.semel.effect.Ledger.State;
import dev.semel.journal.Entry;
import dev.semel.journal.Entry.Kind;
import dev.semel.json.Json;
import dev.semel.run.RunId;
import dev.semel.run.RunState;
import dev.semel.run.StepId;
import dev.semel.workflow.Expected;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Records of runs that were, for those who foretell. */
final class Samples {
    static final RunId LINE = new RunId(1, 1);
    static final long NOW = 1_000;
    static final Entry.Problem PROBLEM = new Entry.Problem("refused", List.of("Refused"), "no");
    static final Terms START = new Terms(Terms.START, false, false);
    static final Terms OTHER = new Terms("", false, true);

    static Entry done(String path, Kind kind) {
        return Entry.Done.plain(path, kind, 5, Json.parse("1"));
    }

    static Entry failed(String path, Kind kind) {
        return new Entry.Failed(path, kind, 6, PROBLEM, 1);
    }

    static Entry begun(String path, Kind kind) {
        return new Entry.Begun(path, kind, 4, 0, null);
    }

    static Ledger.Row row(String path, State state, String protection, long until) {
        String step = StepId.of(LINE, path).text();
        return new Ledger.Row(
                new Ledger.Id(1, path),
                new Ledger.Holder(step, LINE, 1, 1),
                state,
                1,
                1,
                10,
                state == State.DONE ? 20 : 0,
                0,
                until,
                null,
                state == State.DONE ? "1" : null,
                new Ledger.Facts("k", path, "wf", protection, "create", null, null));
    }

    static Past past(List<Entry> entries, List<Ledger.Row> rows, @Nullable List<Expected> expected) {
        return past(RunState.FAILED, entries, rows, Versions.one(expected));
    }

    static Past past(RunState state, List<Entry> entries, List<Ledger.Row> rows, Versions versions) {
        return new Past(LINE, state, entries, rows, versions, Map.of(), NOW);
    }

    static Expected declares(String path, String protection, boolean certain, boolean loops) {
        return new Expected(new Expected.Place(path, certain, loops, ""), "effect", protection, protection);
    }

    static Expected declares(String path, String protection) {
        return declares(path, protection, true, false);
    }

    static List<Action> actions(List<Foretold> all) {
        return all.stream().map(Foretold::action).toList();
    }

    static Action only(Past past, Terms terms) {
        List<Foretold> all = Foresight.of(past, terms);
        assertEquals(1, all.size(), all::toString);
        return all.getFirst().action();
    }

    private Samples() {}
}
