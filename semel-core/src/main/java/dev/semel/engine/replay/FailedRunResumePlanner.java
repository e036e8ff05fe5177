package dev.semel.engine.replay;

import dev.semel.admission.RunDeduplicationKeyClaim;
import dev.semel.admission.RunDeduplicationKeyRecord;
import dev.semel.admission.StartConditions;
import dev.semel.definition.DeclaredStep;
import dev.semel.definition.WorkflowCatalogEntry;
import dev.semel.definition.WorkflowVersion;
import dev.semel.effect.EffectLedger;
import dev.semel.engine.admission.RetryAndReplayKeyDerivation;
import dev.semel.engine.commit.StoreQueryThreadPool;
import dev.semel.engine.run.WorkflowCatalog;
import dev.semel.engine.step.PreviousRunResultFinder;
import dev.semel.journal.JournalCodec;
import dev.semel.journal.JournalEntry;
import dev.semel.journal.ResumedRunJournalReader;
import dev.semel.journal.RunJournalStepIndex;
import dev.semel.json.StrictJsonCodec;
import dev.semel.replay.FailedRunResumeRequest;
import dev.semel.replay.ReplayJournalEntrySelector;
import dev.semel.replay.ReplayNotificationMode;
import dev.semel.replay.ReplayOptions;
import dev.semel.replay.ReplayPlannerInput;
import dev.semel.replay.ReplayPreview;
import dev.semel.run.JournalStepPathFormat;
import dev.semel.run.MicrosecondConverter;
import dev.semel.run.RunId;
import dev.semel.run.RunState;
import dev.semel.run.StepId;
import dev.semel.store.DatabaseRows;
import dev.semel.store.StoreQueries;
import dev.semel.store.StoreWriteCommand;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Checks whether a failed run can be resumed in place, predicts its steps and builds the edit. Writes nothing. */
public final class FailedRunResumePlanner {
    private static final Set<JournalEntry.EntryKind> SKIPPED = Set.of(
            JournalEntry.EntryKind.STEP,
            JournalEntry.EntryKind.EFFECT,
            JournalEntry.EntryKind.TX,
            JournalEntry.EntryKind.CALL);

    private final StoreQueryThreadPool readers;
    private final ReplayRunStarter admission;
    private final RunReplayPreviewer planner;

    FailedRunResumePlanner(StoreQueryThreadPool readers, ReplayRunStarter admission, RunReplayPreviewer planner) {
        this.readers = readers;
        this.admission = admission;
        this.planner = planner;
    }

    /** {@code edit}: null if it is blocked; {@code remedy}: what to do then. */
    public record ResumePrediction(
            ReplayPreview preview, StoreWriteCommand.@Nullable ResumeFailedRun edit, String remedy) {}

    private record Seen(
            DatabaseRows.RunRow run,
            List<StoreQueries.JournalChunk> chunks,
            List<DatabaseRows.RunRow> lineage,
            List<EffectLedger.EffectRow> rows,
            long now) {
        List<JournalEntry> entries() {
            return PreviousRunResultFinder.readJournal(run, chunks);
        }
    }

    private static final class Blocked extends Exception {
        private static final long serialVersionUID = 1L;
        private final String instead;

        Blocked(String why, String instead) {
            super(why, null, false, false);
            this.instead = instead;
        }
    }

    public ResumePrediction preview(DatabaseRows.RunRow row, FailedRunResumeRequest options, RunId request) {
        Seen seen = readers.read(reads -> seen(reads, row));
        try {
            rejectState(seen);
            rejectFollowed(seen);
            return prospect(seen, options, request);
        } catch (Blocked e) {
            return new ResumePrediction(ReplayPreview.blocked(String.valueOf(e.getMessage())), null, e.instead);
        }
    }

