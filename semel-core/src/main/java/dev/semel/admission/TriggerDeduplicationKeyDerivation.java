package dev.semel.admission;

import dev.semel.definition.WorkflowVersion;
import dev.semel.idempotency.ChosenRunId;
import dev.semel.idempotency.FailedRunDuplicateRequestPolicy;
import dev.semel.idempotency.IdempotencyKey;
import dev.semel.idempotency.IdempotencyKeyScope;
import dev.semel.idempotency.KeyPolicy;
import dev.semel.idempotency.RequestFingerprint;
import dev.semel.policy.SameKeyDifferentPayloadPolicy;
import dev.semel.policy.SamePayloadDifferentKeyPolicy;
import dev.semel.run.MicrosecondConverter;
import dev.semel.run.RunId;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;

/** The keys come from idempotency key, run id, source and payload, in that order. */
public final class TriggerDeduplicationKeyDerivation {
    private TriggerDeduplicationKeyDerivation() {}

    public static RunDeduplicationKey key(
            int workspace, IdempotencyKey key, WorkflowVersion workflow, RequestFingerprint fingerprint) {
        KeyPolicy policy = workflow.policy();
        if (policy.onMismatch() == SameKeyDifferentPayloadPolicy.DISTINCT) {
            String digest = Base64.getUrlEncoder().withoutPadding().encodeToString(fingerprint.digest());
            return new RunDeduplicationKey(
                    workspace, RunDeduplicationKey.KeyKind.DISTINCT_KEY, key.text() + "\n" + digest);
        }
        return policy.scope() == IdempotencyKeyScope.WORKFLOW
                ? workflowKey(workspace, key, workflow.workflowId())
                : new RunDeduplicationKey(workspace, RunDeduplicationKey.KeyKind.KEY, key.text());
    }

    public static RunDeduplicationKey workflowKey(int workspace, IdempotencyKey key, String workflowId) {
        return new RunDeduplicationKey(
                workspace, RunDeduplicationKey.KeyKind.WORKFLOW_KEY, key.text() + "\n" + workflowId);
    }

    static RunDeduplicationKey runIdKey(int workspace, ChosenRunId runId) {
        return new RunDeduplicationKey(workspace, RunDeduplicationKey.KeyKind.RUN, runId.text());
    }

    public static RunDeduplicationKey sourceKey(int workspace, Trigger.SourceKey source) {
        RunDeduplicationKey.KeyKind kind = switch (source.source()) {
            case EVENT -> RunDeduplicationKey.KeyKind.EVENT;
            case WEBHOOK -> RunDeduplicationKey.KeyKind.WEBHOOK;
            case SCHEDULE -> RunDeduplicationKey.KeyKind.TICK;
            case REPLAY -> RunDeduplicationKey.KeyKind.REPLAY;
            case HTTP, LIBRARY, CHILD -> throw new IllegalArgumentException("source without keys: " + source.source());
        };
        return new RunDeduplicationKey(workspace, kind, source.text());
    }

    /** Unique key of a payload, from the digest that the key of the same trigger stores. */
    public static RunDeduplicationKey payloadKey(int workspace, String workflowId, byte[] digest) {
        String text = workflowId + "\n" + Base64.getUrlEncoder().encodeToString(digest);
        return new RunDeduplicationKey(workspace, RunDeduplicationKey.KeyKind.PAYLOAD, text);
    }

    /** The prefix separates kinds, since a key may equal a run id. */
    public static String rolloutIdentity(Trigger trigger, RunId id) {
        IdempotencyKey key = trigger.identifiers().key();
        if (key != null) {
            return "key " + key.text();
        }
        ChosenRunId chosen = trigger.identifiers().runId();
        if (chosen != null) {
            return "run " + chosen.text();
        }
        Trigger.SourceKey source = trigger.identifiers().sourceKey();
        if (source != null) {
            return "source " + source.source().code() + " " + source.text();
        }
        String childOf = trigger.links().callerStepId();
        return childOf != null ? "child " + childOf : "run " + id.text();
    }

    public static List<RunDeduplicationKeyClaim> keyClaims(Trigger trigger, RequestFingerprint fingerprint) {
        KeyPolicy policy = trigger.workflow().policy();
        int workspace = trigger.workspace().id();
        long window = MicrosecondConverter.of(policy.window());
        byte[] digest = fingerprint.digest();
        List<RunDeduplicationKeyClaim> claims = new ArrayList<>(2);
        IdempotencyKey key = trigger.identifiers().key();
        int flags = (policy.holdWhileRunning() ? RunDeduplicationKeyRecord.HOLD : 0)
                | (policy.onFailed() == FailedRunDuplicateRequestPolicy.RUN_AGAIN
                        ? RunDeduplicationKeyRecord.RERUN_FAILED
                        : 0);
        if (key != null) {
            claims.add(new RunDeduplicationKeyClaim(
                    key(workspace, key, trigger.workflow(), fingerprint), digest, window, flags, true));
        }
        ChosenRunId runId = trigger.identifiers().runId();
        if (runId != null) {
            claims.add(new RunDeduplicationKeyClaim(
                    runIdKey(workspace, runId),
                    digest,
                    RunDeduplicationKeyClaim.FOREVER,
                    RunDeduplicationKeyRecord.HOLD,
                    true));
        }
        Trigger.SourceKey source = trigger.identifiers().sourceKey();
        if (source != null) {
            long memory = MicrosecondConverter.of(source.window());
            // A tick has one run, however it ended: the next tick follows. A replay has one run too: a second replay
            // follows that run under its own key.
            boolean once = source.source() == TriggerSource.SCHEDULE || source.source() == TriggerSource.REPLAY;
            int rules = once ? RunDeduplicationKeyRecord.HOLD : RunDeduplicationKeyRecord.HOLD | flags;
            claims.add(new RunDeduplicationKeyClaim(sourceKey(workspace, source), digest, memory, rules, true));
        }
        String childOf = trigger.links().callerStepId();
        if (childOf != null && key == null && runId == null) {
            RunDeduplicationKey child = new RunDeduplicationKey(workspace, RunDeduplicationKey.KeyKind.CHILD, childOf);
            claims.add(new RunDeduplicationKeyClaim(
                    child, digest, RunDeduplicationKeyClaim.FOREVER, RunDeduplicationKeyRecord.HOLD, true));
        }
        // A replay has the payload of the replayed run and is not a duplicate of it.
        if (policy.duplicatePayload() != SamePayloadDifferentKeyPolicy.ALLOW
                && trigger.links().replayOf() == null) {
            boolean rejects = policy.duplicatePayload() == SamePayloadDifferentKeyPolicy.REJECT;
            // With the flags of the key: a payload claim must not block a retry that the key allows.
            claims.add(new RunDeduplicationKeyClaim(
                    payloadKey(workspace, trigger.workflow().workflowId(), digest), digest, window, flags, rejects));
        }
        return claims;
    }
}
