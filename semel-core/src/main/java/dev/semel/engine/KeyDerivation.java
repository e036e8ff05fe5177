package dev.semel.engine;

import dev.semel.admission.ChosenRunId;
import dev.semel.admission.Fingerprint;
import dev.semel.admission.IdempotencyKey;
import dev.semel.admission.KeyPolicy;
import dev.semel.workflow.DuplicatePayload;
import dev.semel.admission.OnFailed;
import dev.semel.workflow.OnMismatch;
import dev.semel.admission.KeyScope;
import dev.semel.admission.KeyRecord;
import dev.semel.run.RunId;
import dev.semel.store.UniqueKey;
import dev.semel.store.KeyClaim;
import dev.semel.trigger.TriggerSource;
import dev.semel.trigger.Trigger;
import dev.semel.definition.WorkflowVersion;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;

/**
 * Derives the unique keys that a trigger claims from its idempotency key, run id, source and payload, in that order.
 */
public final class KeyDerivation {
    private KeyDerivation() {}

    static UniqueKey key(int workspace, IdempotencyKey key, WorkflowVersion workflow, Fingerprint fingerprint) {
        KeyPolicy policy = workflow.policy();
        if (policy.onMismatch() == OnMismatch.DISTINCT) {
            String digest = Base64.getUrlEncoder().withoutPadding().encodeToString(fingerprint.digest());
            return new UniqueKey(workspace, UniqueKey.KeyKind.DISTINCT_KEY, key.text() + "\n" + digest);
        }
        return policy.scope() == KeyScope.WORKFLOW
                ? workflowKey(workspace, key, workflow.workflowId())
                : new UniqueKey(workspace, UniqueKey.KeyKind.KEY, key.text());
    }

    /** Unique key of an idempotency key that is scoped to its workflow. */
    public static UniqueKey workflowKey(int workspace, IdempotencyKey key, String workflowId) {
        return new UniqueKey(workspace, UniqueKey.KeyKind.WORKFLOW_KEY, key.text() + "\n" + workflowId);
    }

    static UniqueKey runIdKey(int workspace, ChosenRunId runId) {
        return new UniqueKey(workspace, UniqueKey.KeyKind.RUN, runId.text());
    }

    static UniqueKey sourceKey(int workspace, Trigger.SourceKey source) {
        UniqueKey.KeyKind kind = switch (source.source()) {
            case EVENT -> UniqueKey.KeyKind.EVENT;
            case HOOK -> UniqueKey.KeyKind.HOOK;
            case SCHEDULE -> UniqueKey.KeyKind.TICK;
            case REPLAY -> UniqueKey.KeyKind.REPLAY;
            case HTTP, LIBRARY, CHILD -> throw new IllegalArgumentException("source without keys: " + source.source());
        };
        return new UniqueKey(workspace, kind, source.text());
    }

    /** Unique key of a payload, from the digest that the key of the same trigger stores. */
    public static UniqueKey payloadKey(int workspace, String workflowId, byte[] digest) {
        String text = workflowId + "\n" + Base64.getUrlEncoder().encodeToString(digest);
        return new UniqueKey(workspace, UniqueKey.KeyKind.PAYLOAD, text);
    }

    /**
     * Returns the text that assigns a trigger to a rollout bucket. The prefix separates kinds, since a key may equal a
     * run id.
     */
    static String rolloutIdentity(Trigger trigger, RunId id) {
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
            return "door " + source.source().code() + " " + source.text();
        }
        String childOf = trigger.links().callerStepId();
        return childOf != null ? "child " + childOf : "run " + id.text();
    }

    static List<KeyClaim> keyClaims(Trigger trigger, Fingerprint fingerprint) {
        KeyPolicy policy = trigger.workflow().policy();
        int workspace = trigger.workspace().id();
        long window = policy.window().toNanos() / 1_000;
        byte[] digest = fingerprint.digest();
        List<KeyClaim> claims = new ArrayList<>(2);
        IdempotencyKey key = trigger.identifiers().key();
        int flags = (policy.holdWhileRunning() ? KeyRecord.HOLD : 0)
                | (policy.onFailed() == OnFailed.RUN_AGAIN ? KeyRecord.RERUN_FAILED : 0);
        if (key != null) {
            claims.add(new KeyClaim(key(workspace, key, trigger.workflow(), fingerprint), digest, window, flags, true));
        }
        ChosenRunId runId = trigger.identifiers().runId();
        if (runId != null) {
            claims.add(new KeyClaim(runIdKey(workspace, runId), digest, KeyClaim.FOREVER, KeyRecord.HOLD, true));
        }
        Trigger.SourceKey source = trigger.identifiers().sourceKey();
        if (source != null) {
            long memory = source.window().toNanos() / 1_000;
            // A tick has one run, however it ended: the next tick follows. A replay has one run too: a second replay
            // follows that run under its own key.
            boolean once = source.source() == TriggerSource.SCHEDULE || source.source() == TriggerSource.REPLAY;
            int rules = once ? KeyRecord.HOLD : KeyRecord.HOLD | flags;
            claims.add(new KeyClaim(sourceKey(workspace, source), digest, memory, rules, true));
        }
        String childOf = trigger.links().callerStepId();
        if (childOf != null && key == null && runId == null) {
            UniqueKey child = new UniqueKey(workspace, UniqueKey.KeyKind.CHILD, childOf);
            claims.add(new KeyClaim(child, digest, KeyClaim.FOREVER, KeyRecord.HOLD, true));
        }
        // A replay has the payload of the replayed run and is not a duplicate of it.
        if (policy.duplicatePayload() != DuplicatePayload.ALLOW
                && trigger.links().replayOf() == null) {
            boolean rejects = policy.duplicatePayload() == DuplicatePayload.REJECT;
            // With the flags of the key: a payload claim must not block a retry that the key allows.
            claims.add(new KeyClaim(
                    payloadKey(workspace, trigger.workflow().workflowId(), digest), digest, window, flags, rejects));
        }
        return claims;
    }
}
