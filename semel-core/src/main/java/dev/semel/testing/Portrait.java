package dev.semel.testing;

import dev.semel.Semel;
import dev.semel.effect.Ledger;
import dev.semel.journal.Entry;
import dev.semel.journal.Journal;
import dev.semel.json.Json;
import dev.semel.run.RunId;
import dev.semel.store.Reads;
import dev.semel.store.Rows;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Describes the runs of a store as text for failed tests, and checks that their rows are consistent. */
final class Portrait {
    private static final int MOST_RUNS = 1_000;
    /** Wait reasons of a held run, which only a user or a deployment can continue. */
    private static final Set<String> HELD = Set.of("code", "poison");

    private Portrait() {}

    private static List<Rows.Run> runs(Semel semel) {
        int workspace = semel.backstage().workspace();
        var all = new Reads.RunFilter(workspace, null, null, null, false, 0, null, MOST_RUNS);
        return Objects.requireNonNull(semel.view(reads -> reads.runs(all)));
    }

    static String of(Semel semel) {
        List<Rows.Run> runs = runs(semel);
        if (runs.isEmpty()) {
            return "There are no runs.";
        }
        StringBuilder out = new StringBuilder("The runs, newest first:");
        for (Rows.Run run : runs) {
            out.append("\n  ").append(run.runIdText()).append(' ').append(workflow(semel, run));
            out.append(' ').append(run.state().word());
            Rows.Work work = run.work();
            if (work != null && work.waits() != null) {
                out.append(", waits ").append(work.waits());
            }
            Rows.End end = run.end();
            if (end != null && end.ending().errorCode() != null) {
                out.append(", ").append(end.ending().errorCode());
                out.append(" in ").append(end.ending().errorStep());
            }
            entries(semel, run).forEach(entry -> out.append("\n    ").append(line(entry)));
        }
        return out.toString();
    }

    private static String workflow(Semel semel, Rows.Run run) {
        Rows.Version version = semel.view(reads -> reads.version(run.workflowId(), run.version()));
        return version == null ? run.workflowId() : version.name();
    }

    private static List<Entry> entries(Semel semel, Rows.Run run) {
        List<Entry> entries = new ArrayList<>();
        Objects.requireNonNull(semel.view(reads -> reads.journal(run.id())))
                .forEach(chunk -> entries.addAll(Journal.decode(chunk.entries())));
        // Lists omit the journal entries of the end, so read the run on its own.
        Rows.Run whole = semel.view(reads -> reads.claimed(run.id()));
        if (whole != null && whole.end() != null) {
            entries.addAll(Journal.decode(whole.end().entries()));
        }
        return entries;
    }

    private static String line(Entry entry) {
        String what = entry.kind().word() + " " + entry.path();
        return switch (entry) {
            case Entry.Done done -> what + ": " + done.how().word() + ", attempt " + done.attempts();
            case Entry.Failed failed -> what + ": failed, attempt " + failed.attempts();
            case Entry.Tried tried -> what + ": tried, attempt " + tried.attempt();
            case Entry.Begun _ -> what + ": begun";
            case Entry.Resumed resumed -> "resumed by " + resumed.by();
            case Entry.Redo redo -> "repeats " + redo.paths();
            case Entry.Quiet _ -> "sends no notification";
        };
    }

    /** Throws an error that lists every inconsistency of the rows. */
    static void check(Semel semel) {
        List<String> wrong = new ArrayList<>();
        for (Rows.Run run : runs(semel)) {
            if ((run.work() == null) == (run.end() == null)) {
                wrong.add("run " + run.runIdText() + " has both a work row and an end row, or neither");
            }
            if (run.end() != null) {
                for (Ledger.Row effect : effects(semel, run.id())) {
                    if (effect.state() == Ledger.State.RESERVED) {
                        wrong.add("run " + run.runIdText() + " ended, and effect "
                                + effect.facts().path() + " still has an open intent");
                    }
                }
            }
        }
        if (!wrong.isEmpty()) {
            throw new AssertionError(String.join("; ", wrong) + ". " + of(semel));
        }
    }

    private static List<Ledger.Row> effects(Semel semel, RunId run) {
        return Objects.requireNonNull(semel.view(reads -> reads.effects(run)));
    }

    /** Why a started run is lost: it is missing, or held without an automatic continuation. Null if it is not lost. */
    static @Nullable String lost(Rows.@Nullable Run run) {
        if (run == null) {
            return "it is not in the store";
        }
        Rows.Work work = run.work();
        String waits = work == null ? null : work.waits();
        String reason = waits == null ? "" : Json.parse(waits).path("for").asString("");
        return HELD.contains(reason) ? "it is held: " + waits : null;
    }
}
