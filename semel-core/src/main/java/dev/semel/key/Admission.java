package dev.semel.key;

import java.util.List;

/** The answer to a trigger. A repeat always finds a run, because name and run are written in one transaction. */
public sealed interface Admission {
    /** Nobody holds the names: a new run. */
    record Fresh() implements Admission {}

    /** The same action again. {@code mismatch}: the payload differs and the policy answers with the original anyway. */
    record Repeat(Known known, boolean mismatch, List<String> changed) implements Admission {}

    /** The name stands for something else. Nothing is started. */
    record Conflict(Reason reason, Known known, List<String> changed) implements Admission {}

    /** Another key, the same payload, and the workflow allows that only once. */
    record SamePayload(Known known) implements Admission {}

    enum Reason {
        PAYLOAD,
        WORKFLOW,
        RUN_ID
    }
}
