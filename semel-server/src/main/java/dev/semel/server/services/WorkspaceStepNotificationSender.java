package dev.semel.server.services;

import dev.semel.error.ErrorCode;
import dev.semel.error.RequestRejected;
import dev.semel.error.SemelException;
import dev.semel.server.connectors.channel.NotificationDeliveryReceipt;
import dev.semel.server.connectors.notification.NotificationDispatcher;
import dev.semel.server.connectors.notification.NotificationRouter;
import dev.semel.server.files.steps.StepNotificationSender;
import dev.semel.workflow.Step;
import java.io.IOException;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** Plans and sends messages for the steps of one workspace and returns what the journal records. */
record WorkspaceStepNotificationSender(NotificationDispatcher outbox) implements StepNotificationSender {

    @Override
    public JsonNode plan(MessageRequest messageRequest) {
        List<List<NotificationDispatcher.PlannedChannel>> legs = messageRequest.notification() == null
                ? outbox.plan(
                        Objects.requireNonNullElse(messageRequest.channel(), ""),
                        Objects.requireNonNullElse(messageRequest.template(), ""),
                        messageRequest.to())
                : outbox.plan(messageRequest.notification(), messageRequest.to());
        ObjectNode plan = JsonNodeFactory.instance.objectNode();
        ArrayNode out = plan.putArray("routes");
        for (List<NotificationDispatcher.PlannedChannel> leg : legs) {
            leg.stream()
                    .map(NotificationDispatcher.PlannedChannel::decision)
                    .forEach(choice -> requireProtection(choice, messageRequest.protection()));
            ArrayNode choices = out.addArray();
            leg.forEach(leaf -> choices.add(withProviderWindow(view(leaf), leaf.decision())));
        }
        return plan;
    }

    /** Checked at publishing and again here, because the channel may have changed since. */
    private void requireProtection(NotificationRouter.ChannelDecision choice, String protection) {
        if (choice instanceof NotificationRouter.Skipped || protection.equals("none")) {
            return;
        }
        String name = choice.entry().channel();
        Set<String> honours = outbox.channel(name).protections();
        if (!honours.contains(protection)) {
            throw new SemelException(
                    ErrorCode.INVALID_DEFINITION,
                    "SEM-P02: the step declares protect: %s, but channel %s supports only %s. Nothing was sent."
                            .formatted(protection, name, String.join(", ", new TreeSet<>(honours))),
                    "Declare a protection that the channel supports and publish again, or use another channel.");
        }
    }

    /** Also records how long the provider remembers keys, since the workflow file may be older than the channel. */
    private ObjectNode withProviderWindow(ObjectNode view, NotificationRouter.ChannelDecision choice) {
        if (!(choice instanceof NotificationRouter.Skipped)) {
            outbox.channel(choice.entry().channel())
                    .providerWindow()
                    .ifPresent(window -> view.put("provider_window", window.toSeconds()));
        }
        return view;
    }

    private static ObjectNode view(NotificationDispatcher.PlannedChannel leaf) {
        NotificationRouter.ChannelDecision choice = leaf.decision();
        ObjectNode out = JsonNodeFactory.instance.objectNode();
        out.put("channel", choice.entry().channel())
                .put("template", choice.entry().template());
        out.put("version", leaf.version());
        switch (choice) {
            case NotificationRouter.Selected selected ->
                out.put("state", "selected").put("to", selected.to());
            case NotificationRouter.Fallback reserve ->
                out.put("state", "fallback").put("to", reserve.to());
            case NotificationRouter.Skipped _ -> out.put("state", "skipped");
        }
        if (!leaf.topic().isEmpty()) {
            out.put("unsubscribe", leaf.topic());
        }
        return out.put("reason", choice.reason());
    }

    @Override
    public JsonNode send(Step step, PlannedMessage plannedMessage) throws IOException, InterruptedException {
        JsonNode choice = plannedMessage.choice();
        String channel = choice.path("channel").asString("");
        NotificationDeliveryReceipt delivery = outbox.send(
                step,
                new NotificationDispatcher.OutgoingMessage(
                        channel,
                        choice.path("template").asString(""),
                        choice.path("version").intValue(),
                        choice.path("to").asString(""),
                        plannedMessage.data(),
                        overrides(plannedMessage.overrides(), channel),
                        plannedMessage.runId(),
                        plannedMessage.depth(),
                        choice.path("unsubscribe").asString("")));
        ObjectNode result = JsonNodeFactory.instance.objectNode().put("channel", channel);
        return result.put("message_id", delivery.messageId()).put("detail", delivery.detail());
    }

    /** An expression may return another shape than the file would allow. */
    private static JsonNode overrides(JsonNode all, String channel) {
        all.properties().forEach(entry -> {
            if (!entry.getValue().isObject()) {
                throw new RequestRejected(
                        "the overrides of the step are not inside a channel: {CHANNEL: {OPTION: value}}. Nothing was"
                                + " sent.");
            }
        });
        JsonNode own = all.path(channel);
        return own.isObject() ? own : JsonNodeFactory.instance.objectNode();
    }

    @Override
    public JsonNode templates(String prefix, @Nullable String channel) {
        ArrayNode found = JsonNodeFactory.instance.arrayNode();
        for (NotificationDispatcher.TemplateMatch one : outbox.templates(prefix, channel)) {
            found.addObject()
                    .put("name", one.name())
                    .put("version", one.version())
                    .put("channel", one.channel());
        }
        return found;
    }
}