    private static Seen seen(StoreQueries reads, DatabaseRows.RunRow row) {
        List<StoreQueries.JournaledRun> found = reads.runsWithJournal(List.of(row.id()));
        DatabaseRows.RunRow run = found.isEmpty() ? row : found.getFirst().run();
        List<RunId> members = PreviousRunResultFinder.findMembers(reads, run.lineage());
        List<DatabaseRows.RunRow> lineage = new ArrayList<>();
        for (RunId member : members) {
            DatabaseRows.RunRow one = reads.run(run.ws(), member);
            if (one != null) {
                lineage.add(one);
            }
        }
        List<StoreQueries.JournalChunk> chunks =
                found.isEmpty() ? List.of() : found.getFirst().journal();
        return new Seen(run, chunks, lineage, reads.effects(members), reads.now());
    }

    private void rejectState(Seen seen) throws Blocked {
        DatabaseRows.RunRow run = seen.run();
        RunId parent = run.parent();
        switch (run.state()) {
            case IN_DOUBT ->
                throw new Blocked(
                        "the outcome of one of its effects is unknown (in doubt)",
                        "Decide the review of the run. The run then continues without a resume.");
            case COMPLETED -> throw new Blocked("it has completed", "There is nothing left to do.");
            case CANCELLED ->
                throw new Blocked("it was cancelled", "To execute the run again, replay it: POST /v1/replays.");
            case HELD ->
                throw new Blocked(
                        "it is held", "Decide the review of the run. The run then continues without a resume.");
            case QUEUED, STARTED, RUNNING, WAITING ->
                throw new Blocked("it has not ended", "Check its state: GET /v1/runs/" + run.runIdText() + ".");
            case FAILED -> {}
        }
        if (parent != null && !run.hasUnknownOutcome()) { // a parent waits for a child whose outcome is unknown
            throw new Blocked(
                    "run " + parent.text() + " called this run and has recorded the failure",
                    "Resume the calling run. In that request, set the result of the calling step with `skip`.");
        }
        if (planner.isExpiring(run, seen.now())) {
            throw new Blocked("its retention period has ended and Semel is deleting its data", "Start a new run.");
        }
    }

    private static void rejectFollowed(Seen seen) throws Blocked {
        RunId id = seen.run().id();
        for (DatabaseRows.RunRow other : seen.lineage()) {
            if (id.equals(other.replayOf())) {
                throw new Blocked(
                        "it was replayed by " + other.runIdText(),
                        "If the newer run has failed, resume the newer run instead.");
            }
            if (id.equals(other.previous())) {
                throw new Blocked(
                        "run " + other.runIdText() + " was started with the same key after this run had failed",
                        "If the newer run has failed, resume the newer run instead.");
            }
            if (other.createdAt() > seen.run().createdAt()) {
                throw new Blocked(
                        "run " + other.runIdText() + " of the same lineage is newer",
                        "If the newer run has failed, resume the newer run instead.");
            }
        }
        if (ResumedRunJournalReader.count(seen.entries()) >= ResumedRunJournalReader.MAX_RESUMPTIONS) {
            throw new Blocked(
                    "it was already resumed " + ResumedRunJournalReader.MAX_RESUMPTIONS
                            + " times, which is the maximum",
                    "Replay it: POST /v1/replays.");
        }
    }

    private ResumePrediction prospect(Seen seen, FailedRunResumeRequest options, RunId request) throws Blocked {
        DatabaseRows.RunRow run = seen.run();
        List<JournalEntry> entries = seen.entries();
        rejectRecordedActions(seen, new RunJournalStepIndex(entries));
        List<String> opened = ReplayJournalEntrySelector.pathsToReopen(entries);
        FailedRunResumeRequest.Skip skip = options.skip();
        if (skip != null) {
            rejectSkip(new RunJournalStepIndex(entries).stepAt(skip.step()), opened, skip);
        }
        WorkflowVersion version = version(run, entries, options);
        if (version.version() != ResumedRunJournalReader.effectiveVersion(entries, run.version())) {
            rejectMissingSteps(version, entries);
        }
        ReplayPlannerInput source = new ReplayPlannerInput(
                run.lineage(),
                run.state(),
                entries,
                seen.rows(),
                planner.compareVersions(seen.lineage(), entries, version.version()),
                planner.findCalledRuns(run),
                RunReplayPreviewer.findRunsWithOtherInput(seen.lineage(), run),
                seen.now());
        ReplayNotificationMode notify = new RunJournalStepIndex(entries).mutesNotifications()
                ? ReplayNotificationMode.NONE
                : ReplayNotificationMode.MISSING;
        ReplayPreview preview = ReplayPreview.of(source, ReplayOptions.DEFAULT.notifying(notify, source));
        var resumed =
                new JournalEntry.RunResumption(seen.now(), options.by(), options.reason(), opened, version.version());
        List<StartConditions.QueueLimit> queueLimits = admission.findQueues(run, version);
        StoreWriteCommand.ResumeFailedRun edit = edit(seen, options, new EditParts(resumed, queueLimits, request));
        return new ResumePrediction(skip == null ? preview : preview.withGivenResult(skip.step()), edit, "");
    }

