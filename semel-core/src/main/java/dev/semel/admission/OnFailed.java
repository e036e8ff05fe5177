package dev.semel.admission;

/** What a repeat of a key gets after its run failed. */
public enum OnFailed {
    RETURN_FAILED,
    RUN_AGAIN
}
