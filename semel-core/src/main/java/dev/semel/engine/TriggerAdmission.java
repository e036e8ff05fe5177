package dev.semel.engine;

import dev.semel.error.SemelException;
import dev.semel.admission.Admission;
import dev.semel.admission.AdmissionRules;
import dev.semel.admission.AdmissionRules.HeldKeys;
import dev.semel.admission.AdmissionRules.KeyStatus;
import dev.semel.admission.Fingerprint;
import dev.semel.admission.IdempotencyKey;
import dev.semel.admission.KeyRecord;
import dev.semel.admission.RolloutBucket;
import dev.semel.run.RunId;
import dev.semel.store.UniqueKey;
import dev.semel.store.NewRun;
import dev.semel.store.StoreQueries;
import dev.semel.store.StoreFailure;
import dev.semel.store.KeyClaim;
import dev.semel.store.StoreWrite;
import dev.semel.store.StoreWrite.AdmitResult;
import dev.semel.trigger.TriggerResult;
import dev.semel.trigger.Trigger;
import dev.semel.definition.CurrentWorkflow;
import dev.semel.definition.WorkflowVersion;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionException;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Admits triggers from all sources: decides whether each starts a run, repeats one, or conflicts.
 * A trigger with a recently seen key is answered from a read. Any other goes to the admission transaction, whose unique
 * constraint decides.
 */
public final class TriggerAdmission {
    /** Bound on retries because the workflow changed meanwhile; no one publishes that often. */
    private static final int MOST_ATTEMPTS = 32;

    private final GroupCommitter committer;
    private final StoreReadPool readers;
    private final AdmissionResponder responder;
    private final RunExecutor runs;
    private final VersionLookup versions;
    private final GroupCommitter.EngineDependencies dependencies;
    private final RecentKeyFilter seen = new RecentKeyFilter();
    private volatile Runnable onQueued = () -> {};

    /** Looks up workflow versions for an admission. */
    public interface VersionLookup {
        /** Returns a version by number. Versions never change and may be cached. */
        WorkflowVersion version(String workflowId, int version);

        /** Returns the current state of a workflow, read from the store. */
        CurrentWorkflow latest(int workspace, String workflowId);
    }

    /** The parts of the engine that an admission uses. */
    public record EngineComponents(GroupCommitter committer, StoreReadPool readers, RequestRecorder requests, RunExecutor runs) {}

    public TriggerAdmission(EngineComponents parts, VersionLookup versions, GroupCommitter.EngineDependencies dependencies) {
        this.committer = parts.committer();
        this.readers = parts.readers();
        this.responder = new AdmissionResponder(parts.requests(), versions, dependencies.counters());
        this.runs = parts.runs();
        this.versions = versions;
        this.dependencies = dependencies;
    }

    /** Sets the callback for admitted runs that do not start here at once. */
    public void onQueuedRun(Runnable look) {
        onQueued = look;
    }

    /**
     * Requests a run. If the workflow was published, paused or resumed since it was read, the call reads it again and
     * rebuilds the trigger.
     *
     * @param builder builds the trigger and may reject it; a rejection under an outdated version is retried
     */
    public TriggerResult trigger(int workspace, CurrentWorkflow first, Function<CurrentWorkflow, Trigger> builder) {
        try {
            CurrentWorkflow current = first;
            for (int attempt = 0; attempt < MOST_ATTEMPTS; attempt++) {
                // Only a rollout needs the run id before the admission.
                RunId id = current.candidate() == null ? null : dependencies.environment().newId();
                Trigger trigger =
                        id == null ? buildTrigger(current, builder) : withAssignedVersion(current, id, builder);
                TriggerResult answer = trigger == null ? null : admitOnce(trigger, id);
                if (answer != null) {
                    return answer;
                }
                current = versions.latest(workspace, current.published().workflowId());
            }
            throw AdmissionErrors.workflowKeepsChanging(first.published());
        } catch (StoreFailure e) {
            throw AdmissionErrors.unavailable(e);
        }
    }

