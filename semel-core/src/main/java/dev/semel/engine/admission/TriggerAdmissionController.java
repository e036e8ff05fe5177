package dev.semel.engine.admission;

import dev.semel.admission.RunDeduplicationKey;
import dev.semel.admission.RunDeduplicationKeyClaim;
import dev.semel.admission.RunDeduplicationKeyRecord;
import dev.semel.admission.Trigger;
import dev.semel.admission.TriggerAdmissionDecision;
import dev.semel.admission.TriggerAdmissionRules;
import dev.semel.admission.TriggerAdmissionRules.HeldKeys;
import dev.semel.admission.TriggerAdmissionRules.KeyStatus;
import dev.semel.admission.TriggerDeduplicationKeyDerivation;
import dev.semel.admission.TriggerRejectionErrorFactory;
import dev.semel.admission.TriggerResult;
import dev.semel.admission.VersionRolloutBucket;
import dev.semel.definition.WorkflowCatalogEntry;
import dev.semel.definition.WorkflowVersion;
import dev.semel.engine.MicrosecondConverter;
import dev.semel.engine.commit.GroupCommitter;
import dev.semel.engine.commit.StoreErrorTranslator;
import dev.semel.engine.commit.StoreQueryThreadPool;
import dev.semel.engine.run.RunExecutor;
import dev.semel.engine.run.RunWaitCycleDetector;
import dev.semel.engine.run.WorkflowCatalog;
import dev.semel.engine.step.ActiveRun;
import dev.semel.engine.step.ActiveRunMemory;
import dev.semel.error.SemelException;
import dev.semel.idempotency.IdempotencyKey;
import dev.semel.idempotency.RequestFingerprint;
import dev.semel.run.RunId;
import dev.semel.store.CrashCount;
import dev.semel.store.NewRun;
import dev.semel.store.StoreFailure;
import dev.semel.store.StoreQueries;
import dev.semel.store.StoreWrite;
import dev.semel.store.StoreWrite.AdmitResult;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionException;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** A recently seen key is answered from a read; for others the unique constraint of the transaction decides. */
public final class TriggerAdmissionController {
    /** Bound on retries because the workflow changed meanwhile; no one publishes that often. */
    private static final int MOST_ATTEMPTS = 32;

    private final GroupCommitter committer;
    private final StoreQueryThreadPool readers;
    private final TriggerAdmissionResultBuilder responder;
    private final RunExecutor runs;
    private final WorkflowCatalog versions;
    private final GroupCommitter.EngineDependencies dependencies;
    private final RecentDeduplicationKeyCache recentKeyFilter = new RecentDeduplicationKeyCache();
    private volatile Runnable onQueued = () -> {};

    public TriggerAdmissionController(
            GroupCommitter committer,
            StoreQueryThreadPool readers,
            DuplicateRequestRecorder requests,
            RunExecutor runs,
            WorkflowCatalog versions,
            GroupCommitter.EngineDependencies dependencies) {
        this.committer = committer;
        this.readers = readers;
        this.responder = new TriggerAdmissionResultBuilder(requests, versions, dependencies.counters());
        this.runs = runs;
        this.versions = versions;
        this.dependencies = dependencies;
    }

    /** Sets the callback for admitted runs that do not start here at once. */
    public void onQueuedRun(Runnable look) {
        onQueued = look;
    }

    /**
     * Reads the workflow again and rebuilds the trigger if it was published, paused or resumed since. {@code builder}
     * may reject the trigger; a rejection under an outdated version is retried.
     */
    public TriggerResult trigger(
            int workspace, WorkflowCatalogEntry first, Function<WorkflowCatalogEntry, Trigger> builder) {
        Trigger trigger = null;
        try {
            WorkflowCatalogEntry current = first;
            for (int attempt = 0; attempt < MOST_ATTEMPTS; attempt++) {
                // Only a rollout needs the run id before the admission.
                RunId id = current.candidate() == null
                        ? null
                        : dependencies.environment().newId();
                trigger = id == null ? buildTrigger(current, builder) : withAssignedVersion(current, id, builder);
                TriggerResult answer = trigger == null ? null : admitOnce(trigger, id);
                if (answer != null) {
                    return answer;
                }
                current = versions.latest(workspace, current.published().workflowId());
            }
            throw TriggerRejectionErrorFactory.workflowKeepsChanging(first.published());
        } catch (StoreFailure e) {
            // Without a built trigger, nothing was submitted.
            throw StoreErrorTranslator.toTriggerRejection(
                    e, trigger == null || !trigger.identifiers().isEmpty());
        }
    }

