package dev.semel.server.channel;

import dev.semel.error.ErrorCode;
import dev.semel.error.HttpStatus;
import dev.semel.error.Rejected;
import dev.semel.error.SemelException;
import dev.semel.server.settings.ChannelSetting;
import dev.semel.server.settings.RecipientProfile;
import dev.semel.server.settings.RouteSetting;
import dev.semel.server.settings.WorkspaceSettings;
import dev.semel.server.settings.SettingRepository;
import dev.semel.server.settings.RecipientSubscriptions;
import dev.semel.server.settings.TemplateSetting;
import dev.semel.store.StoredRows;
import dev.semel.workflow.Step;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;

/**
 * Plans and sends the messages of one workspace: chooses channels, renders the template and sends. A plan fixes the
 * template version, so every attempt sends the same text.
 */
public final class MessageDispatcher {
    private static final int PAGE = 200;
    private static final int MOST_FOUND = 1_000;

    private final int workspace;
    private final WorkspaceSettings settings;
    private final ChannelFactory.ChannelServices ports;

    /** @param ports services whose secrets belong to this workspace */
    public MessageDispatcher(int workspace, WorkspaceSettings settings, ChannelFactory.ChannelServices ports) {
        this.workspace = workspace;
        this.settings = settings;
        this.ports = ports;
    }

    /** One channel decision of a plan with the template version at planning time. */
    public record PlannedChannel(NotificationRouter.ChannelDecision decision, int version) {}

    /**
     * Plans which channels deliver a notification event to a recipient.
     *
     * @param to a profile id or an address
     * @return route legs, each a channel with its fallbacks
     * @throws SemelException if there is no such route, or its configuration leaves no channel
     */
    public List<List<PlannedChannel>> plan(String event, String to) {
        SettingRepository.StoredSetting<RouteSetting> route = settings.routes().find(workspace, event);
        if (route == null) {
            throw missing("route for event", event, "PUT /v1/routes/" + event);
        }
        return plan(route.value(), recipient(to));
    }

    /** Plans a message whose channel and template the workflow names; opt-outs apply too. */
    public List<List<PlannedChannel>> plan(String channel, String template, String to) {
        SettingRepository.StoredSetting<ChannelSetting> kept = settings.channels().find(workspace, channel);
        if (kept == null) {
            throw missing("channel", channel, "PUT /v1/channels/" + channel);
        }
        if (settings.templates().find(workspace, template) == null) {
            throw missing("template", template, "PUT /v1/templates/" + template);
        }
        Medium medium = ChannelFactory.medium(kept.value());
        SettingRepository.StoredSetting<RecipientProfile> profile = settings.profiles().findByIdOrEmail(workspace, to);
        Recipient recipient = recipient(to);
        // A recipient named by email gets email at that address, and other channels use the profile's addresses.
        boolean address = profile == null || (medium == Medium.EMAIL && !to.equals(profile.name()));
        var hop = new RouteSetting.RouteEntry(channel, template, RouteSetting.When.ALWAYS);
        Recipient reached = address ? recipient.withAddress(medium, to) : recipient;
        NotificationRouter.ChannelDecision choice = switch (OptOutPolicy.decide(reached, new OptOutPolicy.TargetChannel(channel, medium), null)) {
            case OptOutPolicy.Allowed(String reason) ->
                new NotificationRouter.Selected(hop, String.valueOf(reached.addresses().get(medium)), reason);
            case OptOutPolicy.Denied(String reason) -> new NotificationRouter.Skipped(hop, reason, false);
        };
        return List.of(List.of(plannedChannel(choice)));
    }

    private List<List<PlannedChannel>> plan(RouteSetting route, Recipient recipient) {
        Map<String, Medium> channels = new HashMap<>();
        Set<String> templates = new HashSet<>();
        for (RouteSetting.RouteEntry hop : route.entries()) {
            SettingRepository.StoredSetting<ChannelSetting> channel = settings.channels().find(workspace, hop.channel());
            if (channel != null) {
                channels.put(hop.channel(), ChannelFactory.medium(channel.value()));
            }
            if (settings.templates().find(workspace, hop.template()) != null) {
                templates.add(hop.template());
            }
        }
        NotificationRouter.RoutePlan plan = NotificationRouter.plan(route, recipient, new NotificationRouter.AvailableChannels(channels, templates));
        if (plan.sendsNothing() && plan.hasConfigurationError()) {
            throw new SemelException(
                    ErrorCode.INVALID_INPUT,
                    "No channel of the route for event '%s' is usable: one or its template is missing. Nothing was sent."
                            .formatted(route.event()),
                    "Show the route with `semel route show %s`, then create what is missing."
                            .formatted(route.event()));
        }
        return plan.legs().stream()
                .map(leg -> leg.decisions().stream().map(this::plannedChannel).toList())
                .toList();
    }

    private PlannedChannel plannedChannel(NotificationRouter.ChannelDecision choice) {
        SettingRepository.StoredSetting<TemplateSetting> template =
                settings.templates().find(workspace, choice.entry().template());
        return new PlannedChannel(choice, template == null ? 0 : template.version());
    }

