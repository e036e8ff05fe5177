package dev.semel.server.operations.workflow;

import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.runtime.SemelRuntime;
import dev.semel.server.files.definition.WorkflowDefinition;
import dev.semel.server.query.StoreReader;
import dev.semel.store.DatabaseRows;
import dev.semel.store.StoreWriteCommand;
import java.util.Objects;
import java.util.function.BooleanSupplier;
import java.util.function.IntSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Enforces the maximum number of schedules in a workspace. Publishing succeeds only if the catalog has not changed
 * since the count ({@link StoreWriteCommand.PublishIfUnchanged}); otherwise it counts again.
 */
record ScheduleQuota(SemelRuntime semel, IntSupplier most) {
    private static final int MAX_ATTEMPTS = 20;

    /** Rejects a definition over the quota; returns the catalog number at which it counted. */
    long checkQuota(int workspace, WorkflowDefinition definition) {
        // Read the number first: a concurrent publish then fails this publish and cannot falsify the count.
        long change = StoreReader.read(semel, reads -> reads.catalogVersion());
        int wanted = definition.versionOptions().triggers().schedules().size();
        int others = wanted == 0 ? 0 : beside(workspace, definition.name());
        int allowed = most.getAsInt();
        if (wanted > 0 && others + wanted > allowed) {
            throw new SemelException(
                    ErrorCode.INVALID_DEFINITION,
                    "Workflow " + definition.name() + " has " + wanted + " schedules. This workspace would then have "
                            + (others + wanted) + " schedules, but at most " + allowed
                            + " are allowed. Nothing was published.",
                    "Remove unused schedules, or start the server with a larger --max-schedules.");
        }
        return change;
    }

    private int beside(int workspace, String name) {
        int others = 0;
        for (DatabaseRows.WorkflowRow row : StoreReader.read(semel, reads -> reads.workflows(workspace))) {
            others += row.version() == 0 || row.name().equals(name) ? 0 : of(row);
        }
        return others;
    }

    /** Counts the published schedules; if this worker cannot read the text, the schedules that other workers saved. */
    private int of(DatabaseRows.WorkflowRow row) {
        try {
            return semel.version(row.workflowId(), row.version())
                    .options()
                    .triggers()
                    .schedules()
                    .size();
        } catch (SemelException e) {
            return StoreReader.read(semel, reads -> reads.schedules().ofWorkflow(row.workflowId()))
                    .size();
        }
    }

    /** Retries the publish until no concurrent change interferes. */
    static <T> T retryUntilCounted(Supplier<@Nullable T> publish) {
        T done = retryUntilCounted(publish, () -> false);
        return Objects.requireNonNull(done);
    }

    /** Like {@link #retryUntilCounted(Supplier)}; null if the publish failed for another reason. */
    static <T> @Nullable T retryUntilCounted(Supplier<@Nullable T> publish, BooleanSupplier rejected) {
        for (int attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
            T done = publish.get();
            if (done != null || rejected.getAsBoolean()) {
                return done;
            }
        }
        throw new SemelException(
                ErrorCode.OVERLOADED,
                "Semel could not count the schedules, because other requests kept changing the workspace. Nothing"
                        + " was published.",
                "Publish it again in a moment.");
    }
}
