package dev.semel.replay;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.semel.definition.DeclaredStep;
import dev.semel.effect.EffectLedger;
import dev.semel.effect.EffectLedger.EffectState;
import dev.semel.journal.JournalEntry;
import dev.semel.journal.JournalEntry.EntryKind;
import dev.semel.json.StrictJsonCodec;
import dev.semel.run.RunId;
import dev.semel.run.RunState;
import dev.semel.run.StepId;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Records of runs that were, for those who predict. */
final class SampleRuns {
    static final RunId LINE = new RunId(1, 1);
    static final long NOW = 1_000;
    static final JournalEntry.ErrorDetails PROBLEM = new JournalEntry.ErrorDetails("refused", List.of("Refused"), "no");
    static final ReplayOptions START = new ReplayOptions(ReplayOptions.START, false, false);
    static final ReplayOptions OTHER = new ReplayOptions("", false, true);

    static JournalEntry done(String path, EntryKind kind) {
        return JournalEntry.StepResult.plain(path, kind, 5, StrictJsonCodec.parse("1"));
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
                new EffectLedger.EffectDetails("k", path, "wf", protection, "create", null, null),
                EffectLedger.LastSend.NONE);
    }

    static ReplayPlannerInput past(
            List<JournalEntry> entries, List<EffectLedger.EffectRow> rows, @Nullable List<DeclaredStep> expected) {
        return past(RunState.FAILED, entries, rows, ReplayDeclaredStepsByVersion.single(expected));
    }

    static ReplayPlannerInput past(
            RunState state,
            List<JournalEntry> entries,
            List<EffectLedger.EffectRow> rows,
            ReplayDeclaredStepsByVersion versions) {
        return new ReplayPlannerInput(LINE, state, entries, rows, versions, Map.of(), Set.of(), NOW);
    }

    static DeclaredStep declares(String path, String protection, boolean certain, boolean loops) {
        return new DeclaredStep(
                new DeclaredStep.StepLocation(path, certain, loops, ""), "effect", protection, protection);
    }

    static DeclaredStep declares(String path, String protection) {
        return declares(path, protection, true, false);
    }

    static List<SafeReplayStepAction> actions(List<PlannedReplayStep> all) {
        return all.stream().map(PlannedReplayStep::action).toList();
    }

    static SafeReplayStepAction only(ReplayPlannerInput source, ReplayOptions terms) {
        List<PlannedReplayStep> all = ReplayStepPlanner.plan(source, terms);
        assertEquals(1, all.size(), all::toString);
        return all.getFirst().action();
    }

    private SampleRuns() {}
}
