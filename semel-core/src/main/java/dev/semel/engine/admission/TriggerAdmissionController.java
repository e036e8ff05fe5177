package dev.semel.engine.admission;

import dev.semel.admission.RunDeduplicationKey;
import dev.semel.admission.RunDeduplicationKeyClaim;
import dev.semel.admission.RunDeduplicationKeyRecord;
import dev.semel.admission.Trigger;
import dev.semel.admission.TriggerAdmissionDecision;
import dev.semel.admission.TriggerAdmissionDecision.ConflictReason;
import dev.semel.admission.TriggerAdmissionRules;
import dev.semel.admission.TriggerAdmissionRules.HeldKeys;
import dev.semel.admission.TriggerAdmissionRules.KeyStatus;
import dev.semel.admission.TriggerRejectionErrorFactory;
import dev.semel.admission.TriggerResult;
import dev.semel.definition.WorkflowCatalogEntry;
import dev.semel.definition.WorkflowVersion;
import dev.semel.engine.EngineMetricCounters;
import dev.semel.engine.commit.GroupCommitter;
import dev.semel.engine.commit.StoreQueryThreadPool;
import dev.semel.engine.run.RunExecutor;
import dev.semel.engine.run.RunWaitCycleDetector;
import dev.semel.engine.run.WorkflowCatalog;
import dev.semel.engine.step.ActiveRun;
import dev.semel.engine.step.ActiveRunMemory;
import dev.semel.idempotency.IdempotencyKey;
import dev.semel.idempotency.RequestFingerprint;
import dev.semel.run.MicrosecondConverter;
import dev.semel.run.RunId;
import dev.semel.run.RunState;
import dev.semel.store.CrashCount;
import dev.semel.store.NewRun;
import dev.semel.store.StoreQueries;
import dev.semel.store.StoreWrite;
import dev.semel.store.StoreWrite.AdmitResult;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionException;
import org.jspecify.annotations.Nullable;

/**
 * Finds the run of a trigger's keys, or admits a new run. A recently seen key is found by a read; for others the unique
 * constraint of the transaction decides. {@link TriggerIngress} calls it in the order of the contract.
 */
public final class TriggerAdmissionController {
    /** Bound on follow-ups of failed runs that other requests continue first. */
    private static final int MOST_ATTEMPTS = 32;

    private final GroupCommitter committer;
    private final StoreQueryThreadPool readers;
    private final DuplicateRequestRecorder requests;
    private final RunExecutor runs;
    private final WorkflowCatalog versions;
    private final GroupCommitter.EngineDependencies dependencies;
    private final RecentDeduplicationKeyCache recentKeyFilter = new RecentDeduplicationKeyCache();
    private volatile Runnable onQueued = () -> {};

    /** What the store says about a trigger. */
    sealed interface Outcome {
        /** A new run, or a waiting run that absorbed the trigger. */
        record Admitted(TriggerResult result) implements Outcome {}

        /** A run has one of the keys. Nothing is recorded or counted yet. */
        record Existing(TriggerAdmissionDecision decision, long now) implements Outcome {}

        /** The workflow changed since it was read. Nothing was admitted or recorded. */
        record CatalogChanged() implements Outcome {}
    }

    public TriggerAdmissionController(
            GroupCommitter committer,
            StoreQueryThreadPool readers,
            DuplicateRequestRecorder requests,
            RunExecutor runs,
            WorkflowCatalog versions,
            GroupCommitter.EngineDependencies dependencies) {
        this.committer = committer;
        this.readers = readers;
        this.requests = requests;
        this.runs = runs;
        this.versions = versions;
        this.dependencies = dependencies;
    }

    /** Sets the callback for admitted runs that do not start here at once. */
    public void onQueuedRun(Runnable look) {
        onQueued = look;
    }

    /** Whether the workflow may have changed since it was read. */
    boolean isOutdated(WorkflowCatalogEntry current) {
        return readers.read(reads -> reads.catalogVersion()) != current.catalogVersion();
    }

    /** Like {@link #find}, after all admissions in progress: it also finds a duplicate that arrived during the first. */
    @Nullable
    Outcome findAfterAdmissionsInProgress(TriggerAdmissionRequest request) {
        committer
                .submit(lane(request, dependencies.environment().newId()), new StoreWrite.ClaimRuns(0))
                .join();
        return find(request, true);
    }

