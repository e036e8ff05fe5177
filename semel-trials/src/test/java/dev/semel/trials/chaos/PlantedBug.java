package dev.semel.trials.chaos;

import dev.semel.trials.chaos.checks.Fault;
import dev.semel.trials.chaos.checks.Violation;

/**
 * Bugs that are planted to see whether the chaos trial would find them. They live in this module alone: in the statements
 * on their way to the driver, around the port of the store, in the workflows and in the source of a worker process.
 */
enum PlantedBug {
    NONE("nothing is planted", "", Fault.Kind.KILLED),
    ACK_BEFORE_COMMIT("a trigger is answered before its transaction begins", "2: which is lost", Fault.Kind.KILLED),
    COMMIT_NOT_DURABLE("a commit returns before it is on disk", "2: which is lost", Fault.Kind.DATABASE_KILLED),
    LOOK_THEN_INSERT(
            "a name is looked up and then inserted, without the unique constraint",
            "1: runs, not 1",
            Fault.Kind.KILLED),
    SWEEPER_DELETES_LIVE_KEYS("the sweeper deletes keys whose window is not over", "1: runs, not 1", Fault.Kind.KILLED),
    CACHE_OUTLIVES_RELEASE(
            "repeats are answered from a cache that a release does not reach", "1: was let go", Fault.Kind.KILLED),
    FENCE_DROPPED("a batch begins without looking at its slot", "12: which was over", Fault.Kind.LAPSED),
    FENCE_WITHOUT_LOCK(
            "the slot is read and not locked: what was seen may be older than a takeover",
            "12: which was over",
            Fault.Kind.FROZEN_IN_A_BATCH),
    FENCED_WORKER_GOES_ON(
            "a worker does not hear that it was fenced", "13: sent twice under reservation", Fault.Kind.LAPSED),
    ZOMBIE_RECORDS("what a fenced worker writes is recorded after all", "12: wrote (", Fault.Kind.LAPSED),
    LEASE_REUSED("a worker takes the same lease id again", "12: was used again", Fault.Kind.KILLED),
    TAKEOVER_BY_OWN_CLOCK(
            "the worker's own clock decides that another's lease is over",
            "12: before its lease had run out",
            Fault.Kind.KILLED),
    CLAIM_WITHOUT_LOCK("free runs are claimed without locking their rows", "12: was driving", Fault.Kind.KILLED),
    CLAIM_NOT_COUNTED(
            "a claim does not count up, so a new execution looks like the one before it",
            "13: sent twice under reservation",
            Fault.Kind.KILLED),
    KEY_PER_WORKER("the effect key is made anew at a takeover", "19: keys", Fault.Kind.KILLED),
    RESULT_BEFORE_SEND("a result is recorded before it is sent", "20: never accepted", Fault.Kind.KILLED),
    ASK_SENT_AGAIN("what is in doubt under ask is sent again", "20: requested under ask", Fault.Kind.KILLED),
    AT_MOST_ONCE_SENT_AGAIN(
            "what may leave once at most is sent again", "20: requested under at_most_once", Fault.Kind.KILLED),
    LOOKUP_SKIPPED("the provider is not asked before it is sent again", "20: accepted under lookup", Fault.Kind.KILLED),
    ONCE_FORGOTTEN(
            "each run sends under a key of its own what runs share", "23: accepted across runs", Fault.Kind.KILLED),
    TX_APART("the user's rows are committed apart from their record", "20: rows of the tx step", Fault.Kind.KILLED);

    private final String says;
    private final String sign;
    private final Fault.Kind aimed;

    PlantedBug(String says, String sign, Fault.Kind aimed) {
        this.says = says;
        this.sign = sign;
        this.aimed = aimed;
    }

    String says() {
        return says;
    }

    /** Whether a broken promise is the one that this bug breaks, and not only one beside it. */
    boolean isSeenIn(Violation violation) {
        return sign.startsWith(violation.invariant() + ": ")
                && violation.what().contains(sign.substring(sign.indexOf(' ') + 1));
    }

    /** The fault that brings it to light soonest. */
    Fault.Kind aimed() {
        return aimed;
    }
}
