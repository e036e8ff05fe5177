package dev.semel.testing;

import dev.semel.effect.EffectLedger;
import dev.semel.journal.JournalCodec;
import dev.semel.journal.JournalEntry;
import dev.semel.run.RunId;
import dev.semel.run.RunState;
import dev.semel.runtime.SemelRuntime;
import dev.semel.store.DatabaseRows;
import dev.semel.store.StoreQueries;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Describes the runs of a store as text for failed tests, and checks that their rows are consistent. */
final class TestRunConsistencyChecker {
    private static final int MOST_RUNS = 1_000;

    private TestRunConsistencyChecker() {}

    private static List<DatabaseRows.RunRow> runs(SemelRuntime semel) {
        int workspace = semel.testAccess().workspace();
        var all = new StoreQueries.RunFilter(workspace, null, null, null, false, 0, null, MOST_RUNS, null);
        return Objects.requireNonNull(semel.view(reads -> reads.runs(all)));
    }

    static String describe(SemelRuntime semel) {
        List<DatabaseRows.RunRow> runs = runs(semel);
        if (runs.isEmpty()) {
            return "There are no runs.";
        }
        StringBuilder out = new StringBuilder("The runs, newest first:");
        for (DatabaseRows.RunRow run : runs) {
            out.append("\n  ").append(run.runIdText()).append(' ').append(workflow(semel, run));
            out.append(' ').append(run.state().wireName());
            DatabaseRows.RunProgress work = run.progress();
            if (work != null && work.waitingFor() != null) {
                out.append(", waits ").append(work.waitingFor());
            }
            DatabaseRows.RunEnd end = run.end();
            if (end != null && end.result().errorCode() != null) {
                out.append(", ").append(end.result().errorCode());
                out.append(" in ").append(end.result().errorStep());
            }
            entries(semel, run).forEach(entry -> out.append("\n    ").append(line(entry)));
        }
        return out.toString();
    }

    private static String workflow(SemelRuntime semel, DatabaseRows.RunRow run) {
        DatabaseRows.VersionRow version = semel.view(reads -> reads.version(run.workflowId(), run.version()));
        return version == null ? run.workflowId() : version.name();
    }

    private static List<JournalEntry> entries(SemelRuntime semel, DatabaseRows.RunRow run) {
        List<JournalEntry> entries = new ArrayList<>();
        Objects.requireNonNull(semel.view(reads -> reads.journal(run.id())))
                .forEach(chunk -> entries.addAll(JournalCodec.decode(chunk.entries())));
        // Lists omit the journal entries of the end, so read the run on its own.
        DatabaseRows.RunRow whole = semel.view(reads -> reads.claimedRun(run.id()));
        if (whole != null && whole.end() != null) {
            entries.addAll(JournalCodec.decode(whole.end().entries()));
        }
        return entries;
    }

    private static String line(JournalEntry entry) {
        String what = entry.kind().word() + " " + entry.path();
        return switch (entry) {
            case JournalEntry.StepResult done -> what + ": " + done.outcome().word() + ", attempt " + done.attempts();
            case JournalEntry.StepFailure failed -> what + ": failed, attempt " + failed.attempts();
            case JournalEntry.AttemptFailure tried -> what + ": tried, attempt " + tried.attempt();
            case JournalEntry.WaitStart _ -> what + ": begun";
            case JournalEntry.RunResumption resumed -> "resumed by " + resumed.by();
            case JournalEntry.RedoRequest redo -> "repeats " + redo.paths();
            case JournalEntry.NotificationMute _ -> "sends no notification";
        };
    }

    /** Throws an error that lists every inconsistency of the rows. */
    static void checkRows(SemelRuntime semel) {
        List<String> wrong = new ArrayList<>();
        for (DatabaseRows.RunRow run : runs(semel)) {
            if ((run.progress() == null) == (run.end() == null)) {
                wrong.add("run " + run.runIdText() + " has both a work row and an end row, or neither");
            }
            if (run.end() != null) {
                for (EffectLedger.EffectRow effect : effects(semel, run.id())) {
                    if (effect.state() == EffectLedger.EffectState.RESERVED) {
                        wrong.add("run " + run.runIdText() + " ended, and effect "
                                + effect.details().path() + " still has an open intent");
                    }
                }
            }
        }
        if (!wrong.isEmpty()) {
            throw new AssertionError(String.join("; ", wrong) + ". " + describe(semel));
        }
    }

    private static List<EffectLedger.EffectRow> effects(SemelRuntime semel, RunId run) {
        return Objects.requireNonNull(semel.view(reads -> reads.effects(run)));
    }

    /** Why a started run is lost: it is missing, or held without an automatic continuation. Null if it is not lost. */
    static @Nullable String lostReason(DatabaseRows.@Nullable RunRow run) {
        if (run == null) {
            return "it is not in the store";
        }
        DatabaseRows.RunProgress work = run.progress();
        return work != null && run.state() == RunState.HELD ? "it is held: " + work.waitingFor() : null;
    }
}
