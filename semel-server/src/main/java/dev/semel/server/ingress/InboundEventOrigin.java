package dev.semel.server.ingress;

import dev.semel.admission.TriggerQuota;
import dev.semel.admission.TriggerSource;
import org.jspecify.annotations.Nullable;

/**
 * The origin of an inbound event: trigger source, actor, quota checks and run depth.
 *
 * @param triggerSource EVENT or WEBHOOK; their keys never collide
 * @param actor id of the token or webhook source that sent it
 * @param quota of each run that it starts or repeats
 * @param depth length of the chain of runs that started each other
 */
public record InboundEventOrigin(
        TriggerSource triggerSource, String actor, @Nullable String correlationId, TriggerQuota quota, int depth) {
    public InboundEventOrigin {
        if (triggerSource != TriggerSource.EVENT && triggerSource != TriggerSource.WEBHOOK) {
            throw new IllegalArgumentException("events have the trigger source EVENT or WEBHOOK, not " + triggerSource);
        }
    }

    /** An origin without quota at depth 0. */
    public InboundEventOrigin(TriggerSource triggerSource, String actor, @Nullable String correlationId) {
        this(triggerSource, actor, correlationId, TriggerQuota.NONE, 0);
    }
}
