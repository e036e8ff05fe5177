package dev.semel.engine;

import dev.semel.key.ChosenRunId;
import dev.semel.key.Fingerprint;
import dev.semel.key.IdempotencyKey;
import dev.semel.key.KeyPolicy;
import dev.semel.key.KeyPolicy.DuplicatePayload;
import dev.semel.key.KeyPolicy.OnFailed;
import dev.semel.key.KeyPolicy.OnMismatch;
import dev.semel.key.KeyPolicy.Scope;
import dev.semel.key.Known;
import dev.semel.run.RunId;
import dev.semel.store.Name;
import dev.semel.store.Wish;
import dev.semel.trigger.Door;
import dev.semel.trigger.Trigger;
import dev.semel.workflow.Published;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;

/**
 * Derives the unique keys that a trigger claims from its idempotency key, run id, source and payload, in that order.
 */
public final class Naming {
    private Naming() {}

    static Name key(int workspace, IdempotencyKey key, Published workflow, Fingerprint fingerprint) {
        KeyPolicy policy = workflow.policy();
        if (policy.onMismatch() == OnMismatch.DISTINCT) {
            String digest = Base64.getUrlEncoder().withoutPadding().encodeToString(fingerprint.digest());
            return new Name(workspace, Name.Kind.DISTINCT_KEY, key.text() + "\n" + digest);
        }
        return policy.scope() == Scope.WORKFLOW
                ? ofWorkflow(workspace, key, workflow.workflowId())
                : new Name(workspace, Name.Kind.KEY, key.text());
    }

    /** Unique key of an idempotency key that is scoped to its workflow. */
    public static Name ofWorkflow(int workspace, IdempotencyKey key, String workflowId) {
        return new Name(workspace, Name.Kind.WORKFLOW_KEY, key.text() + "\n" + workflowId);
    }

    static Name runId(int workspace, ChosenRunId runId) {
        return new Name(workspace, Name.Kind.RUN, runId.text());
    }

    static Name ofDoor(int workspace, Trigger.DoorName source) {
        Name.Kind kind = switch (source.door()) {
            case EVENT -> Name.Kind.EVENT;
            case HOOK -> Name.Kind.HOOK;
            case SCHEDULE -> Name.Kind.TICK;
            case REPLAY -> Name.Kind.REPLAY;
            case HTTP, LIBRARY, CHILD -> throw new IllegalArgumentException("source without keys: " + source.door());
        };
        return new Name(workspace, kind, source.text());
    }

    /** Unique key of a payload, from the digest that the key of the same trigger stores. */
    public static Name payload(int workspace, String workflowId, byte[] digest) {
        String text = workflowId + "\n" + Base64.getUrlEncoder().encodeToString(digest);
        return new Name(workspace, Name.Kind.PAYLOAD, text);
    }

    /**
     * Returns the text that assigns a trigger to a rollout bucket. The prefix separates kinds, since a key may equal a
     * run id.
     */
    static String lot(Trigger trigger, RunId id) {
        IdempotencyKey key = trigger.names().key();
        if (key != null) {
            return "key " + key.text();
        }
        ChosenRunId chosen = trigger.names().runId();
        if (chosen != null) {
            return "run " + chosen.text();
        }
        Trigger.DoorName source = trigger.names().door();
        if (source != null) {
            return "door " + source.door().code() + " " + source.text();
        }
        String childOf = trigger.ties().childOf();
        return childOf != null ? "child " + childOf : "run " + id.text();
    }

    static List<Wish> wishes(Trigger trigger, Fingerprint fingerprint) {
        KeyPolicy policy = trigger.workflow().policy();
        int workspace = trigger.space().workspace();
        long window = policy.window().toNanos() / 1_000;
        byte[] digest = fingerprint.digest();
        List<Wish> claims = new ArrayList<>(2);
        IdempotencyKey key = trigger.names().key();
        int flags = (policy.holdWhileRunning() ? Known.HOLD : 0)
                | (policy.onFailed() == OnFailed.RUN_AGAIN ? Known.RERUN_FAILED : 0);
        if (key != null) {
            claims.add(new Wish(key(workspace, key, trigger.workflow(), fingerprint), digest, window, flags, true));
        }
        ChosenRunId runId = trigger.names().runId();
        if (runId != null) {
            claims.add(new Wish(runId(workspace, runId), digest, Wish.FOREVER, Known.HOLD, true));
        }
        Trigger.DoorName source = trigger.names().door();
        if (source != null) {
            long memory = source.window().toNanos() / 1_000;
            // A tick has one run, however it ended: the next tick follows. A replay has one run too: a second replay
            // follows that run under its own key.
            boolean once = source.door() == Door.SCHEDULE || source.door() == Door.REPLAY;
            int rules = once ? Known.HOLD : Known.HOLD | flags;
            claims.add(new Wish(ofDoor(workspace, source), digest, memory, rules, true));
        }
        String childOf = trigger.ties().childOf();
        if (childOf != null && key == null && runId == null) {
            Name child = new Name(workspace, Name.Kind.CHILD, childOf);
            claims.add(new Wish(child, digest, Wish.FOREVER, Known.HOLD, true));
        }
        // A replay has the payload of the replayed run and is not a duplicate of it.
        if (policy.duplicatePayload() != DuplicatePayload.ALLOW
                && trigger.ties().replayOf() == null) {
            boolean rejects = policy.duplicatePayload() == DuplicatePayload.REJECT;
            // With the flags of the key: a payload claim must not block a retry that the key allows.
            claims.add(new Wish(
                    payload(workspace, trigger.workflow().workflowId(), digest), digest, window, flags, rejects));
        }
        return claims;
    }
}