    private static void rejectRecordedActions(Seen seen, RunJournalStepIndex memory) throws Blocked {
        if (!memory.compensationScopes().isEmpty()) {
            throw new Blocked("it has compensated its steps", "To execute the run again, replay it: POST /v1/replays.");
        }
        for (String again : memory.redoPaths()) {
            String step = StepId.of(seen.run().lineage(), again).text();
            boolean before = seen.rows().stream()
                    .anyMatch(row -> row.holder().step().equals(step)
                            && row.state() == EffectLedger.EffectState.DONE
                            && !row.holder().run().equals(seen.run().id()));
            RunJournalStepIndex.StepRecord trace = memory.stepAt(again);
            if (before && (trace == null || trace.done() == null)) {
                throw new Blocked(
                        "this run was started to repeat step \"" + again + "\", but it ended before that step",
                        "Replay the run: POST /v1/replays. To repeat the step, name it in `redo` again.");
            }
        }
    }

    private static void rejectSkip(
            RunJournalStepIndex.@Nullable StepRecord trace, List<String> opened, FailedRunResumeRequest.Skip skip)
            throws Blocked {
        if (trace == null || !opened.contains(skip.step())) {
            throw new Blocked(
                    "step \"" + skip.step() + "\" did not fail",
                    opened.isEmpty()
                            ? "No step of this run failed. Resume the run without `skip`."
                            : "Skip " + opened + " instead.");
        }
        if (!SKIPPED.contains(trace.kind())) {
            throw new Blocked(
                    "step \"" + skip.step() + "\" is a wait, and waits cannot be skipped",
                    "Resume the run without `skip`; the run waits at this step again.");
        }
    }

    private WorkflowVersion version(DatabaseRows.RunRow run, List<JournalEntry> entries, FailedRunResumeRequest options)
            throws Blocked {
        WorkflowCatalogEntry current = admission.catalog().find(run.ws(), run.workflowId());
        if (current == null) {
            throw new Blocked("its workflow no longer exists", "Publish the workflow again.");
        }
        try {
            return options.useCurrentVersion()
                    ? current.published()
                    : admission
                            .catalog()
                            .version(
                                    run.workflowId(), ResumedRunJournalReader.effectiveVersion(entries, run.version()));
        } catch (WorkflowCatalog.WorkflowNotRegistered e) {
            throw new Blocked(
                    "the code of its workflow is not registered at this worker",
                    "Send the request to a worker that has the code of this workflow.");
        }
    }

    /** Rejects a version without a recorded step. The engine holds the run for any other mismatch. */
    private static void rejectMissingSteps(WorkflowVersion version, List<JournalEntry> entries) throws Blocked {
        List<DeclaredStep> expected = version.body().declaredSteps();
        if (expected == null) {
            return;
        }
        for (JournalEntry entry : ReplayJournalEntrySelector.select(entries, ReplayOptions.DEFAULT)) {
            if (entry.kind() == JournalEntry.EntryKind.EFFECT
                    && expected.stream().noneMatch(one -> one.location().matches(entry.path()))) {
                throw new Blocked(
                        "step \"" + JournalStepPathFormat.nameOf(entry.path())
                                + "\" is in its journal, but not in workflow version " + version.version(),
                        "Resume the run with its recorded version, or replay it with the current version: POST"
                                + " /v1/replays.");
            }
        }
    }

    private record EditParts(
            JournalEntry.RunResumption entry, List<StartConditions.QueueLimit> places, RunId request) {}