    /** Collects opt-outs by profile and by each address, because they are stored under both. */
    private Recipient recipient(String to) {
        SettingRepository.StoredSetting<RecipientProfile> profile = settings.profiles().findByIdOrEmail(workspace, to);
        if (profile == null) {
            return Recipient.ofAddress(to).withOptOuts(settings.subscriptions().list(workspace, RecipientSubscriptions.normalizeAddress(to)));
        }
        RecipientProfile known = profile.value();
        Set<String> names = new LinkedHashSet<>(List.of(profile.name(), RecipientSubscriptions.normalizeAddress(to)));
        Stream.of(known.email(), known.phone()).flatMap(Stream::ofNullable).forEach(names::add);
        List<RecipientSubscriptions.Subscription> subscriptions = names.stream()
                .flatMap(name -> settings.subscriptions().list(workspace, name).stream())
                .toList();
        return Recipient.of(profile.name(), known, subscriptions);
    }

    /**
     * A message to send over one channel.
     *
     * @param version template version
     * @param data values for the template
     * @param overrides channel settings that the step replaces; an object of texts
     * @param depth length of the chain of runs that started each other
     */
    public record OutgoingMessage(
            String channel,
            String template,
            int version,
            String to,
            JsonNode data,
            JsonNode overrides,
            String runId,
            int depth) {
        /** For a run at depth 1. */
        public OutgoingMessage(
                String channel,
                String template,
                int version,
                String to,
                JsonNode data,
                JsonNode overrides,
                String runId) {
            this(channel, template, version, to, data, overrides, runId, 1);
        }
    }

    /** Sends one message once; {@link Channel} documents the failures. */
    public DeliveryReceipt send(Step step, OutgoingMessage letter) throws IOException, InterruptedException {
        Channel channel = PreSendGuard.run(() -> channel(letter.channel()));
        Message message = PreSendGuard.run(() -> message(letter, channel));
        try {
            DeliveryReceipt delivery = channel.send(step, message);
            String id = delivery.messageId();
            return new DeliveryReceipt(id == null ? null : redact(id), redact(delivery.detail()));
        } catch (HttpStatus status) {
            // The body of an error response may repeat the credential, so it is dropped.
            throw new HttpStatus(status.status(), JsonNodeFactory.instance.nullNode(), status.retryAfter());
        }
    }

    private String redact(String said) {
        return settings.redaction().redact(workspace, said);
    }

    /** @throws SemelException if there is no channel of that name */
    public Channel channel(String name) {
        SettingRepository.StoredSetting<ChannelSetting> kept = settings.channels().find(workspace, name);
        if (kept == null) {
            throw missing("channel", name, "PUT /v1/channels/" + name);
        }
        return ChannelFactory.create(kept.value(), ports);
    }

    private Message message(OutgoingMessage letter, Channel channel) {
        SettingRepository.StoredSetting<TemplateSetting> kept = settings.templates().findVersion(workspace, letter.template(), letter.version());
        if (kept == null) {
            throw missing("template", letter.template(), "PUT /v1/templates/" + letter.template());
        }
        RenderedMessage rendered = MessageTemplate.of(letter.template(), kept.value()).render(letter.data());
        Map<String, String> overrides = new LinkedHashMap<>();
        for (Map.Entry<String, JsonNode> override : letter.overrides().properties()) {
            if (!channel.overrides().contains(override.getKey())
                    || !override.getValue().isString()) {
                throw new Rejected(
                        "channel %s rejects an override: unknown name or no text. Supported: %s. Nothing was sent."
                                .formatted(
                                        letter.channel(),
                                        String.join(
                                                ", ",
                                                channel.overrides().stream()
                                                        .sorted()
                                                        .toList())));
            }
            overrides.put(override.getKey(), override.getValue().stringValue());
        }
        return new Message(letter.to(), rendered, overrides, Map.of("X-Semel-Run", letter.runId()), letter.depth());
    }

    /** A template in a search result. */
    public record TemplateMatch(String name, int version, String channel) {}

    /** @param channel the channel kind to filter by; null for all */
    public List<TemplateMatch> templates(String prefix, @Nullable String channel) {
        List<TemplateMatch> found = new ArrayList<>();
        SettingRepository.StoredSetting<TemplateSetting> exact = settings.templates().find(workspace, prefix);
        String after = prefix;
        if (exact != null) {
            add(exact, channel, found);
        }
        while (found.size() < MOST_FOUND) {
            List<StoredRows.SettingRow> rows = settings.templates().page(workspace, after, PAGE);
            for (StoredRows.SettingRow row : rows) {
                if (!row.name().startsWith(prefix)) {
                    return found;
                }
                add(settings.templates().find(workspace, row.name()), channel, found);
                after = row.name();
            }
            if (rows.size() < PAGE) {
                return found;
            }
        }
        return found;
    }

    private static void add(SettingRepository.@Nullable StoredSetting<TemplateSetting> kept, @Nullable String channel, List<TemplateMatch> found) {
        if (kept != null && (channel == null || channel.equals(kept.value().channel()))) {
            found.add(new TemplateMatch(kept.name(), kept.version(), kept.value().channel()));
        }
    }

    private static SemelException missing(String what, String name, String how) {
        return new SemelException(
                ErrorCode.NOT_FOUND,
                "There is no %s '%s' in this workspace. Nothing was sent.".formatted(what, name),
                "Correct the name in the workflow, or create it with %s.".formatted(how));
    }
}
