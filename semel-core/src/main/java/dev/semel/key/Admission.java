package dev.semel.key;

import java.util.List;

/**
 * The decision on a trigger: start a new run, return the existing one, or reject. A repeat always finds its run,
 * because key record and run are committed together.
 */
public sealed interface Admission {
    /** No run holds the keys: a new run starts. */
    record Fresh() implements Admission {}

    /** The same action again. {@code mismatch}: the payload differs, and the policy still returns the original run. */
    record Repeat(Known known, boolean mismatch, List<String> changed) implements Admission {}

    /** The key belongs to another action. Nothing is started. */
    record Conflict(Reason reason, Known known, List<String> changed) implements Admission {}

    /** Another key with the same payload, which the workflow rejects. */
    record SamePayload(Known known) implements Admission {}

    /** Why a key belongs to another action. */
    enum Reason {
        PAYLOAD,
        WORKFLOW,
        RUN_ID
    }
}
