package dev.semel.replay;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.semel.effect.EffectLedger;
import dev.semel.effect.EffectLedger.EffectState;
import dev.semel.journal.JournalEntry;
import dev.semel.journal.JournalEntry.EntryKind;
import dev.semel.json.StrictJson;
import dev.semel.run.RunId;
import dev.semel.workflow.RunState;
import dev.semel.run.StepId;
import dev.semel.definition.DeclaredStep;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Records of runs that were, for those who foretell. */
final class Samples {
    static final RunId LINE = new RunId(1, 1);
    static final long NOW = 1_000;
    static final JournalEntry.ErrorDetails PROBLEM = new JournalEntry.ErrorDetails("refused", List.of("Refused"), "no");
    static final ReplayOptions START = new ReplayOptions(ReplayOptions.START, false, false);
    static final ReplayOptions OTHER = new ReplayOptions("", false, true);

    static JournalEntry done(String path, EntryKind kind) {
        return JournalEntry.StepResult.plain(path, kind, 5, StrictJson.parse("1"));
    }

    static JournalEntry failed(String path, EntryKind kind) {
        return new JournalEntry.StepFailure(path, kind, 6, PROBLEM, 1);
    }

    static JournalEntry begun(String path, EntryKind kind) {
        return new JournalEntry.WaitStart(path, kind, 4, 0, null);
    }

    static EffectLedger.EffectRow row(String path, EffectState state, String protection, long until) {
        String step = StepId.of(LINE, path).text();
        return new EffectLedger.EffectRow(
                new EffectLedger.EffectId(1, path),
                new EffectLedger.EffectHolder(step, LINE, 1, 1),
                state,
                1,
                1,
                10,
                state == EffectState.DONE ? 20 : 0,
                0,
                until,
                null,
                state == EffectState.DONE ? "1" : null,
                new EffectLedger.EffectDetails("k", path, "wf", protection, "create", null, null));
    }

    static ReplaySource past(List<JournalEntry> entries, List<EffectLedger.EffectRow> rows, @Nullable List<DeclaredStep> expected) {
        return past(RunState.FAILED, entries, rows, DeclaredVersions.single(expected));
    }

    static ReplaySource past(RunState state, List<JournalEntry> entries, List<EffectLedger.EffectRow> rows, DeclaredVersions versions) {
        return new ReplaySource(LINE, state, entries, rows, versions, Map.of(), NOW);
    }

    static DeclaredStep declares(String path, String protection, boolean certain, boolean loops) {
        return new DeclaredStep(new DeclaredStep.StepLocation(path, certain, loops, ""), "effect", protection, protection);
    }

    static DeclaredStep declares(String path, String protection) {
        return declares(path, protection, true, false);
    }

    static List<ReplayAction> actions(List<PlannedStep> all) {
        return all.stream().map(PlannedStep::action).toList();
    }

    static ReplayAction only(ReplaySource past, ReplayOptions terms) {
        List<PlannedStep> all = ReplayPlanner.plan(past, terms);
        assertEquals(1, all.size(), all::toString);
        return all.getFirst().action();
    }

    private Samples() {}
}