    /** All workers assign alike: by key, chosen id, calling step or run id. A replay uses the current version. */
    private @Nullable Trigger withAssignedVersion(
            WorkflowCatalogEntry current, RunId id, Function<WorkflowCatalogEntry, Trigger> builder) {
        Trigger trigger = buildTrigger(current, builder);
        WorkflowCatalogEntry.Candidate candidate = current.candidate();
        if (trigger == null || candidate == null || trigger.links().replayOf() != null) {
            return trigger;
        }
        WorkflowVersion tried = candidate.published();
        String trial = tried.workflowId() + " " + tried.version();
        boolean takes = VersionRolloutBucket.isInRollout(
                trial, TriggerDeduplicationKeyDerivation.rolloutIdentity(trigger, id), candidate.rolloutPercentage());
        return takes ? buildTrigger(current.withCandidate(candidate), builder) : trigger;
    }

    /** Returns null if an outdated version rejected it. */
    private @Nullable Trigger buildTrigger(
            WorkflowCatalogEntry current, Function<WorkflowCatalogEntry, Trigger> builder) {
        try {
            return builder.apply(current);
        } catch (SemelException rejection) {
            if (isOutdated(current)) {
                return null;
            }
            throw rejection;
        }
    }

    /** Returns null if the workflow changed since it was read; nothing was admitted or recorded. */
    private @Nullable TriggerResult admitOnce(Trigger trigger, @Nullable RunId id) {
        WorkflowVersion workflow = trigger.workflow();
        RequestFingerprint fingerprint = RequestFingerprint.of(
                workflow.workflowId(),
                trigger.data(),
                workflow.policy(),
                trigger.workspace().secret());
        TriggerAdmissionRequest request = new TriggerAdmissionRequest(
                trigger, fingerprint, TriggerDeduplicationKeyDerivation.keyClaims(trigger, fingerprint), id, null);
        TriggerResult result = answerFromRead(request);
        if (result != null) {
            return result;
        }
        TriggerResult meanwhile = checkFresh(request);
        if (meanwhile != null) {
            return meanwhile;
        }
        return admit(request);
    }

    private boolean isOutdated(WorkflowCatalogEntry current) {
        return readers.read(reads -> reads.catalogVersion()) != current.catalogVersion();
    }

    /**
     * Looks up the keys again before a rejection, after all admissions in progress: a duplicate that arrived during the
     * first admission is never rejected. Null: the admission must decide.
     */
    private @Nullable TriggerResult checkFresh(TriggerAdmissionRequest request) {
        Runnable check = request.trigger().checks().onFresh();
        if (check == null) {
            return null;
        }
        try {
            check.run();
            return null;
        } catch (SemelException rejection) {
            if (request.keyClaims().isEmpty()) {
                throw rejection;
            }
            committer
                    .submit(lane(request, dependencies.environment().newId()), new StoreWrite.ClaimRuns(0))
                    .join();
            TriggerResult result = answerFromRead(request);
            if (result == null && !isOutdated(request.trigger().current())) {
                throw rejection;
            }
            return result;
        }
    }