    /**
     * Builds the trigger under the version that the rollout assigns.
     * Its key, chosen id, calling step or run id decides, so that all workers assign alike. A replay uses the current
     * version: it repeats earlier work.
     */
    private @Nullable Trigger withAssignedVersion(CurrentWorkflow current, RunId id, Function<CurrentWorkflow, Trigger> builder) {
        Trigger trigger = buildTrigger(current, builder);
        CurrentWorkflow.Candidate candidate = current.candidate();
        if (trigger == null || candidate == null || trigger.links().replayOf() != null) {
            return trigger;
        }
        WorkflowVersion tried = candidate.published();
        String trial = tried.workflowId() + " " + tried.version();
        boolean takes = RolloutBucket.isInRollout(trial, KeyDerivation.rolloutIdentity(trigger, id), candidate.rolloutPercentage());
        return takes ? buildTrigger(current.withCandidate(candidate), builder) : trigger;
    }

    /** Returns null if an outdated version rejected it. */
    private @Nullable Trigger buildTrigger(CurrentWorkflow current, Function<CurrentWorkflow, Trigger> builder) {
        try {
            return builder.apply(current);
        } catch (SemelException refusal) {
            if (isOutdated(current)) {
                return null;
            }
            throw refusal;
        }
    }

    /** Returns null if the workflow changed since it was read; nothing was admitted or recorded. */
    private @Nullable TriggerResult admitOnce(Trigger trigger, @Nullable RunId id) {
        WorkflowVersion workflow = trigger.workflow();
        Fingerprint fingerprint = Fingerprint.of(
                workflow.workflowId(),
                trigger.data(),
                workflow.policy(),
                trigger.workspace().secret());
        AdmissionRequest request = new AdmissionRequest(trigger, fingerprint, KeyDerivation.keyClaims(trigger, fingerprint), id);
        TriggerResult known = answerFromRead(request);
        if (known != null) {
            return known;
        }
        TriggerResult meanwhile = checkFresh(request);
        if (meanwhile != null) {
            return meanwhile;
        }
        return admit(request);
    }

    private boolean isOutdated(CurrentWorkflow current) {
        return readers.read(reads -> reads.catalogVersion()) != current.catalogVersion();
    }

    /**
     * Checks quota and input schema.
     * Before a rejection it looks up the keys again, after all admissions in progress: a duplicate that arrived during
     * the first admission is a repeat and never rejected. Null: the admission must decide.
     */
    private @Nullable TriggerResult checkFresh(AdmissionRequest request) {
        Runnable check = request.trigger().checks().onFresh();
        if (check == null) {
            return null;
        }
        try {
            check.run();
            return null;
        } catch (SemelException refusal) {
            if (request.keyClaims().isEmpty()) {
                throw refusal;
            }
            committer
                    .submit(lane(request, dependencies.environment().newId()), new StoreWrite.ClaimRuns(0))
                    .join();
            TriggerResult known = answerFromRead(request);
            if (known == null && !isOutdated(request.trigger().current())) {
                throw refusal;
            }
            return known;
        }
    }