    private static StoreWriteCommand.ResumeFailedRun edit(Seen seen, FailedRunResumeRequest options, EditParts parts) {
        DatabaseRows.RunRow run = seen.run();
        DatabaseRows.RunEnd end = Objects.requireNonNull(run.end());
        List<JournalEntry> chunk =
                new ArrayList<>(end.entries().isEmpty() ? List.of() : JournalCodec.decode(end.entries()));
        chunk.add(parts.entry());
        List<EffectLedger.LedgerOperation> ops = new ArrayList<>();
        FailedRunResumeRequest.Skip skip = options.skip();
        if (skip != null) {
            JournalEntry.EntryKind kind = Objects.requireNonNull(
                            new RunJournalStepIndex(seen.entries()).stepAt(skip.step()))
                    .kind();
            String by = options.by() + "\n" + options.reason();
            chunk.add(new JournalEntry.StepResult(
                    skip.step(), kind, seen.now(), skip.result(), JournalEntry.StepOutcome.SKIPPED, 1, by));
            if (kind == JournalEntry.EntryKind.EFFECT) {
                ops.addAll(settleSkipped(seen, skip));
            }
        }
        int count = ResumedRunJournalReader.count(seen.entries());
        String why = skip == null ? options.reason() : "skips " + skip.step() + ": " + options.reason();
        return new StoreWriteCommand.ResumeFailedRun(
                run.ws(),
                run.id(),
                end.endedAt(),
                new RunDeduplicationKeyClaim(
                        RetryAndReplayKeyDerivation.followUpKey(run.ws(), run.id(), count),
                        new byte[0],
                        MicrosecondConverter.of(RetryAndReplayKeyDerivation.WINDOW),
                        RunDeduplicationKeyRecord.HOLD,
                        true),
                ResumedRunJournalReader.firstClaim(count + 1),
                seen.chunks().isEmpty() ? 0 : seen.chunks().getLast().seq() + 1,
                JournalCodec.encode(chunk),
                parts.places(),
                ops,
                new StoreWriteCommand.ChangeAuthor(parts.request(), options.by(), why));
    }

    /** Settles a skipped effect as done, as a review decision does: no run of this lineage sends it from now on. */
    private static List<EffectLedger.LedgerOperation> settleSkipped(Seen seen, FailedRunResumeRequest.Skip skip) {
        DatabaseRows.RunRow run = seen.run();
        String step = StepId.of(run.lineage(), skip.step()).text();
        String result = StrictJsonCodec.write(skip.result());
        EffectLedger.EffectId own = EffectLedger.EffectId.step(run.ws(), step);
        List<EffectLedger.LedgerOperation> ops = new ArrayList<>();
        EffectLedger.EffectDetails facts =
                new EffectLedger.EffectDetails(step, skip.step(), run.workflowId(), "ask", "update", null, null);
        EffectLedger.NotedSend send = null;
        boolean noted = false;
        for (EffectLedger.EffectRow row : seen.rows()) {
            if (row.holder().step().equals(step) && row.state() != EffectLedger.EffectState.DONE) {
                ops.add(new EffectLedger.SettleSend(row.id(), row.holder(), EffectLedger.EffectState.DONE, result));
                noted |= row.id().equals(own);
                facts = row.details();
                send = new EffectLedger.NotedSend(row.lastSend().key(), row.generation(), row.attempt());
            }
        }
        if (!noted) {
            ops.add(new EffectLedger.NoteStepResult(
                    own, new EffectLedger.EffectHolder(step, run.id(), 0, 0), result, facts, send));
        }
        return ops;
    }

    /** Describes the state of the run after a rejected change. */
    public String describeState(DatabaseRows.RunRow row) {
        Seen seen = readers.read(reads -> seen(reads, row));
        JournalEntry.RunResumption last = ResumedRunJournalReader.last(seen.entries());
        if (last != null && seen.run().state() != RunState.FAILED) {
            return last.by() + " resumed it at the same time";
        }
        try {
            rejectState(seen);
            rejectFollowed(seen);
        } catch (Blocked e) {
            return String.valueOf(e.getMessage());
        }
        return "the run was resumed and has ended again since the preview";
    }
}
