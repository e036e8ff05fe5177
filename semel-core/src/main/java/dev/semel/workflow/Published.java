package dev.semel.workflow;

import dev.semel.key.KeyPolicy;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One published version of a workflow, compiled and ready to admit triggers and to run. Immutable.
 *
 * @param earlier other versions, newest first, that stored keys differently (another scope, or with the fingerprint):
 *     a legitimate retry after a publish or a rollout is found under the old form of its key
 */
public record Published(
        String workflowId,
        String name,
        int version,
        KeyPolicy policy,
        Body body,
        List<Published> earlier,
        Extras extras) {
    /** A version without concurrency limits, deadline, subscriptions and schedules. */
    public Published(
            String workflowId, String name, int version, KeyPolicy policy, Body body, List<Published> earlier) {
        this(workflowId, name, version, policy, body, earlier, Extras.NONE);
    }

    /**
     * The optional settings of a version.
     *
     * @param deadline maximum duration of a whole run; null for none
     */
    public record Extras(Gates gates, @Nullable Duration deadline, Doors doors) {
        public static final Extras NONE = new Extras(Gates.NONE, null);

        /** Options without event subscriptions and schedules. */
        public Extras(Gates gates, @Nullable Duration deadline) {
            this(gates, deadline, Doors.NONE);
        }
    }

    public Published {
        earlier = List.copyOf(earlier);
    }
}
