package dev.semel.workflow;

import dev.semel.key.KeyPolicy;
import java.util.List;

/**
 * One published version of a workflow, ready to admit triggers and to run. Immutable: a change is a new version.
 *
 * @param earlier older versions whose keys were named in another way (another scope, or by fingerprint), newest first:
 *     an honest retry that comes after a publish is found under the old name
 */
public record Published(
        String workflowId, String name, int version, KeyPolicy policy, Body body, List<Published> earlier) {
    public Published {
        earlier = List.copyOf(earlier);
    }
}