    /**
     * Reads whether a key of the trigger is in use; null if the admission must decide.
     *
     * @param always false: reads nothing if no key was seen recently, because then the admission is likely to be the first
     */
    @Nullable
    Outcome find(TriggerAdmissionRequest request, boolean always) {
        List<RunDeduplicationKey> names = new ArrayList<>();
        boolean familiar = always;
        for (RunDeduplicationKeyClaim claim : request.keyClaims()) {
            if (claim.key().kind() != RunDeduplicationKey.KeyKind.PAYLOAD) {
                names.add(claim.key());
                familiar |= recentKeyFilter.mayContain(claim.key());
            }
        }
        int current = names.size();
        names.addAll(request.keysOfOtherVersions());
        RunDeduplicationKeyRecord byGeneratedId = byGeneratedId(request);
        if (byGeneratedId == null && (names.isEmpty() || (!familiar && names.size() == current))) {
            return null;
        }
        StoreQueries.KeyLookup found =
                names.isEmpty() ? new StoreQueries.KeyLookup(0, List.of()) : readers.lookUpKeys(names);
        RunDeduplicationKeyRecord byKey = null;
        RunDeduplicationKeyRecord byRunId = byGeneratedId;
        RunDeduplicationKeyRecord failed = null;
        for (int i = 0; i < names.size(); i++) {
            RunDeduplicationKeyRecord keyRecord = found.keyRecords().get(i);
            KeyStatus status =
                    keyRecord == null ? KeyStatus.EXPIRED : TriggerAdmissionRules.statusOf(keyRecord, found.now());
            failed = failed == null && i < current && status == KeyStatus.FAILED ? keyRecord : failed;
            if (keyRecord == null || status != KeyStatus.LIVE) {
                continue;
            }
            if (names.get(i).kind().namesOneRun()) {
                byRunId = keyRecord;
            } else if (byKey == null
                    && (i < current
                            || keyRecord
                                    .workflowId()
                                    .equals(request.trigger().workflow().workflowId()))) {
                byKey = keyRecord;
            }
        }
        HeldKeys held = new HeldKeys(byKey, byRunId, null);
        if (byKey == null && byRunId == null) {
            RunDeduplicationKeyRecord newest =
                    failed == null ? null : newest(request, failed).keyRecord();
            KeyStatus status = newest == null ? KeyStatus.EXPIRED : TriggerAdmissionRules.statusOf(newest, found.now());
            boolean other = failed != null && status == KeyStatus.FAILED && !request.continuesLineage(failed);
            if (newest == null || (status != KeyStatus.LIVE && !other)) {
                return null;
            }
            held = request.asHeldBy(newest);
        }
        TriggerAdmissionDecision decided = request.decide(held);
        if (!(decided instanceof TriggerAdmissionDecision.Repeat)
                && isOutdated(request.trigger().current())) {
            return new Outcome.CatalogChanged(); // an outdated version rejected it
        }
        return new Outcome.Existing(
                decided, found.now() == 0 ? dependencies.environment().micros() : found.now());
    }

    /** Finds a run whose generated id equals the chosen id; generated ids have no key row. */
    private @Nullable RunDeduplicationKeyRecord byGeneratedId(TriggerAdmissionRequest request) {
        RunId id = request.trigger().identifiers().runId() == null
                ? null
                : RunId.parse(request.trigger().identifiers().runId().text());
        return id == null
                ? null
                : readers.readNullable(reads -> {
                    var run = reads.run(request.workspace(), id);
                    if (run == null) {
                        return null;
                    }
                    WorkflowVersion version = versions.version(run.workflowId(), run.version());
                    RequestFingerprint first = RequestFingerprint.of(
                            run.workflowId(),
                            dev.semel.json.StrictJsonCodec.parse(run.input()),
                            version.policy(),
                            request.trigger().workspace().secret());
                    return new RunDeduplicationKeyRecord(
                            run.id(),
                            run.chosenId(),
                            first.digest(),
                            first.fields(),
                            run.workflowId(),
                            run.version(),
                            run.state(),
                            run.lineage(),
                            run.createdAt(),
                            RunDeduplicationKeyClaim.FOREVER,
                            RunDeduplicationKeyRecord.HOLD);
                });
    }

    private RetryAndReplayKeyDerivation.NewestRun newest(
            TriggerAdmissionRequest request, RunDeduplicationKeyRecord failed) {
        return readers.read(reads -> RetryAndReplayKeyDerivation.findNewest(reads, request.workspace(), failed));
    }

