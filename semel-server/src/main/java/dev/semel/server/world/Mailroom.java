package dev.semel.server.world;

import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.server.channel.Delivery;
import dev.semel.server.channel.Outbox;
import dev.semel.server.channel.Routing;
import dev.semel.server.steps.Messages;
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
final class Mailroom implements Messages {
    private final Outbox outbox;

    Mailroom(Outbox outbox) {
        this.outbox = outbox;
    }

    @Override
    public JsonNode plan(Wish wish) {
        List<List<Outbox.Leaf>> legs = wish.event() == null
                ? outbox.plan(
                        Objects.requireNonNullElse(wish.channel(), ""),
                        Objects.requireNonNullElse(wish.template(), ""),
                        wish.to())
                : outbox.plan(wish.event(), wish.to());
        ObjectNode plan = JsonNodeFactory.instance.objectNode();
        ArrayNode out = plan.putArray("routes");
        for (List<Outbox.Leaf> leg : legs) {
            leg.stream().map(Outbox.Leaf::choice).forEach(choice -> requireProtection(choice, wish.protection()));
            ArrayNode choices = out.addArray();
            leg.forEach(leaf -> choices.add(withProviderWindow(view(leaf), leaf.choice())));
        }
        return plan;
    }

    /** Checked at publishing and again here, because the channel may have changed since. */
    private void requireProtection(Routing.Choice choice, String protection) {
        if (choice instanceof Routing.Skipped || protection.equals("none")) {
            return;
        }
        String name = choice.hop().channel();
        Set<String> honours = outbox.channel(name).honours();
        if (!honours.contains(protection)) {
            throw new SemelException(
                    ErrorCode.INVALID_DEFINITION,
                    "SEM-P02: the step states protect: %s, and channel %s supports only %s. Nothing was sent."
                            .formatted(protection, name, String.join(", ", new TreeSet<>(honours))),
                    "State a protection that the channel supports and publish again, or use another channel.");
        }
    }

    /** Also records how long the provider remembers keys, since the workflow file may be older than the channel. */
    private ObjectNode withProviderWindow(ObjectNode view, Routing.Choice choice) {
        if (!(choice instanceof Routing.Skipped)) {
            outbox.channel(choice.hop().channel())
                    .providerWindow()
                    .ifPresent(window -> view.put("provider_window", window.toSeconds()));
        }
        return view;
    }

    private static ObjectNode view(Outbox.Leaf leaf) {
        Routing.Choice choice = leaf.choice();
        ObjectNode out = JsonNodeFactory.instance.objectNode();
        out.put("channel", choice.hop().channel()).put("template", choice.hop().template());
        out.put("version", leaf.version());
        switch (choice) {
            case Routing.Taken taken -> out.put("state", "selected").put("to", taken.to());
            case Routing.Reserve reserve -> out.put("state", "fallback").put("to", reserve.to());
            case Routing.Skipped _ -> out.put("state", "skipped");
        }
        return out.put("reason", choice.reason());
    }

    @Override
    public JsonNode send(Step step, Letter letter) throws IOException, InterruptedException {
        JsonNode choice = letter.choice();
        String channel = choice.path("channel").asString("");
        Delivery delivery = outbox.send(
                step,
                new Outbox.Letter(
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
        for (Outbox.Found one : outbox.templates(prefix, channel)) {
            found.addObject()
                    .put("name", one.name())
                    .put("version", one.version())
                    .put("channel", one.channel());
        }
        return found;
    }
}
