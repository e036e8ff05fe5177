package dev.semel.engine;

import dev.semel.effect.Ledger;
import dev.semel.journal.Entry;
import dev.semel.journal.Journal;
import dev.semel.journal.Memory;
import dev.semel.journal.Resumptions;
import dev.semel.json.Json;
import dev.semel.key.Known;
import dev.semel.replay.Carried;
import dev.semel.replay.Notify;
import dev.semel.replay.Outlook;
import dev.semel.replay.Past;
import dev.semel.replay.Resume;
import dev.semel.replay.Terms;
import dev.semel.run.RunId;
import dev.semel.run.RunState;
import dev.semel.run.StepId;
import dev.semel.run.StepPath;
import dev.semel.store.Edit;
import dev.semel.store.NewRun;
import dev.semel.store.Reads;
import dev.semel.store.Rows;
import dev.semel.store.Wish;
import dev.semel.workflow.Current;
import dev.semel.workflow.Expected;
import dev.semel.workflow.Published;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Checks whether a failed run can be resumed in place, predicts its steps and builds the edit. Writes nothing. */
public final class Resumer {
    private static final Set<Entry.Kind> SKIPPED =
            Set.of(Entry.Kind.STEP, Entry.Kind.EFFECT, Entry.Kind.TX, Entry.Kind.CALL);

    private final Readers readers;
    private final ReplayDoor admission;
    private final Planner planner;

    Resumer(Readers readers, ReplayDoor admission, Planner planner) {
        this.readers = readers;
        this.admission = admission;
        this.planner = planner;
    }

    /**
     * The predicted resumption, step by step.
     *
     * @param edit the change; null if it is blocked
     * @param instead what to do if it is blocked
     */
    public record Prospect(Outlook outlook, Edit.@Nullable Resume edit, String instead) {}

    /** A run with its journal, its lineage and the ledger rows of the lineage. */
    private record Seen(
            Rows.Run run, List<Reads.Chunk> chunks, List<Rows.Run> lineage, List<Ledger.Row> rows, long now) {
        List<Entry> entries() {
            return Earlier.record(run, chunks);
        }
    }

    /** Why a run cannot be resumed, and what to do instead. */
    private static final class Blocked extends Exception {
        private static final long serialVersionUID = 1L;
        private final String instead;

        Blocked(String why, String instead) {
            super(why, null, false, false);
            this.instead = instead;
        }
    }

    public Prospect look(Rows.Run row, Resume options, RunId request) {
        Seen seen = readers.ask(reads -> seen(reads, row));
        try {
            rejectState(seen);
            rejectFollowed(seen);
            return prospect(seen, options, request);
        } catch (Blocked e) {
            return new Prospect(Outlook.blocked(String.valueOf(e.getMessage())), null, e.instead);
        }
    }

    private static Seen seen(Reads reads, Rows.Run row) {
        List<Reads.Recorded> found = reads.recorded(List.of(row.id()));
        Rows.Run run = found.isEmpty() ? row : found.getFirst().run();
        List<RunId> members = Earlier.members(reads, run.lineage());
        List<Rows.Run> lineage = new ArrayList<>();
        for (RunId member : members) {
            Rows.Run one = reads.run(run.ws(), member);
            if (one != null) {
                lineage.add(one);
            }
        }
        List<Reads.Chunk> chunks =
                found.isEmpty() ? List.of() : found.getFirst().journal();
        return new Seen(run, chunks, lineage, reads.effects(members), reads.now());
    }

    private void rejectState(Seen seen) throws Blocked {
        Rows.Run run = seen.run();
        RunId parent = run.parent();
        switch (run.state()) {
            case IN_DOUBT -> throw new Blocked("it is in doubt", "Decide its review; then it continues by itself.");
            case COMPLETED -> throw new Blocked("it has completed", "There is nothing left to do.");
            case CANCELLED ->
                throw new Blocked("it was cancelled", "To run it after all, replay it: POST /v1/replays.");
            case QUEUED, STARTED, RUNNING, WAITING ->
                throw new Blocked("it has not ended", "Check its state: GET /v1/runs/" + run.runIdText() + ".");
            case FAILED -> {}
        }
        if (parent != null) {
            throw new Blocked(
                    "run " + parent.text() + " called it and has recorded its failure",
                    "Resume that run, and set the result of the calling step with skip.");
        }
        if (planner.isGoing(run, seen.now())) {
            throw new Blocked("its retention is over and its data is being deleted", "Start a new run.");
        }
    }