    /** Answers from a read if a key is in use; null if the admission must decide. */
    private @Nullable TriggerResult answerFromRead(AdmissionRequest request) {
        List<UniqueKey> names = new ArrayList<>();
        boolean familiar = request.trigger().checks().onFresh() != null;
        for (KeyClaim claim : request.keyClaims()) {
            if (claim.key().kind() != UniqueKey.KeyKind.PAYLOAD) {
                names.add(claim.key());
                familiar |= seen.mayContain(claim.key());
            }
        }
        int current = names.size();
        names.addAll(keysOfOtherVersions(request));
        KeyRecord byGeneratedId = byGeneratedId(request);
        if (byGeneratedId == null && (names.isEmpty() || (!familiar && names.size() == current))) {
            return null;
        }
        StoreQueries.KeyLookup found = names.isEmpty() ? new StoreQueries.KeyLookup(0, List.of()) : readers.lookUpKeys(names);
        KeyRecord byKey = null;
        KeyRecord byRunId = byGeneratedId;
        KeyRecord failed = null;
        for (int i = 0; i < names.size(); i++) {
            KeyRecord known = found.keyRecords().get(i);
            KeyStatus standing = known == null ? KeyStatus.EXPIRED : AdmissionRules.statusOf(known, found.now());
            failed = failed == null && i < current && standing == KeyStatus.FAILED ? known : failed;
            if (known == null || standing != KeyStatus.LIVE) {
                continue;
            }
            if (names.get(i).kind().namesOneRun()) {
                byRunId = known;
            } else if (byKey == null
                    && (i < current
                            || known.workflowId()
                                    .equals(request.trigger().workflow().workflowId()))) {
                byKey = known;
            }
        }
        HeldKeys held = new HeldKeys(byKey, byRunId, null);
        if (byKey == null && byRunId == null) {
            KeyRecord newest = failed == null ? null : newest(request, failed).keyRecord();
            KeyStatus standing = newest == null ? KeyStatus.EXPIRED : AdmissionRules.statusOf(newest, found.now());
            boolean other = failed != null && standing == KeyStatus.FAILED && !responder.continuesLineage(request, failed);
            if (newest == null || (standing != KeyStatus.LIVE && !other)) {
                return null;
            }
            held = request.asHeldBy(newest);
        }
        Admission decided = responder.decide(request, held);
        if (!(decided instanceof Admission.Repeat) && isOutdated(request.trigger().current())) {
            return null; // an outdated version rejected it
        }
        return responder.respond(
                request, decided, found.now() == 0 ? dependencies.environment().micros() : found.now());
    }

    /** The unique keys that other versions of the workflow derive from this idempotency key. */
    static List<UniqueKey> keysOfOtherVersions(AdmissionRequest request) {
        IdempotencyKey key = request.trigger().identifiers().key();
        if (key == null || request.trigger().workflow().earlierVersions().isEmpty()) {
            return List.of();
        }
        List<UniqueKey> names = new ArrayList<>();
        for (WorkflowVersion earlier : request.trigger().workflow().earlierVersions()) {
            Fingerprint fingerprint = Fingerprint.of(
                    earlier.workflowId(),
                    request.trigger().data(),
                    earlier.policy(),
                    request.trigger().workspace().secret());
            names.add(KeyDerivation.key(request.workspace(), key, earlier, fingerprint));
        }
        return names;
    }

