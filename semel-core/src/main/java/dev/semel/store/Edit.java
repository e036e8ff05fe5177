package dev.semel.store;

import dev.semel.run.RunId;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The rare changes that people make. Each says what it did, never nothing. */
public sealed interface Edit<T> {
    /** Whether it may change workflows or tokens, which every worker remembers. */
    default boolean changesCatalog() {
        return false;
    }

    /** Makes the workspace if there is none of that name; the answer is the one that exists. */
    record OpenWorkspace(String name, byte[] secret) implements Edit<Rows.Workspace> {}

    /** Publishes a version; an unchanged text stays the version it is. */
    record Publish(int workspace, String name, String workflowId, String body, String actor)
            implements Edit<Rows.Workflow> {
        @Override
        public boolean changesCatalog() {
            return true;
        }
    }

    /** Pauses or resumes; resuming lets queued runs go. Null: no such workflow. */
    record Pause(int workspace, String workflowId, boolean paused) implements Edit<Rows.@Nullable Workflow> {
        @Override
        public boolean changesCatalog() {
            return true;
        }
    }

    record CreateToken(Rows.Token token) implements Edit<Boolean> {}

    record RevokeToken(int workspace, String tokenId, String actor) implements Edit<Boolean> {
        @Override
        public boolean changesCatalog() {
            return true;
        }
    }

    /**
     * Lets a name go, as long as it stands for that run: the next trigger with it is fresh. Asked twice it does nothing
     * more, even if the name was given to another run meanwhile. False: it was let go before, or stands for another run.
     */
    record Release(Name name, RunId run, String actor, String reason) implements Edit<Boolean> {}

    /** Deletes these tombstones, where they still are what was read; answers how many. */
    record DeleteNames(List<Tombstone> tombstones) implements Edit<Integer> {}

    /** A name past its time: who held it and until when. */
    record Tombstone(Name name, RunId run, long expiresAt) {}
}