    private static void rejectFollowed(Seen seen) throws Blocked {
        RunId id = seen.run().id();
        for (Rows.Run other : seen.lineage()) {
            if (id.equals(other.replayOf())) {
                throw new Blocked("it was replayed by " + other.runIdText(), "Resume that run, if it has failed.");
            }
            if (id.equals(other.previous())) {
                throw new Blocked(
                        "run " + other.runIdText() + " was started with its key after it had failed",
                        "Resume that run, if it has failed.");
            }
            if (other.createdAt() > seen.run().createdAt()) {
                throw new Blocked(
                        "run " + other.runIdText() + " is newer in its lineage",
                        "Resume that run, if it has failed.");
            }
        }
        if (Resumptions.count(seen.entries()) >= Resumptions.MOST) {
            throw new Blocked(
                    "it was resumed in place " + Resumptions.MOST + " times already", "Replay it: POST /v1/replays.");
        }
    }

    private Prospect prospect(Seen seen, Resume options, RunId request) throws Blocked {
        Rows.Run run = seen.run();
        List<Entry> entries = seen.entries();
        rejectRecordedActions(seen, new Memory(entries));
        List<String> opened = Carried.opened(entries);
        Resume.Skip skip = options.skip();
        if (skip != null) {
            rejectSkip(new Memory(entries).at(skip.step()), opened, skip);
        }
        Published version = version(run, entries, options);
        if (version.version() != Resumptions.version(entries, run.version())) {
            rejectMissingSteps(version, entries);
        }
        Past past = new Past(
                run.lineage(),
                run.state(),
                entries,
                seen.rows(),
                planner.versions(seen.lineage(), entries, version.version()),
                planner.calledBy(run),
                Planner.otherData(seen.lineage(), run),
                seen.now());
        Notify notify = new Memory(entries).isQuiet() ? Notify.NONE : Notify.MISSING;
        Outlook outlook = Outlook.of(past, Terms.USUAL.notifying(notify, past));
        var resumed = new Entry.Resumed(seen.now(), options.by(), options.reason(), opened, version.version());
        List<NewRun.Gate.Place> places = admission.places(run, version);
        Edit.Resume edit = edit(seen, options, new EditParts(resumed, places, request));
        return new Prospect(skip == null ? outlook : outlook.skipping(skip.step()), edit, "");
    }

    private static void rejectRecordedActions(Seen seen, Memory memory) throws Blocked {
        if (!memory.undos().isEmpty()) {
            throw new Blocked("it has compensated its steps", "To run it again, replay it: POST /v1/replays.");
        }
        for (String again : memory.redo()) {
            String step = StepId.of(seen.run().lineage(), again).text();
            boolean before = seen.rows().stream()
                    .anyMatch(row -> row.holder().step().equals(step)
                            && row.state() == Ledger.State.DONE
                            && !row.holder().run().equals(seen.run().id()));
            Memory.Trace trace = memory.at(again);
            if (before && (trace == null || trace.done() == null)) {
                throw new Blocked(
                        "it had to redo step \"" + again + "\" and did not reach it",
                        "Replay it, with redo if you still need that: POST /v1/replays.");
            }
        }
    }

    private static void rejectSkip(Memory.@Nullable Trace trace, List<String> opened, Resume.Skip skip) throws Blocked {
        if (trace == null || !opened.contains(skip.step())) {
            throw new Blocked(
                    "step \"" + skip.step() + "\" did not fail",
                    opened.isEmpty()
                            ? "No step of it failed; resume it without skip."
                            : "Skip " + opened + " instead.");
        }
        if (!SKIPPED.contains(trace.kind())) {
            throw new Blocked(
                    "step \"" + skip.step() + "\" is a wait, and waits cannot be skipped",
                    "Resume the run without skip; it waits there again.");
        }
    }

    private Published version(Rows.Run run, List<Entry> entries, Resume options) throws Blocked {
        Current current = admission.catalog().find(run.ws(), run.workflowId());
        if (current == null) {
            throw new Blocked("its workflow no longer exists", "Publish the workflow again.");
        }
        try {
            return options.asItIs()
                    ? current.published()
                    : admission.catalog().version(run.workflowId(), Resumptions.version(entries, run.version()));
        } catch (Catalog.NotKnownHere e) {
            throw new Blocked(
                    "the code of its workflow is not registered at this worker", "Use a worker that has the code.");
        }
    }

