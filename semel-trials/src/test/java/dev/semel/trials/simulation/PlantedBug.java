package dev.semel.trials.simulation;

/** Bugs that are planted to see whether the simulation would find them. */
enum PlantedBug {
    NONE,
    /** Receivers are notified another key in each attempt. */
    KEY_PER_ATTEMPT,
    /** The store never tells a worker that its lease is gone. */
    FENCE_IGNORED,
    /** A caller who got no answer asks again without the key. */
    RETRY_WITHOUT_KEY,
    /** What may be sent once at most is declared repeatable. */
    SENT_AGAIN,
    /** A result is answered as recorded and is not. */
    RECORD_LOST
}
