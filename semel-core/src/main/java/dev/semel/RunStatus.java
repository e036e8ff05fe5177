package dev.semel;

/** The status of a run. */
public enum RunStatus {
    /** The run waits to start. */
    QUEUED,
    /** No step has begun. */
    STARTED,
    RUNNING,
    /** {@link Run#waiting} says for what. */
    WAITING,
    /** The code or the record does not fit, or the worker crashed repeatedly. {@link Run#retryHeld} continues the run. */
    HELD,
    /** The outcome of an effect is unknown. {@link Run#stepsInDoubt} names its step. */
    IN_DOUBT,
    COMPLETED,
    FAILED,
    CANCELLED;

    public boolean hasEnded() {
        return this == COMPLETED || this == FAILED || this == CANCELLED;
    }
}
