package dev.semel.admission;

import java.util.List;

/**
 * The decision on a trigger: start a new run, return the existing one, or reject. A repeat always finds its run,
 * because key record and run are committed together.
 */
public sealed interface Admission {
    /** No run holds the keys: a new run starts. */
    record Fresh() implements Admission {}

    /** The same action again. {@code mismatch}: the payload differs, and the policy still returns the original run. */
    record Repeat(KeyRecord keyRecord, boolean mismatch, List<String> changed) implements Admission {}

    /** The key belongs to another action. Nothing is started. */
    record Conflict(ConflictReason reason, KeyRecord keyRecord, List<String> changed) implements Admission {}

    /** Another key with the same payload, which the workflow rejects. */
    record SamePayload(KeyRecord keyRecord) implements Admission {}

    /** Why a key belongs to another action. */
    enum ConflictReason {
        PAYLOAD,
        WORKFLOW,
        RUN_ID
    }
}
