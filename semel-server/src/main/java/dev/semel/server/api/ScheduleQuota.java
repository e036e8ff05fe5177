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
 * How many schedules a workspace may have. They are counted at a number of the catalog, and a publish counts only where the
 * catalog is still at it ({@link Edit.PublishOver}): of two at once the second is counted again.
 */
final class ScheduleQuota {
    private static final int MOST_ATTEMPTS = 20;

    private final Semel semel;
    private final IntSupplier most;

    ScheduleQuota(Semel semel, IntSupplier most) {
        this.semel = semel;
        this.most = most;
    }

    /** Refuses what would be too many; answers the number of the catalog at which it was counted. */
    long counted(int workspace, Definition definition) {
        // The number first: what is published in between makes the publish fail, and not the count.
        long change = Objects.requireNonNull(semel.view(reads -> reads.catalogChange()));
        int wanted = definition.extras().doors().schedules().size();
        int others = wanted == 0 ? 0 : beside(workspace, definition.name());
        int allowed = most.getAsInt();
        if (wanted > 0 && others + wanted > allowed) {
            throw new SemelException(
                    ErrorCode.INVALID_DEFINITION,
                    "With the " + wanted + " schedules of workflow " + definition.name() + " this workspace would have "
                            + (others + wanted) + ", and " + allowed + " are allowed. Nothing was published.",
                    "Remove schedules that are not needed, or start the server with a larger --max-schedules.");
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

    /** What is published counts; of a text that cannot be read here, what other workers have laid out. */
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

    /** Publishes until nobody came in between. */
    static <T> T untilCounted(Supplier<@Nullable T> publish) {
        T done = untilCounted(publish, () -> false);
        return Objects.requireNonNull(done);
    }

    /** The same, or null where it is refused for another reason than that somebody came in between. */
    static <T> @Nullable T untilCounted(Supplier<@Nullable T> publish, BooleanSupplier refused) {
        for (int attempt = 0; attempt < MOST_ATTEMPTS; attempt++) {
            T done = publish.get();
            if (done != null || refused.getAsBoolean()) {
                return done;
            }
        }
        throw new SemelException(
                ErrorCode.OVERLOADED,
                "Others published, or changed settings, all the time, so that schedules could not be counted. Nothing"
                        + " was published.",
                "Publish it again in a moment.");
    }
}
