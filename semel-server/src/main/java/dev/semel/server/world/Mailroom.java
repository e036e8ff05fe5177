package dev.semel.server.world;

import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.json.Json;
import dev.semel.server.channel.Channel;
import dev.semel.server.channel.ChannelReader;
import dev.semel.server.channel.Delivery;
import dev.semel.server.channel.Medium;
import dev.semel.server.channel.Message;
import dev.semel.server.channel.MessageTemplate;
import dev.semel.server.channel.Profile;
import dev.semel.server.channel.Rendered;
import dev.semel.server.channel.Route;
import dev.semel.server.channel.Routing;
import dev.semel.server.settings.RouteSetting;
import dev.semel.server.settings.Settings;
import dev.semel.server.settings.Shelf;
import dev.semel.server.settings.Subscriptions;
import dev.semel.server.steps.Messages;
import dev.semel.store.Rows;
import dev.semel.workflow.Step;
import java.io.IOException;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** Messages of one workspace: which way they go, by what its people and its settings say, and their sending. */
final class Mailroom implements Messages {
    private static final int MOST_FOUND = 200;

    private final Settings settings;
    private final ChannelReader.Ports ports;
    private final int workspace;

    Mailroom(Settings settings, ChannelReader.Ports ports, int workspace) {
        this.settings = settings;
        this.ports = ports;
        this.workspace = workspace;
    }

    @Override
    public JsonNode plan(Wish wish) {
        Route route = route(wish);
        Map<String, Medium> media = new LinkedHashMap<>();
        for (Route.Hop hop : route.hops()) {
            Channel channel = channel(hop.channel());
            if (channel != null) {
                media.put(hop.channel(), channel.medium());
            }
        }
        ObjectNode plan = JsonNodeFactory.instance.objectNode();
        ArrayNode legs = plan.putArray("legs");
        for (Routing.Leg leg : Routing.plan(route, recipient(wish.to(), media), media).legs()) {
            ArrayNode choices = legs.addArray();
            leg.choices().forEach(choice -> choices.add(view(choice)));
        }
        return plan;
    }

    private Route route(Wish wish) {
        if (wish.event() == null) {
            String channel = wish.channel() == null ? "" : wish.channel();
            String template = wish.template() == null ? "" : wish.template();
            if (channel(channel) == null) {
                throw missing("channel", channel);
            }
            return new Route("", true, List.of(new Route.Hop(channel, template, false)));
        }
        Shelf.Kept<RouteSetting> kept = settings.routes().find(workspace, wish.event());
        if (kept == null) {
            throw missing("route", wish.event());
        }
        List<Route.Hop> hops = kept.value().legs().stream()
                .map(leg -> new Route.Hop(leg.channel(), leg.template(), leg.when() == RouteSetting.When.FALLBACK))
                .toList();
        return new Route(wish.event(), false, hops);
    }

    private ObjectNode view(Routing.Choice choice) {
        ObjectNode out = JsonNodeFactory.instance.objectNode();
        out.put("channel", choice.hop().channel());
        out.put("template", choice.hop().template());
        String template = choice.hop().template();
        switch (choice) {
            case Routing.Taken taken ->
                out.put("state", "taken").put("to", taken.to()).put("version", version(template));
            case Routing.Reserve reserve ->
                out.put("state", "reserve").put("to", reserve.to()).put("version", version(template));
            case Routing.Skipped _ -> out.put("state", "skipped");
        }
        return out.put("reason", choice.reason());
    }

    private int version(String template) {
        Rows.Setting row = settings.templates().row(workspace, template);
        if (row == null || row.removed()) {
            throw missing("template", template);
        }
        return row.version();
    }

    /** A profile where there is one of that id or address; otherwise the address itself, wherever it fits. */
    private Profile recipient(String to, Map<String, Medium> media) {
        Map<Medium, String> addresses = new EnumMap<>(Medium.class);
        Shelf.Kept<dev.semel.server.settings.Profile> kept = settings.profiles().findAny(workspace, to);
        if (kept == null) {
            media.values().forEach(medium -> addresses.put(medium, to));
            return new Profile(to, addresses, List.of());
        }
        dev.semel.server.settings.Profile profile = kept.value();
        put(addresses, Medium.EMAIL, profile.email());
        put(addresses, Medium.SMS, profile.phone());
        put(addresses, Medium.WHATSAPP, profile.phone());
        put(addresses, Medium.CHAT, profile.chat());
        put(addresses, Medium.WEBHOOK, kept.name());
        return new Profile(kept.name(), addresses, optOuts(kept.name(), media));
    }

