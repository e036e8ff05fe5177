package dev.semel.engine;

import dev.semel.effect.Ledger;
import dev.semel.journal.Entry;
import dev.semel.journal.Journal;
import dev.semel.journal.Memory;
import dev.semel.journal.Resumptions;
import dev.semel.json.Json;
import dev.semel.key.Known;
import dev.semel.replay.Carried;
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

/** Looks at a run that failed as it would go on in place, and writes the change that lets it. Changes nothing itself. */
public final class Resumer {
    private static final Set<Entry.Kind> SKIPPED =
            Set.of(Entry.Kind.STEP, Entry.Kind.EFFECT, Entry.Kind.TX, Entry.Kind.CALL);

    private final Readers readers;
    private final ReplayDoor door;
    private final Planner planner;

    Resumer(Readers readers, ReplayDoor door, Planner planner) {
        this.readers = readers;
        this.door = door;
        this.planner = planner;
    }

    /**
     * What would happen, step by step.
     *
     * @param edit the change; null where it is blocked
     * @param instead where it is blocked, what to do
     */
    public record Prospect(Outlook outlook, Edit.@Nullable Resume edit, String instead) {}

    /** The run, what it has on record, and what the ledger has of its lineage. */
    private record Seen(
            Rows.Run run, List<Reads.Chunk> chunks, List<Rows.Run> lineage, List<Ledger.Row> rows, long now) {
        List<Entry> entries() {
            return Earlier.record(run, chunks);
        }
    }

    /** Why it cannot be, and what can. */
    private static final class Blocked extends Exception {
        private static final long serialVersionUID = 1L;
        private final String instead;

        Blocked(String why, String instead) {
            super(why, null, false, false);
            this.instead = instead;
        }
    }

