package dev.semel.server.services;

import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.server.channel.DeliveryReceipt;
import dev.semel.server.channel.MessageDispatcher;
import dev.semel.server.channel.NotificationRouter;
import dev.semel.server.steps.MessageGateway;
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
final class WorkspaceMessages implements MessageGateway {
    private final MessageDispatcher outbox;

    WorkspaceMessages(MessageDispatcher outbox) {
        this.outbox = outbox;
    }

    @Override
    public JsonNode plan(MessageRequest wish) {
        List<List<MessageDispatcher.PlannedChannel>> legs = wish.event() == null
                ? outbox.plan(
                        Objects.requireNonNullElse(wish.channel(), ""),
                        Objects.requireNonNullElse(wish.template(), ""),
                        wish.to())
                : outbox.plan(wish.event(), wish.to());
        ObjectNode plan = JsonNodeFactory.instance.objectNode();
        ArrayNode out = plan.putArray("routes");
        for (List<MessageDispatcher.PlannedChannel> leg : legs) {
            leg.stream()
                    .map(MessageDispatcher.PlannedChannel::decision)
                    .forEach(choice -> requireProtection(choice, wish.protection()));
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
                    "SEM-P02: the step states protect: %s, and channel %s supports only %s. Nothing was sent."
                            .formatted(protection, name, String.join(", ", new TreeSet<>(honours))),
                    "State a protection that the channel supports and publish again, or use another channel.");
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

    private static ObjectNode view(MessageDispatcher.PlannedChannel leaf) {
        NotificationRouter.ChannelDecision choice = leaf.decision();
        ObjectNode out = JsonNodeFactory.instance.objectNode();
        out.put("channel", choice.entry().channel())
                .put("template", choice.entry().template());
        out.put("version", leaf.version());
        switch (choice) {
            case NotificationRouter.Selected taken ->
                out.put("state", "selected").put("to", taken.to());
            case NotificationRouter.Fallback reserve ->
                out.put("state", "fallback").put("to", reserve.to());
            case NotificationRouter.Skipped _ -> out.put("state", "skipped");
        }
        return out.put("reason", choice.reason());
    }

    @Override
    public JsonNode send(Step step, PlannedMessage letter) throws IOException, InterruptedException {
        JsonNode choice = letter.choice();
        String channel = choice.path("channel").asString("");
        DeliveryReceipt delivery = outbox.send(
                step,
                new MessageDispatcher.OutgoingMessage(
                        channel,
                        choice.path("template").asString(""),
                        choice.path("version").intValue(),
                        choice.path("to").asString(""),
                        letter.data(),
                        overrides(letter.overrides(), channel),
                        letter.runId(),
                        letter.depth()));
        ObjectNode result = JsonNodeFactory.instance.objectNode().put("channel", channel);
        return result.put("message_id", delivery.messageId()).put("detail", delivery.detail());
    }

    /** The overrides under the name of this channel. */
    private static JsonNode overrides(JsonNode all, String channel) {
        JsonNode own = all.path(channel);
        return own.isObject() ? own : JsonNodeFactory.instance.objectNode();
    }

    @Override
    public JsonNode templates(String prefix, @Nullable String channel) {
        ArrayNode found = JsonNodeFactory.instance.arrayNode();
        for (MessageDispatcher.TemplateMatch one : outbox.templates(prefix, channel)) {
            found.addObject()
                    .put("name", one.name())
                    .put("version", one.version())
                    .put("channel", one.channel());
        }
        return found;
    }
}