    private static void put(Map<Medium, String> addresses, Medium medium, @Nullable String address) {
        if (address != null) {
            addresses.put(medium, address);
        }
    }

    /** A topic is a kind of channel, a channel by its name, or an event. */
    private List<Profile.OptOut> optOuts(String id, Map<String, Medium> media) {
        List<Profile.OptOut> optOuts = new ArrayList<>();
        for (Subscriptions.Choice choice : settings.subscriptions().of(workspace, id)) {
            if (choice.subscribed()) {
                continue;
            }
            LocalDate day = LocalDate.ofInstant(Instant.ofEpochSecond(choice.since() / 1_000_000), ZoneOffset.UTC);
            Medium medium = media.getOrDefault(choice.topic(), medium(choice.topic()));
            optOuts.add(new Profile.OptOut(medium, medium == null ? choice.topic() : null, day));
        }
        return optOuts;
    }

    private static @Nullable Medium medium(String word) {
        for (Medium medium : Medium.values()) {
            if (medium.word().equals(word.toLowerCase(Locale.ROOT))) {
                return medium;
            }
        }
        return null;
    }

    @Override
    public JsonNode send(Step step, Letter letter) throws IOException, InterruptedException {
        JsonNode choice = letter.choice();
        String name = choice.path("channel").asString("");
        Channel channel = channel(name);
        if (channel == null) {
            throw missing("channel", name);
        }
        String template = choice.path("template").asString("");
        Rows.Setting words = settings.templates()
                .row(workspace, template, choice.path("version").intValue());
        if (words == null) {
            throw missing("template", template);
        }
        Rendered rendered = MessageTemplate.of(template, Json.parse(words.body())).render(letter.data());
        Message message = new Message(
                choice.path("to").asString(""),
                rendered,
                overrides(channel, name, letter.overrides()),
                Map.of("X-Semel-Run", letter.runId()));
        Delivery delivery = channel.send(step, message);
        ObjectNode result = JsonNodeFactory.instance.objectNode().put("channel", name);
        return result.put("message_id", delivery.messageId()).put("detail", delivery.detail());
    }

    /** Those for this channel stand under its name, or under the kind of it. */
    private static Map<String, String> overrides(Channel channel, String name, JsonNode given) {
        JsonNode own = given.has(name) ? given.path(name) : given.path(channel.medium().word());
        Map<String, String> overrides = new LinkedHashMap<>();
        own.propertyStream().forEach(member -> {
            if (!channel.overrides().contains(member.getKey())) {
                throw new SemelException(
                        ErrorCode.INVALID_DEFINITION,
                        "overrides." + name + " sets something that this channel does not let a step set. Nothing was"
                                + " sent.",
                        "It lets set: " + String.join(", ", channel.overrides()) + ".");
            }
            overrides.put(member.getKey(), member.getValue().asString(""));
        });
        return overrides;
    }

    @Nullable
    Channel channel(String name) {
        Rows.Setting row = settings.channels().row(workspace, name);
        return row == null || row.removed() ? null : ChannelReader.read(name, Json.parse(row.body()), ports);
    }

    @Override
    public JsonNode templates(String prefix, @Nullable String channel) {
        ArrayNode found = JsonNodeFactory.instance.arrayNode();
        for (Rows.Setting row : settings.templates().page(workspace, "", MOST_FOUND)) {
            var kept = row.name().startsWith(prefix) ? settings.templates().find(workspace, row.name()) : null;
            if (kept != null && (channel == null || channel.equals(kept.value().channel()))) {
                found.addObject()
                        .put("name", kept.name())
                        .put("version", kept.version())
                        .put("channel", kept.value().channel());
            }
        }
        return found;
    }

    private static SemelException missing(String what, String name) {
        return new SemelException(
                ErrorCode.NOT_FOUND,
                "There is no " + what + " '" + name + "' in this workspace. Nothing was sent.",
                "Make it with `semel " + what + " put`, or correct the name in the file.");
    }
}