    public Prospect look(Rows.Run row, Resume wish, RunId request) {
        Seen seen = readers.ask(reads -> seen(reads, row));
        try {
            refuseState(seen);
            refuseFollowed(seen);
            return prospect(seen, wish, request);
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

    private void refuseState(Seen seen) throws Blocked {
        Rows.Run run = seen.run();
        RunId parent = run.parent();
        switch (run.state()) {
            case IN_DOUBT -> throw new Blocked("it is in doubt", "Answer its review; then it goes on by itself.");
            case COMPLETED -> throw new Blocked("it has completed", "There is nothing left to do.");
            case CANCELLED ->
                throw new Blocked("it was cancelled", "Replay it if it is to be done after all: POST /v1/replays.");
            case QUEUED, STARTED, RUNNING, WAITING ->
                throw new Blocked("it has not ended", "Look at what it does: GET /v1/runs/" + run.runIdText() + ".");
            case FAILED -> {}
        }
        if (parent != null) {
            throw new Blocked(
                    "run " + parent.text() + " called it and was told that it failed",
                    "Resume that run, and give it the result of the step that called this one: skip.");
        }
        if (planner.isGoing(run, seen.now())) {
            throw new Blocked("it ended so long ago that its record is being removed", "Start a new run.");
        }
    }

    private static void refuseFollowed(Seen seen) throws Blocked {
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
                        "run " + other.runIdText() + " came after it in its line",
                        "Resume that run, if it has failed.");
            }
        }
        if (Resumptions.count(seen.entries()) >= Resumptions.MOST) {
            throw new Blocked(
                    "it went on in place " + Resumptions.MOST + " times already", "Replay it: POST /v1/replays.");
        }
    }

    private Prospect prospect(Seen seen, Resume wish, RunId request) throws Blocked {
        Rows.Run run = seen.run();
        List<Entry> entries = seen.entries();
        refuseDeeds(seen, new Memory(entries));
        List<String> opened = Carried.opened(entries);
        Resume.Skip skip = wish.skip();
        if (skip != null) {
            refuseSkip(new Memory(entries).at(skip.step()), opened, skip);
        }
        Published version = version(run, entries, wish);
        if (version.version() != Resumptions.version(entries, run.version())) {
            refuseMissing(version, entries);
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
        Outlook outlook = Outlook.of(past, Terms.USUAL);
        var resumed = new Entry.Resumed(seen.now(), wish.by(), wish.reason(), opened, version.version());
        List<NewRun.Gate.Place> places = door.places(run, version);
        Edit.Resume edit = edit(seen, wish, new Ruling(resumed, places, request));
        return new Prospect(skip == null ? outlook : outlook.skipping(skip.step()), edit, "");
    }

    private static void refuseDeeds(Seen seen, Memory memory) throws Blocked {
        if (!memory.undos().isEmpty()) {
            throw new Blocked("it undid what it had done", "Replay it, if it is to be done again: POST /v1/replays.");
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
                        "it was to do step \"" + again + "\" again and did not come to it",
                        "Replay it, with redo if that is still meant: POST /v1/replays.");
            }
        }
    }

    private static void refuseSkip(Memory.@Nullable Trace trace, List<String> opened, Resume.Skip skip) throws Blocked {
        if (trace == null || !opened.contains(skip.step())) {
            throw new Blocked(
                    "step \"" + skip.step() + "\" is not what failed",
                    opened.isEmpty()
                            ? "No step of it failed; resume it without skip."
                            : "Skip " + opened + " instead.");
        }
        if (!SKIPPED.contains(trace.kind())) {
            throw new Blocked(
                    "step \"" + skip.step() + "\" waits for somebody, and is not skipped",
                    "Resume the run without skip; it waits there again.");
        }
    }

    private Published version(Rows.Run run, List<Entry> entries, Resume wish) throws Blocked {
        Current current = door.catalog().find(run.ws(), run.workflowId());
        if (current == null) {
            throw new Blocked("its workflow is gone", "Publish the workflow again.");
        }
        try {
            return wish.asItIs()
                    ? current.published()
                    : door.catalog().version(run.workflowId(), Resumptions.version(entries, run.version()));
        } catch (Catalog.NotKnownHere e) {
            throw new Blocked(
                    "the code of its workflow is not registered at this worker", "Ask a worker that has the code.");
        }
    }

    /** What is on record must be in the version that the run goes on by. What else does not fit is held by the engine. */
    private static void refuseMissing(Published version, List<Entry> entries) throws Blocked {
        List<Expected> expected = version.body().expected();
        if (expected == null) {
            return;
        }
        for (Entry entry : Carried.of(entries, Terms.USUAL)) {
            if (entry.kind() == Entry.Kind.EFFECT
                    && expected.stream().noneMatch(one -> one.place().covers(entry.path()))) {
                throw new Blocked(
                        "step \"" + StepPath.nameOf(entry.path()) + "\" is on its record and not in version "
                                + version.version(),
                        "Resume it by the version that it had, or replay it by the current one: POST /v1/replays.");
            }
        }
    }

    /** What was ruled: the entry, the queues, and the id of the request. */
    private record Ruling(Entry.Resumed entry, List<NewRun.Gate.Place> places, RunId request) {}

    private static Edit.Resume edit(Seen seen, Resume wish, Ruling ruling) {
        Rows.Run run = seen.run();
        Rows.End end = Objects.requireNonNull(run.end());
        List<Entry> chunk = new ArrayList<>(end.entries().isEmpty() ? List.of() : Journal.decode(end.entries()));
        chunk.add(ruling.entry());
        List<Ledger.Op> ops = new ArrayList<>();
        Resume.Skip skip = wish.skip();
        if (skip != null) {
            Entry.Kind kind = Objects.requireNonNull(new Memory(seen.entries()).at(skip.step()))
                    .kind();
            String by = wish.by() + "\n" + wish.reason();
            chunk.add(new Entry.Done(skip.step(), kind, seen.now(), skip.result(), Entry.How.SKIPPED, 1, by));
            if (kind == Entry.Kind.EFFECT) {
                ops.addAll(said(seen, skip));
            }
        }
        int count = Resumptions.count(seen.entries());
        String why = skip == null ? wish.reason() : "skips " + skip.step() + ": " + wish.reason();
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
                ruling.places(),
                ops,
                new Edit.By(ruling.request(), wish.by(), why));
    }

    /** A person says that the effect happened, as in a review: no run of this lineage sends it from now on. */
    private static List<Ledger.Op> said(Seen seen, Resume.Skip skip) {
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

    /** After a change that was refused: how the run stands by now. */
    public String now(Rows.Run row) {
        Seen seen = readers.ask(reads -> seen(reads, row));
        Entry.Resumed last = Resumptions.last(seen.entries());
        if (last != null && seen.run().state() != RunState.FAILED) {
            return last.by() + " resumed it in the same moment";
        }
        try {
            refuseState(seen);
            refuseFollowed(seen);
        } catch (Blocked e) {
            return String.valueOf(e.getMessage());
        }
        return "it has ended again since it was looked at";
    }
}
