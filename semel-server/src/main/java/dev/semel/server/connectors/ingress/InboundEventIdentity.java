package dev.semel.server.connectors.ingress;

import dev.semel.admission.Trigger;
import dev.semel.admission.TriggerSource;
import dev.semel.json.StrictJsonCodec;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.Arrays;
import java.util.Base64;
import tools.jackson.databind.node.JsonNodeFactory;

/** Trigger source, event source and event id. The hash covers a JSON array: plain concatenation is ambiguous. */
record InboundEventIdentity(TriggerSource triggerSource, String source, String id) {
    static final Duration WINDOW = Duration.ofDays(7);

    private static final int BYTES = 24;
    private static final int LONGEST_SHOWN = 255;

    static InboundEventIdentity of(TriggerSource source, InboundEvent event) {
        return new InboundEventIdentity(source, event.source(), event.id());
    }

    /** {@code evt_…}, the same in every workspace and on every worker. */
    String eventId() {
        var parts = JsonNodeFactory.instance
                .arrayNode()
                .add(triggerSource.name())
                .add(source)
                .add(id);
        byte[] hash = Arrays.copyOf(sha256(StrictJsonCodec.bytes(parts)), BYTES);
        return "evt_" + Base64.getUrlEncoder().withoutPadding().encodeToString(hash);
    }

    /** The trigger key of its run in one workflow; the keys of one event share a prefix. */
    Trigger.SourceKey of(String eventId, String workflowId) {
        return new Trigger.SourceKey(triggerSource, prefix(eventId) + workflowId, displayText(), window());
    }

    private Duration window() {
        return source.equals(RunNotificationEvents.SOURCE) ? RunNotificationEvents.WINDOW : WINDOW;
    }

    static String prefix(String eventId) {
        return eventId + "/";
    }

    private String displayText() {
        String text = (triggerSource == TriggerSource.WEBHOOK ? "webhook:" : "event:") + source + "/" + id;
        return text.length() <= LONGEST_SHOWN ? text : text.substring(0, LONGEST_SHOWN - 1) + "…";
    }

    private static byte[] sha256(byte[] bytes) {
        try {
            return MessageDigest.getInstance("SHA-256").digest(bytes);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every JDK has SHA-256", e);
        }
    }
}