    /** Finds a run whose generated id equals the chosen id; generated ids have no key row. */
    private @Nullable KeyRecord byGeneratedId(AdmissionRequest request) {
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
                    Fingerprint first = Fingerprint.of(
                            run.workflowId(),
                            dev.semel.json.StrictJson.parse(run.input()),
                            version.policy(),
                            request.trigger().workspace().secret());
                    return new KeyRecord(
                            run.id(),
                            run.chosenId(),
                            first.digest(),
                            first.fields(),
                            run.workflowId(),
                            run.version(),
                            run.state(),
                            run.lineage(),
                            run.createdAt(),
                            KeyClaim.FOREVER,
                            KeyRecord.HOLD);
                });
    }

    private Lineage.NewestRun newest(AdmissionRequest request, KeyRecord failed) {
        return readers.read(reads -> Lineage.findNewest(reads, request.workspace(), failed));
    }

    /**
     * Runs the admission transaction. If the run of a key failed, the new run follows the newest run of its lineage.
     * If another request followed it first, this one looks again. Null: the workflow changed.
     */
    private @Nullable TriggerResult admit(AdmissionRequest first) {
        AdmissionRequest request = first;
        for (int attempt = 0; attempt < MOST_ATTEMPTS; attempt++) {
            RunId id = request.assignedRunId() == null ? dependencies.environment().newId() : request.assignedRunId();
            AdmitResult outcome = runAdmission(request, id);
            KeyRecord failed = outcome instanceof AdmitResult.HolderFailed failure ? failure.keyRecord() : null;
            if (outcome instanceof AdmitResult.KeysHeld held) {
                failed = AdmissionResponder.existingKeys(request, held).equals(HeldKeys.NOTHING) ? request.failedKey() : null;
            }
            if (failed == null) {
                return toResult(request, id, outcome);
            }
            Lineage.NewestRun newest = newest(first, failed);
            long now = readers.read(reads -> reads.now());
            KeyStatus standing = AdmissionRules.statusOf(newest.keyRecord(), now);
            boolean continues = standing == KeyStatus.FAILED && responder.continuesLineage(first, failed);
            if (standing == KeyStatus.LIVE || (standing == KeyStatus.FAILED && !continues)) {
                return responder.respond(first, responder.decide(first, first.asHeldBy(newest.keyRecord())), now);
            }
            request = continues ? first.followingRun(newest, failed) : first;
        }
        throw AdmissionErrors.inUse(first.trigger());
    }

    private AdmitResult runAdmission(AdmissionRequest request, RunId id) {
        Trigger trigger = request.trigger();
        NewRun run = request.newRun(id);
        WaitCycleCheck.rejectQueueCycle(readers, run, trigger.workflow().name());
        long change = trigger.current().catalogVersion();
        boolean own = !trigger.paused() && run.startConditions() == null && runs.reserveCapacity();
        AdmitResult outcome;
        boolean started = false;
        try {
            outcome = committer
                    .admit(lane(request, id), new StoreWrite.AdmitRun(run, request.keyClaims(), own, change))
                    .join();
            dependencies.counters().diskWaits.increment();
            if (outcome instanceof AdmitResult.Fresh fresh && fresh.owned()) {
                runs.start(toActiveRun(request, id, fresh), run.links().carriedJournal());
                started = true;
            }
        } catch (CompletionException e) {
            throw e.getCause() instanceof RuntimeException cause ? cause : e;
        } finally {
            if (own && !started) {
                runs.releaseCapacity();
            }
        }
        if (run.startConditions() != null) {
            onQueued.run();
        }
        request.keyClaims().forEach(claim -> seen.add(claim.key()));
        return outcome;
    }

    private @Nullable TriggerResult toResult(AdmissionRequest request, RunId id, AdmitResult outcome) {
        return switch (outcome) {
            case AdmitResult.Fresh fresh -> responder.respondFresh(request, id, fresh);
            case AdmitResult.KeysHeld held ->
                responder.respond(request, responder.decide(request, AdmissionResponder.existingKeys(request, held)), held.now());
            case AdmitResult.CatalogChanged _ -> null;
            case AdmitResult.InUse _ -> throw AdmissionErrors.inUse(request.trigger());
            case AdmitResult.Debounced absorbed -> responder.respondDebounced(request, absorbed);
            case AdmitResult.HolderFailed _ -> throw new IllegalStateException("a failed key is admitted as a follow-up");
            case AdmitResult.RetryNextBatch _ -> throw new IllegalStateException("the committer retries these");
        };
    }

    private int lane(AdmissionRequest request, RunId id) {
        int hash = request.keyClaims().isEmpty()
                ? Long.hashCode(id.low())
                : request.keyClaims().getFirst().key().text().hashCode();
        return Math.floorMod(hash ^ hash >>> 16, committer.lanes());
    }

    private RunExecutor.ActiveRun toActiveRun(AdmissionRequest request, RunId id, AdmitResult.Fresh fresh) {
        Trigger trigger = request.trigger();
        Duration longest = trigger.workflow().options().deadline();
        return new RunExecutor.ActiveRun(
                new StoreWrite.RunExecution(id, 1),
                request.workspace(),
                trigger.workflow(),
                trigger.data(),
                fresh.lineage(),
                lane(request, id),
                request.runIdText(id),
                longest == null ? StoreWrite.Suspension.NEVER : Micros.after(fresh.now(), longest),
                0,
                false,
                trigger.links().parent(),
                trigger.links().depth());
    }
}