    /**
     * Runs the admission transaction. If the run of a key failed, the new run follows the newest run of its lineage.
     * If another request followed it first, this one looks again.
     */
    Outcome admit(TriggerAdmissionRequest first) {
        TriggerAdmissionRequest request = first;
        for (int attempt = 0; attempt < MOST_ATTEMPTS; attempt++) {
            RunId id =
                    request.assignedRunId() == null ? dependencies.environment().newId() : request.assignedRunId();
            AdmitResult outcome = runAdmission(request, id);
            RunDeduplicationKeyRecord failed =
                    outcome instanceof AdmitResult.HolderFailed failure ? failure.keyRecord() : null;
            if (outcome instanceof AdmitResult.KeysHeld held) {
                failed = request.existingKeys(held).equals(HeldKeys.NOTHING) ? request.failedKey() : null;
            }
            if (failed == null) {
                return toOutcome(request, id, outcome);
            }
            RetryAndReplayKeyDerivation.NewestRun newest = newest(first, failed);
            long now = readers.read(reads -> reads.now());
            KeyStatus status = TriggerAdmissionRules.statusOf(newest.keyRecord(), now);
            boolean continues = status == KeyStatus.FAILED && first.continuesLineage(failed);
            if (status == KeyStatus.LIVE || (status == KeyStatus.FAILED && !continues)) {
                return new Outcome.Existing(first.decide(first.asHeldBy(newest.keyRecord())), now);
            }
            request = continues ? first.followingRun(newest, failed) : first;
        }
        throw TriggerRejectionErrorFactory.inUse(first.trigger());
    }

    private AdmitResult runAdmission(TriggerAdmissionRequest request, RunId id) {
        Trigger trigger = request.trigger();
        NewRun run = request.newRun(id);
        if (run.links().parent() != null) {
            RunWaitCycleDetector.rejectQueueCycle(
                    readers, run, trigger.workflow().name());
        }
        long change = trigger.current().catalogVersion();
        ActiveRunMemory.Share reserved = trigger.paused() || run.startConditions() != null
                ? null
                : runs.reserve(
                        run.input().length(), run.links().carriedJournal().length());
        AdmitResult outcome;
        boolean started = false;
        try {
            outcome = committer
                    .admit(
                            lane(request, id),
                            new StoreWrite.AdmitRun(run, request.keyClaims(), reserved != null, change))
                    .join();
            dependencies.counters().diskWaits.increment();
            if (outcome instanceof AdmitResult.Fresh fresh && fresh.owned() && reserved != null) {
                runs.start(toActiveRun(request, id, fresh), run.links().carriedJournal(), reserved);
                started = true;
            }
        } catch (CompletionException e) {
            throw e.getCause() instanceof RuntimeException cause ? cause : e;
        } finally {
            if (reserved != null && !started) {
                runs.release(reserved);
            }
        }
        if (run.startConditions() != null) {
            onQueued.run();
        }
        request.keyClaims().forEach(claim -> recentKeyFilter.add(claim.key()));
        return outcome;
    }

    private Outcome toOutcome(TriggerAdmissionRequest request, RunId id, AdmitResult outcome) {
        return switch (outcome) {
            case AdmitResult.Fresh fresh -> new Outcome.Admitted(toResult(request, id, fresh));
            case AdmitResult.KeysHeld held ->
                new Outcome.Existing(request.decide(request.existingKeys(held)), held.now());
            case AdmitResult.CatalogChanged _ -> new Outcome.CatalogChanged();
            case AdmitResult.InUse _ -> throw TriggerRejectionErrorFactory.inUse(request.trigger());
            case AdmitResult.Debounced absorbed -> new Outcome.Admitted(toResult(request, absorbed));
            case AdmitResult.HolderFailed _ ->
                throw new IllegalStateException("a failed key is admitted as a follow-up");
            case AdmitResult.RetryNextBatch _ -> throw new IllegalStateException("the committer retries these");
        };
    }

    private int lane(TriggerAdmissionRequest request, RunId id) {
        int hash = request.keyClaims().isEmpty()
                ? Long.hashCode(id.low())
                : request.keyClaims().getFirst().key().text().hashCode();
        return Math.floorMod(hash ^ hash >>> 16, committer.lanes());
    }

    private ActiveRun toActiveRun(TriggerAdmissionRequest request, RunId id, AdmitResult.Fresh fresh) {
        Trigger trigger = request.trigger();
        Duration longest = trigger.workflow().options().deadline();
        return new ActiveRun(
                new StoreWrite.RunExecution(id, 1),
                request.workspace(),
                trigger.workflow(),
                trigger.input(),
                fresh.lineage(),
                lane(request, id),
                request.runIdText(id),
                longest == null ? StoreWrite.Suspension.NEVER : MicrosecondConverter.after(fresh.now(), longest),
                new CrashCount(0),
                false,
                trigger.links().parent(),
                trigger.links().depth());
    }

