package dev.semel.store;

import dev.semel.effect.Ledger;
import dev.semel.run.RunId;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The rare changes that people make. Each says what it did, never nothing. */
public sealed interface Edit<T> {
    /** Makes the workspace if there is none of that name; the answer is the one that exists. */
    record OpenWorkspace(String name, byte[] secret) implements Edit<Rows.Workspace> {}

    /** Publishes a version; an unchanged text stays the version it is. */
    record Publish(int workspace, String name, String workflowId, String body, String actor)
            implements Edit<Rows.Workflow> {}

    /** Pauses or resumes; resuming lets queued runs go. Null: no such workflow. */
    record Pause(int workspace, String workflowId, boolean paused) implements Edit<Rows.@Nullable Workflow> {}

    /** Sets runs free that were queued by a trigger which did not know yet that its workflow was resumed. */
    record FreeResumed() implements Edit<Integer> {}

    record CreateToken(Rows.Token token) implements Edit<Boolean> {}

    record RevokeToken(int workspace, String tokenId, String actor) implements Edit<Boolean> {}

    /**
     * Lets a name go, as long as it stands for that run: the next trigger with it is fresh. Asked twice it does nothing
     * more, even if the name was given to another run meanwhile. False: it was let go before, or stands for another run.
     */
    record Release(Name name, RunId run, String actor, String reason) implements Edit<Boolean> {}

    /** Deletes these tombstones, where they still are what was read; answers how many. */
    record DeleteNames(List<Tombstone> tombstones) implements Edit<Integer> {}

    /** A name past its time: who held it and until when. */
    record Tombstone(Name name, RunId run, long expiresAt) {}

    /** A signal for a run: sent twice with one key it arrives once. It makes a run that waits due. */
    record Signal(int workspace, RunId run, String name, String key, String value) implements Edit<Signalled> {}

    enum Signalled {
        DELIVERED,
        /** The same key came before. */
        REPEATED,
        /** No such run, or it has ended. */
        GONE
    }

    /** Asks a run to end. It ends when its owner sees this. False: no such run, or it has ended. */
    record Cancel(int workspace, RunId run, String actor, String reason) implements Edit<Boolean> {}

    /** Makes runs that wait due now; a hint that may be lost. Answers how many. */
    record Wake(List<RunId> runs) implements Edit<Integer> {}

    /** Gives a claimed run back, to be taken up by somebody else. */
    record GiveBack(Write.Driver driver) implements Edit<Boolean> {}

    /** Makes runs due again that were held because the code did not fit; called when code may have changed. */
    record WakeHeld(String workflowId) implements Edit<Integer> {}

    /** Lets a run go on that is held. False: no such run, or it is not held. */
    record GoOn(int workspace, RunId run, String actor, String reason) implements Edit<Boolean> {}

    /**
     * A person says how an effect in doubt ended: with this result, or (null) not at all. False: it is not in doubt, or
     * was decided before.
     */
    record Decide(Ledger.Id effect, RunId run, @Nullable String result, String actor, String note)
            implements Edit<Boolean> {}
}