    /** Rejects a version without a recorded step. The engine holds the run for any other mismatch. */
    private static void rejectMissingSteps(Published version, List<Entry> entries) throws Blocked {
        List<Expected> expected = version.body().expected();
        if (expected == null) {
            return;
        }
        for (Entry entry : Carried.of(entries, Terms.USUAL)) {
            if (entry.kind() == Entry.Kind.EFFECT
                    && expected.stream().noneMatch(one -> one.place().covers(entry.path()))) {
                throw new Blocked(
                        "step \"" + StepPath.nameOf(entry.path()) + "\" is in its journal and not in version "
                                + version.version(),
                        "Resume it with its recorded version, or replay it with the current one: POST /v1/replays.");
            }
        }
    }

    /** Parts of the edit: the entry, the queues, and the id of the request. */
    private record EditParts(Entry.Resumed entry, List<NewRun.Gate.Place> places, RunId request) {}

    private static Edit.Resume edit(Seen seen, Resume options, EditParts parts) {
        Rows.Run run = seen.run();
        Rows.End end = Objects.requireNonNull(run.end());
        List<Entry> chunk = new ArrayList<>(end.entries().isEmpty() ? List.of() : Journal.decode(end.entries()));
        chunk.add(parts.entry());
        List<Ledger.Op> ops = new ArrayList<>();
        Resume.Skip skip = options.skip();
        if (skip != null) {
            Entry.Kind kind = Objects.requireNonNull(new Memory(seen.entries()).at(skip.step()))
                    .kind();
            String by = options.by() + "\n" + options.reason();
            chunk.add(new Entry.Done(skip.step(), kind, seen.now(), skip.result(), Entry.How.SKIPPED, 1, by));
            if (kind == Entry.Kind.EFFECT) {
                ops.addAll(settleSkipped(seen, skip));
            }
        }
        int count = Resumptions.count(seen.entries());
        String why = skip == null ? options.reason() : "skips " + skip.step() + ": " + options.reason();
        return new Edit.Resume(
                run.ws(),
                run.id(),
                end.endedAt(),
                new Wish(
                        Line.following(run.ws(), run.id(), count),
                        new byte[0],
                        Micros.of(Line.WINDOW),
                        Known.HOLD,
                        true),
                Resumptions.claims(count + 1),
                seen.chunks().isEmpty() ? 0 : seen.chunks().getLast().seq() + 1,
                Journal.encode(chunk),
                parts.places(),
                ops,
                new Edit.By(parts.request(), options.by(), why));
    }

    /** Settles a skipped effect as done, as a review decision does: no run of this lineage sends it from now on. */
    private static List<Ledger.Op> settleSkipped(Seen seen, Resume.Skip skip) {
        Rows.Run run = seen.run();
        String step = StepId.of(run.lineage(), skip.step()).text();
        String result = Json.write(skip.result());
        Ledger.Id own = Ledger.Id.step(run.ws(), step);
        List<Ledger.Op> ops = new ArrayList<>();
        Ledger.Facts facts = new Ledger.Facts(step, skip.step(), run.workflowId(), "ask", "update", null, null);
        boolean noted = false;
        for (Ledger.Row row : seen.rows()) {
            if (row.holder().step().equals(step) && row.state() != Ledger.State.DONE) {
                ops.add(new Ledger.Settle(row.id(), row.holder(), Ledger.State.DONE, result));
                noted |= row.id().equals(own);
                facts = row.facts();
            }
        }
        if (!noted) {
            ops.add(new Ledger.Note(own, new Ledger.Holder(step, run.id(), 0, 0), result, facts));
        }
        return ops;
    }

    /** Describes the state of the run after a rejected change. */
    public String now(Rows.Run row) {
        Seen seen = readers.ask(reads -> seen(reads, row));
        Entry.Resumed last = Resumptions.last(seen.entries());
        if (last != null && seen.run().state() != RunState.FAILED) {
            return last.by() + " resumed it at the same time";
        }
        try {
            rejectState(seen);
            rejectFollowed(seen);
        } catch (Blocked e) {
            return String.valueOf(e.getMessage());
        }
        return "it has ended again since the preview";
    }
}