    private TriggerResult toResult(TriggerAdmissionRequest request, RunId id, AdmitResult.Fresh fresh) {
        Trigger trigger = request.trigger();
        EngineMetricCounters counters = dependencies.counters();
        counters.fresh.increment();
        if (trigger.identifiers().key() == null && trigger.identifiers().sourceKey() == null) {
            counters.unkeyed.increment();
        }
        StoreWrite.PreviousHolder earlier = fresh.previous();
        if (earlier != null && earlier.expired()) {
            counters.expiredKeyRetries.increment();
        }
        RunDeduplicationKeyRecord duplicateOf = fresh.duplicateOf();
        return new TriggerResult(
                id,
                request.runIdText(id),
                trigger.paused() || fresh.queued() ? RunState.QUEUED : RunState.STARTED,
                trigger.workflow().workflowId(),
                false,
                false,
                List.of(),
                request.hasKey() ? request.keyClaims().getFirst().expiresAt(fresh.now()) : 0,
                earlier == null
                        ? null
                        : earlier.chosenId() != null
                                ? earlier.chosenId()
                                : earlier.run().text(),
                duplicateOf == null ? null : duplicateOf.runIdText());
    }

    /** A debounced run, still waiting to start, has absorbed this trigger. */
    private TriggerResult toResult(TriggerAdmissionRequest request, AdmitResult.Debounced absorbed) {
        dependencies.counters().debounced.increment();
        RunId run = absorbed.run();
        String chosen = absorbed.chosenId();
        return new TriggerResult(
                run,
                chosen == null ? run.text() : chosen,
                RunState.QUEUED,
                request.trigger().workflow().workflowId(),
                false,
                false,
                List.of(),
                request.hasKey() ? request.keyClaims().getFirst().expiresAt(absorbed.now()) : 0,
                null,
                null);
    }

    /** Records a duplicate request and returns its result. A conflict is thrown. */
    TriggerResult answer(TriggerAdmissionRequest request, Outcome.Existing existing) {
        long now = existing.now();
        Trigger trigger = request.trigger();
        return switch (existing.decision()) {
            case TriggerAdmissionDecision.Repeat repeat -> answerRepeat(request, repeat, now);
            case TriggerAdmissionDecision.Conflict conflict -> {
                dependencies.counters().conflicts.increment();
                boolean byRunId = conflict.reason() == ConflictReason.RUN_ID;
                record(request, conflict.keyRecord(), new Shown(422, now, conflict.changed(), true, byRunId));
                throw TriggerRejectionErrorFactory.conflict(trigger, conflict);
            }
            case TriggerAdmissionDecision.SamePayload same -> {
                dependencies.counters().duplicatePayloads.increment();
                record(request, same.keyRecord(), new Shown(409, now, List.of(), true, true));
                throw TriggerRejectionErrorFactory.duplicatePayload(trigger, same.keyRecord());
            }
            case TriggerAdmissionDecision.Fresh _ ->
                throw new IllegalStateException("a key that is in use cannot be fresh");
        };
    }

    private TriggerResult answerRepeat(
            TriggerAdmissionRequest request, TriggerAdmissionDecision.Repeat repeat, long now) {
        EngineMetricCounters counters = dependencies.counters();
        counters.replayed.increment();
        if (repeat.mismatch()) {
            counters.mismatched.increment();
        }
        RunDeduplicationKeyRecord keyRecord = repeat.keyRecord();
        record(request, keyRecord, new Shown(200, now, repeat.changed(), false, false));
        boolean keyed = request.hasKey() && keyRecord.expiresAt() != RunDeduplicationKeyClaim.FOREVER;
        return new TriggerResult(
                keyRecord.run(),
                keyRecord.runIdText(),
                keyRecord.state(),
                keyRecord.workflowId(),
                true,
                repeat.mismatch(),
                repeat.changed(),
                keyed ? keyRecord.expiresAt() : 0,
                null,
                null);
    }

    /** @param otherKey whether the run that the request met may have another key than the request */
    private record Shown(int statusCode, long at, List<String> changed, boolean conflict, boolean otherKey) {}

    private void record(TriggerAdmissionRequest request, RunDeduplicationKeyRecord keyRecord, Shown shown) {
        IdempotencyKey key = request.trigger().identifiers().key();
        DuplicateRequestRecorder.AnsweredRequest met = new DuplicateRequestRecorder.AnsweredRequest(
                request.workspace(),
                keyRecord.run(),
                shown.at(),
                shown.statusCode(),
                request.trigger().sender().actor(),
                shown.changed().isEmpty() ? null : String.join(", ", shown.changed()),
                request.displayKey(),
                shown.otherKey() && key != null ? key.text() : null);
        if (shown.conflict()) {
            requests.recordConflict(met);
        } else {
            requests.recordReplayed(met);
        }
    }
}
