package dev.semel.workflow;

import dev.semel.key.KeyPolicy;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One published version of a workflow, ready to admit triggers and to run. Immutable: a change is a new version.
 *
 * @param earlier other versions that admitted keys under other names (another scope, or by fingerprint), newest first:
 *     an honest retry that comes after a publish, or after a candidate is over, is found under the old name
 */
public record Published(
        String workflowId,
        String name,
        int version,
        KeyPolicy policy,
        Body body,
        List<Published> earlier,
        Extras extras) {
    /** A version that goes through no gate and has no deadline. */
    public Published(
            String workflowId, String name, int version, KeyPolicy policy, Body body, List<Published> earlier) {
        this(workflowId, name, version, policy, body, earlier, Extras.NONE);
    }

    /** @param deadline longest time of a whole run; null for none */
    public record Extras(Gates gates, @Nullable Duration deadline, Doors doors) {
        public static final Extras NONE = new Extras(Gates.NONE, null);

        /** One that only calls start. */
        public Extras(Gates gates, @Nullable Duration deadline) {
            this(gates, deadline, Doors.NONE);
        }
    }

    public Published {
        earlier = List.copyOf(earlier);
    }
}
