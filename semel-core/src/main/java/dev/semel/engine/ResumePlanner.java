package dev.semel.engine;

import dev.semel.effect.EffectLedger;
import dev.semel.journal.JournalEntry;
import dev.semel.journal.JournalCodec;
import dev.semel.journal.JournalIndex;
import dev.semel.journal.JournalResumptions;
import dev.semel.json.StrictJson;
import dev.semel.admission.KeyRecord;
import dev.semel.replay.CarriedJournal;
import dev.semel.replay.NotificationMode;
import dev.semel.replay.ReplayPreview;
import dev.semel.replay.ReplaySource;
import dev.semel.replay.ResumeRequest;
import dev.semel.replay.ReplayOptions;
import dev.semel.run.RunId;
import dev.semel.workflow.RunState;
import dev.semel.run.StepId;
import dev.semel.run.StepPathFormat;
import dev.semel.store.StoreCommand;
import dev.semel.store.NewRun;
import dev.semel.store.StoreQueries;
import dev.semel.store.StoredRows;
import dev.semel.store.KeyClaim;
import dev.semel.definition.CurrentWorkflow;
import dev.semel.definition.DeclaredStep;
import dev.semel.definition.WorkflowVersion;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Checks whether a failed run can be resumed in place, predicts its steps and builds the edit. Writes nothing. */
public final class ResumePlanner {
    private static final Set<JournalEntry.EntryKind> SKIPPED =
            Set.of(JournalEntry.EntryKind.STEP, JournalEntry.EntryKind.EFFECT, JournalEntry.EntryKind.TX, JournalEntry.EntryKind.CALL);

    private final StoreReadPool readers;
    private final ReplayAdmission admission;
    private final ReplayPreviewer planner;

    ResumePlanner(StoreReadPool readers, ReplayAdmission admission, ReplayPreviewer planner) {
        this.readers = readers;
        this.admission = admission;
        this.planner = planner;
    }

    /**
     * The predicted resumption, step by step.
     *
     * @param edit the change; null if it is blocked
     * @param remedy what to do if it is blocked
     */
    public record ResumePrediction(ReplayPreview preview, StoreCommand.@Nullable ResumeFailedRun edit, String remedy) {}

