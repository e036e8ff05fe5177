package dev.semel.server.api;

import dev.semel.Semel;
import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.server.definition.Definition;
import dev.semel.store.Edit;
import dev.semel.store.Rows;
import java.util.Objects;
import java.util.function.BooleanSupplier;
import java.util.function.IntSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Enforces the maximum number of schedules in a workspace. Publishing succeeds only if the catalog has not changed
 * since the count ({@link Edit.PublishOver}); otherwise it counts again.
 */
final class ScheduleQuota {
    private static final int MAX_ATTEMPTS = 20;

    private final Semel semel;
    private final IntSupplier most;

    ScheduleQuota(Semel semel, IntSupplier most) {
        this.semel = semel;
        this.most = most;
    }

    /** Rejects a definition over the quota; returns the catalog number at which it counted. */
    long counted(int workspace, Definition definition) {
        // Read the number first: a concurrent publish then fails this publish and cannot falsify the count.
        long change = Objects.requireNonNull(semel.view(reads -> reads.catalogChange()));
        int wanted = definition.extras().doors().schedules().size();
        int others = wanted == 0 ? 0 : beside(workspace, definition.name());
        int allowed = most.getAsInt();
        if (wanted > 0 && others + wanted > allowed) {
            throw new SemelException(
                    ErrorCode.INVALID_DEFINITION,
                    "Workflow " + definition.name() + " has " + wanted + " schedules, so this workspace would have "
                            + (others + wanted) + " of at most " + allowed + ". Nothing was published.",
                    "Remove unused schedules, or start the server with a larger --max-schedules.");
        }
        return change;
    }

    private int beside(int workspace, String name) {
        int others = 0;
        for (Rows.Workflow row : Objects.requireNonNull(semel.view(reads -> reads.workflows(workspace)))) {
            others += row.version() == 0 || row.name().equals(name) ? 0 : of(row);
        }
        return others;
    }

    /** Counts the published schedules; if this worker cannot read the text, the schedules that other workers saved. */
    private int of(Rows.Workflow row) {
        try {
            return semel.version(row.workflowId(), row.version())
                    .extras()
                    .doors()
                    .schedules()
                    .size();
        } catch (SemelException e) {
            return Objects.requireNonNull(semel.view(reads -> reads.timetable().of(row.workflowId())))
                    .size();
        }
    }

    /** Retries the publish until no concurrent change interferes. */
    static <T> T untilCounted(Supplier<@Nullable T> publish) {
        T done = untilCounted(publish, () -> false);
        return Objects.requireNonNull(done);
    }

    /** Like {@link #untilCounted(Supplier)}; null if the publish failed for another reason. */
    static <T> @Nullable T untilCounted(Supplier<@Nullable T> publish, BooleanSupplier refused) {
        for (int attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
            T done = publish.get();
            if (done != null || refused.getAsBoolean()) {
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
