package dev.semel.trials.chaos;

import dev.semel.trials.chaos.verdict.Fault;
import java.util.List;
import java.util.Set;

/**
 * Bugs that are planted to see whether the chaos trial would find them. They live in this module alone: in the statements
 * on their way to the driver, around the port of the store, in the workflows and in the door of a worker process.
 */
enum Bug {
    NONE("nothing is planted", Set.of()),
    ACK_BEFORE_COMMIT("a trigger is answered before its transaction began", Set.of(2), Fault.Kind.KILLED),
    COMMIT_NOT_DURABLE("a commit returns before it is on disk", Set.of(2), Fault.Kind.DATABASE_KILLED),
    LOOK_THEN_INSERT(
            "a name is looked up and then inserted, without the unique constraint", Set.of(1), Fault.Kind.KILLED),
    SWEEPER_DELETES_LIVE_KEYS("the sweeper deletes keys whose window is not over", Set.of(1), Fault.Kind.KILLED),
    CACHE_OUTLIVES_RELEASE(
            "repeats are answered from a cache that a release does not reach", Set.of(1), Fault.Kind.KILLED),
    FENCE_DROPPED("a batch begins without looking at its slot", Set.of(12, 16), Fault.Kind.LAPSED),
    FENCE_WITHOUT_LOCK(
            "the slot is read and not locked, so its snapshot may be older than a takeover",
            Set.of(12, 16),
            Fault.Kind.FROZEN_IN_A_BATCH),
    FENCED_WORKER_GOES_ON("a worker does not hear that it was fenced", Set.of(13, 20, 11), Fault.Kind.LAPSED),
    ZOMBIE_RECORDS("what a fenced worker writes is recorded after all, its ends too", Set.of(12), Fault.Kind.LAPSED),
    LEASE_REUSED("a worker takes the same lease id again", Set.of(12), Fault.Kind.KILLED),
    TAKEOVER_BY_OWN_CLOCK(
            "the clock of the worker decides that another's lease is over", Set.of(12), Fault.Kind.KILLED),
    CLAIM_WITHOUT_LOCK("free runs are claimed without locking their rows", Set.of(12), Fault.Kind.KILLED),
    KEY_PER_WORKER("the effect key is made anew at a takeover", Set.of(19), Fault.Kind.KILLED),
    RESULT_BEFORE_SEND("a result is recorded before it is sent", Set.of(20), Fault.Kind.KILLED),
    ASK_SENT_AGAIN("what is in doubt under ask is sent again", Set.of(20), Fault.Kind.KILLED),
    AT_MOST_ONCE_SENT_AGAIN("what may leave once at most is sent again", Set.of(20), Fault.Kind.KILLED),
    LOOKUP_SKIPPED("the provider is not asked before it is sent again", Set.of(20), Fault.Kind.KILLED),
    ONCE_FORGOTTEN("each run sends under a key of its own what runs share", Set.of(23), Fault.Kind.KILLED),
    TX_APART("the user's rows are committed apart from the record of their step", Set.of(20), Fault.Kind.KILLED);

    private final String says;
    private final Set<Integer> breaks;
    private final List<Fault.Kind> aimed;

    Bug(String says, Set<Integer> breaks, Fault.Kind... aimed) {
        this.says = says;
        this.breaks = breaks;
        this.aimed = List.of(aimed);
    }

    String says() {
        return says;
    }

    /** The invariants of which at least one must be seen broken. */
    Set<Integer> breaks() {
        return breaks;
    }

    /** The faults that bring it to light soonest; all of them where none is named. */
    List<Fault.Kind> aimed() {
        return aimed;
    }
}