    /** Answers from a read if a key is in use; null if the admission must decide. */
    private @Nullable TriggerResult answerFromRead(TriggerAdmissionRequest request) {
        List<RunDeduplicationKey> names = new ArrayList<>();
        boolean familiar = request.trigger().checks().onFresh() != null;
        for (RunDeduplicationKeyClaim claim : request.keyClaims()) {
            if (claim.key().kind() != RunDeduplicationKey.KeyKind.PAYLOAD) {
                names.add(claim.key());
                familiar |= recentKeyFilter.mayContain(claim.key());
            }
        }
        int current = names.size();
        names.addAll(keysOfOtherVersions(request));
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
            boolean other =
                    failed != null && status == KeyStatus.FAILED && !responder.continuesLineage(request, failed);
            if (newest == null || (status != KeyStatus.LIVE && !other)) {
                return null;
            }
            held = request.asHeldBy(newest);
        }
        TriggerAdmissionDecision decided = responder.decide(request, held);
        if (!(decided instanceof TriggerAdmissionDecision.Repeat)
                && isOutdated(request.trigger().current())) {
            return null; // an outdated version rejected it
        }
        return responder.respond(
                request, decided, found.now() == 0 ? dependencies.environment().micros() : found.now());
    }

    /** The unique keys that other versions of the workflow derive from this idempotency key. */
    static List<RunDeduplicationKey> keysOfOtherVersions(TriggerAdmissionRequest request) {
        IdempotencyKey key = request.trigger().identifiers().key();
        if (key == null || request.trigger().workflow().earlierVersions().isEmpty()) {
            return List.of();
        }
        List<RunDeduplicationKey> names = new ArrayList<>();
        for (WorkflowVersion earlier : request.trigger().workflow().earlierVersions()) {
            RequestFingerprint fingerprint = RequestFingerprint.of(
                    earlier.workflowId(),
                    request.trigger().data(),
                    earlier.policy(),
                    request.trigger().workspace().secret());
            names.add(TriggerDeduplicationKeyDerivation.key(request.workspace(), key, earlier, fingerprint));
        }
        return names;
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
     * If another request followed it first, this one looks again. Null: the workflow changed.
     */
    private @Nullable TriggerResult admit(TriggerAdmissionRequest first) {
        TriggerAdmissionRequest request = first;
        for (int attempt = 0; attempt < MOST_ATTEMPTS; attempt++) {
            RunId id =
                    request.assignedRunId() == null ? dependencies.environment().newId() : request.assignedRunId();
            AdmitResult outcome = runAdmission(request, id);
            RunDeduplicationKeyRecord failed =
                    outcome instanceof AdmitResult.HolderFailed failure ? failure.keyRecord() : null;
            if (outcome instanceof AdmitResult.KeysHeld held) {
                failed = TriggerAdmissionResultBuilder.existingKeys(request, held)
                                .equals(HeldKeys.NOTHING)
                        ? request.failedKey()
                        : null;
            }
            if (failed == null) {
                return toResult(request, id, outcome);
            }
            RetryAndReplayKeyDerivation.NewestRun newest = newest(first, failed);
            long now = readers.read(reads -> reads.now());
            KeyStatus status = TriggerAdmissionRules.statusOf(newest.keyRecord(), now);
            boolean continues = status == KeyStatus.FAILED && responder.continuesLineage(first, failed);
            if (status == KeyStatus.LIVE || (status == KeyStatus.FAILED && !continues)) {
                return responder.respond(first, responder.decide(first, first.asHeldBy(newest.keyRecord())), now);
            }
            request = continues ? first.followingRun(newest, failed) : first;
        }
        throw TriggerRejectionErrorFactory.inUse(first.trigger());
    }

    private AdmitResult runAdmission(TriggerAdmissionRequest request, RunId id) {
        Trigger trigger = request.trigger();
        NewRun run = request.newRun(id);
        RunWaitCycleDetector.rejectQueueCycle(readers, run, trigger.workflow().name());
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

    private @Nullable TriggerResult toResult(TriggerAdmissionRequest request, RunId id, AdmitResult outcome) {
        return switch (outcome) {
            case AdmitResult.Fresh fresh -> responder.respondFresh(request, id, fresh);
            case AdmitResult.KeysHeld held ->
                responder.respond(
                        request,
                        responder.decide(request, TriggerAdmissionResultBuilder.existingKeys(request, held)),
                        held.now());
            case AdmitResult.CatalogChanged _ -> null;
            case AdmitResult.InUse _ -> throw TriggerRejectionErrorFactory.inUse(request.trigger());
            case AdmitResult.Debounced absorbed -> responder.respondDebounced(request, absorbed);
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
}