    /** A run with its journal, its lineage and the ledger rows of the lineage. */
    private record Seen(
            StoredRows.RunRow run, List<StoreQueries.JournalChunk> chunks, List<StoredRows.RunRow> lineage, List<EffectLedger.EffectRow> rows, long now) {
        List<JournalEntry> entries() {
            return LineageResults.readJournal(run, chunks);
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

    public ResumePrediction preview(StoredRows.RunRow row, ResumeRequest options, RunId request) {
        Seen seen = readers.read(reads -> seen(reads, row));
        try {
            rejectState(seen);
            rejectFollowed(seen);
            return prospect(seen, options, request);
        } catch (Blocked e) {
            return new ResumePrediction(ReplayPreview.blocked(String.valueOf(e.getMessage())), null, e.instead);
        }
    }

    private static Seen seen(StoreQueries reads, StoredRows.RunRow row) {
        List<StoreQueries.JournaledRun> found = reads.runsWithJournal(List.of(row.id()));
        StoredRows.RunRow run = found.isEmpty() ? row : found.getFirst().run();
        List<RunId> members = LineageResults.findMembers(reads, run.lineage());
        List<StoredRows.RunRow> lineage = new ArrayList<>();
        for (RunId member : members) {
            StoredRows.RunRow one = reads.run(run.ws(), member);
            if (one != null) {
                lineage.add(one);
            }
        }
        List<StoreQueries.JournalChunk> chunks =
                found.isEmpty() ? List.of() : found.getFirst().journal();
        return new Seen(run, chunks, lineage, reads.effects(members), reads.now());
    }

    private void rejectState(Seen seen) throws Blocked {
        StoredRows.RunRow run = seen.run();
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
        if (planner.isExpiring(run, seen.now())) {
            throw new Blocked("its retention is over and its data is being deleted", "Start a new run.");
        }
    }

    private static void rejectFollowed(Seen seen) throws Blocked {
        RunId id = seen.run().id();
        for (StoredRows.RunRow other : seen.lineage()) {
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
        if (JournalResumptions.count(seen.entries()) >= JournalResumptions.MAX_RESUMPTIONS) {
            throw new Blocked(
                    "it was resumed in place " + JournalResumptions.MAX_RESUMPTIONS + " times already", "Replay it: POST /v1/replays.");
        }
    }

    private ResumePrediction prospect(Seen seen, ResumeRequest options, RunId request) throws Blocked {
        StoredRows.RunRow run = seen.run();
        List<JournalEntry> entries = seen.entries();
        rejectRecordedActions(seen, new JournalIndex(entries));
        List<String> opened = CarriedJournal.pathsToReopen(entries);
        ResumeRequest.Skip skip = options.skip();
        if (skip != null) {
            rejectSkip(new JournalIndex(entries).stepAt(skip.step()), opened, skip);
        }
        WorkflowVersion version = version(run, entries, options);
        if (version.version() != JournalResumptions.effectiveVersion(entries, run.version())) {
            rejectMissingSteps(version, entries);
        }
        ReplaySource past = new ReplaySource(
                run.lineage(),
                run.state(),
                entries,
                seen.rows(),
                planner.compareVersions(seen.lineage(), entries, version.version()),
                planner.findCalledRuns(run),
                ReplayPreviewer.findRunsWithOtherInput(seen.lineage(), run),
                seen.now());
        NotificationMode notify = new JournalIndex(entries).mutesNotifications() ? NotificationMode.NONE : NotificationMode.MISSING;
        ReplayPreview outlook = ReplayPreview.of(past, ReplayOptions.DEFAULT.notifying(notify, past));
        var resumed = new JournalEntry.RunResumption(seen.now(), options.by(), options.reason(), opened, version.version());
        List<NewRun.StartConditions.QueueLimit> places = admission.findQueues(run, version);
        StoreCommand.ResumeFailedRun edit = edit(seen, options, new EditParts(resumed, places, request));
        return new ResumePrediction(skip == null ? outlook : outlook.withGivenResult(skip.step()), edit, "");
    }

    private static void rejectRecordedActions(Seen seen, JournalIndex memory) throws Blocked {
        if (!memory.compensationScopes().isEmpty()) {
            throw new Blocked("it has compensated its steps", "To run it again, replay it: POST /v1/replays.");
        }
        for (String again : memory.redoPaths()) {
            String step = StepId.of(seen.run().lineage(), again).text();
            boolean before = seen.rows().stream()
                    .anyMatch(row -> row.holder().step().equals(step)
                            && row.state() == EffectLedger.EffectState.DONE
                            && !row.holder().run().equals(seen.run().id()));
            JournalIndex.StepRecord trace = memory.stepAt(again);
            if (before && (trace == null || trace.done() == null)) {
                throw new Blocked(
                        "it had to redo step \"" + again + "\" and did not reach it",
                        "Replay it, with redo if you still need that: POST /v1/replays.");
            }
        }
    }

    private static void rejectSkip(JournalIndex.@Nullable StepRecord trace, List<String> opened, ResumeRequest.Skip skip) throws Blocked {
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

    private WorkflowVersion version(StoredRows.RunRow run, List<JournalEntry> entries, ResumeRequest options) throws Blocked {
        CurrentWorkflow current = admission.catalog().find(run.ws(), run.workflowId());
        if (current == null) {
            throw new Blocked("its workflow no longer exists", "Publish the workflow again.");
        }
        try {
            return options.useCurrentVersion()
                    ? current.published()
                    : admission.catalog().version(run.workflowId(), JournalResumptions.effectiveVersion(entries, run.version()));
        } catch (WorkflowCatalog.WorkflowNotRegistered e) {
            throw new Blocked(
                    "the code of its workflow is not registered at this worker", "Use a worker that has the code.");
        }
    }

    /** Rejects a version without a recorded step. The engine holds the run for any other mismatch. */
    private static void rejectMissingSteps(WorkflowVersion version, List<JournalEntry> entries) throws Blocked {
        List<DeclaredStep> expected = version.body().declaredSteps();
        if (expected == null) {
            return;
        }
        for (JournalEntry entry : CarriedJournal.select(entries, ReplayOptions.DEFAULT)) {
            if (entry.kind() == JournalEntry.EntryKind.EFFECT
                    && expected.stream().noneMatch(one -> one.location().matches(entry.path()))) {
                throw new Blocked(
                        "step \"" + StepPathFormat.nameOf(entry.path()) + "\" is in its journal and not in version "
                                + version.version(),
                        "Resume it with its recorded version, or replay it with the current one: POST /v1/replays.");
            }
        }
    }

    /** Parts of the edit: the entry, the queues, and the id of the request. */
    private record EditParts(JournalEntry.RunResumption entry, List<NewRun.StartConditions.QueueLimit> places, RunId request) {}

    private static StoreCommand.ResumeFailedRun edit(Seen seen, ResumeRequest options, EditParts parts) {
        StoredRows.RunRow run = seen.run();
        StoredRows.RunEnd end = Objects.requireNonNull(run.end());
        List<JournalEntry> chunk = new ArrayList<>(end.entries().isEmpty() ? List.of() : JournalCodec.decode(end.entries()));
        chunk.add(parts.entry());
        List<EffectLedger.LedgerOperation> ops = new ArrayList<>();
        ResumeRequest.Skip skip = options.skip();
        if (skip != null) {
            JournalEntry.EntryKind kind = Objects.requireNonNull(new JournalIndex(seen.entries()).stepAt(skip.step()))
                    .kind();
            String by = options.by() + "\n" + options.reason();
            chunk.add(new JournalEntry.StepResult(skip.step(), kind, seen.now(), skip.result(), JournalEntry.StepOutcome.SKIPPED, 1, by));
            if (kind == JournalEntry.EntryKind.EFFECT) {
                ops.addAll(settleSkipped(seen, skip));
            }
        }
        int count = JournalResumptions.count(seen.entries());
        String why = skip == null ? options.reason() : "skips " + skip.step() + ": " + options.reason();
        return new StoreCommand.ResumeFailedRun(
                run.ws(),
                run.id(),
                end.endedAt(),
                new KeyClaim(
                        Lineage.followUpKey(run.ws(), run.id(), count),
                        new byte[0],
                        Micros.of(Lineage.WINDOW),
                        KeyRecord.HOLD,
                        true),
                JournalResumptions.firstClaim(count + 1),
                seen.chunks().isEmpty() ? 0 : seen.chunks().getLast().seq() + 1,
                JournalCodec.encode(chunk),
                parts.places(),
                ops,
                new StoreCommand.ChangeAuthor(parts.request(), options.by(), why));
    }

    /** Settles a skipped effect as done, as a review decision does: no run of this lineage sends it from now on. */
    private static List<EffectLedger.LedgerOperation> settleSkipped(Seen seen, ResumeRequest.Skip skip) {
        StoredRows.RunRow run = seen.run();
        String step = StepId.of(run.lineage(), skip.step()).text();
        String result = StrictJson.write(skip.result());
        EffectLedger.EffectId own = EffectLedger.EffectId.step(run.ws(), step);
        List<EffectLedger.LedgerOperation> ops = new ArrayList<>();
        EffectLedger.EffectDetails facts = new EffectLedger.EffectDetails(step, skip.step(), run.workflowId(), "ask", "update", null, null);
        boolean noted = false;
        for (EffectLedger.EffectRow row : seen.rows()) {
            if (row.holder().step().equals(step) && row.state() != EffectLedger.EffectState.DONE) {
                ops.add(new EffectLedger.SettleSend(row.id(), row.holder(), EffectLedger.EffectState.DONE, result));
                noted |= row.id().equals(own);
                facts = row.details();
            }
        }
        if (!noted) {
            ops.add(new EffectLedger.NoteStepResult(own, new EffectLedger.EffectHolder(step, run.id(), 0, 0), result, facts));
        }
        return ops;
    }

    /** Describes the state of the run after a rejected change. */
    public String describeState(StoredRows.RunRow row) {
        Seen seen = readers.read(reads -> seen(reads, row));
        JournalEntry.RunResumption last = JournalResumptions.last(seen.entries());
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
