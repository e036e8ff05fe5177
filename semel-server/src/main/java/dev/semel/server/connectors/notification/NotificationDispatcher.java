package dev.semel.server.connectors.notification;

import dev.semel.error.ErrorCode;
import dev.semel.error.HttpStatusException;
import dev.semel.error.RequestRejected;
import dev.semel.error.SemelException;
import dev.semel.server.connectors.channel.NotificationChannel;
import dev.semel.server.connectors.channel.NotificationChannelFactory;
import dev.semel.server.connectors.channel.NotificationDeliveryReceipt;
import dev.semel.server.connectors.channel.NotificationMessage;
import dev.semel.server.connectors.channel.NotificationPreSendFailureTranslator;
import dev.semel.server.connectors.template.NotificationMedium;
import dev.semel.server.connectors.template.NotificationTemplate;
import dev.semel.server.connectors.template.RenderedMessage;
import dev.semel.server.settings.NotificationChannelSetting;
import dev.semel.server.settings.NotificationRouteSetting;
import dev.semel.server.settings.NotificationTemplateSetting;
import dev.semel.server.settings.RecipientProfile;
import dev.semel.server.settings.RecipientTopicSubscriptionStore;
import dev.semel.server.settings.WorkspaceSettingRepositories;
import dev.semel.server.settings.WorkspaceSettingRepository.StoredSetting;
import dev.semel.store.DatabaseRows;
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

/** Plans and sends messages. A plan fixes the template version, so every attempt sends the same text. */
public final class NotificationDispatcher {
    private static final int PAGE = 200;
    private static final int MOST_FOUND = 1_000;

    private final int workspace;
    private final WorkspaceSettingRepositories settings;
    private final NotificationChannelFactory.ChannelServices ports;
    private final UnsubscribeLinks unsubscribeLinks;

    /** @param ports services whose secrets belong to this workspace */
    public NotificationDispatcher(
            int workspace,
            WorkspaceSettingRepositories settings,
            NotificationChannelFactory.ChannelServices ports,
            UnsubscribeLinks unsubscribeLinks) {
        this.unsubscribeLinks = unsubscribeLinks;
        this.workspace = workspace;
        this.settings = settings;
        this.ports = ports;
    }

    /**
     * One channel decision of a plan with the template version at planning time.
     *
     * @param topic from which the recipient can unsubscribe by a link in the message; empty for none
     */
    public record PlannedChannel(NotificationRouter.ChannelDecision decision, int version, String topic) {}

    /**
     * Plans which channels deliver a notification to a recipient.
     *
     * @param to a profile id or an address
     * @return route legs, each a channel with its fallbacks
     * @throws SemelException if there is no such route, or its configuration leaves no channel
     */
    public List<List<PlannedChannel>> plan(String notification, String to) {
        NotificationRouteSetting route = require(
                settings.routes().find(workspace, notification), "route for notification", "routes", notification);
        return plan(route, recipient(to));
    }

    /** Plans a message whose channel and template the workflow names; opt-outs apply too. */
    public List<List<PlannedChannel>> plan(String channel, String template, String to) {
        NotificationMedium medium = NotificationChannelFactory.medium(findChannel(channel));
        require(settings.templates().find(workspace, template), "template", "templates", template);
        StoredSetting<RecipientProfile> profile = settings.profiles().findByIdOrEmail(workspace, to);
        NotificationRecipient recipient = recipient(to);
        // A recipient named by email gets email at that address, and other channels use the profile's addresses.
        boolean address = profile == null || (medium == NotificationMedium.EMAIL && !to.equals(profile.name()));
        var hop = new NotificationRouteSetting.RouteEntry(channel, template, NotificationRouteSetting.When.ALWAYS);
        NotificationRecipient reached = address ? recipient.withAddress(medium, to) : recipient;
        NotificationRouter.ChannelDecision choice = switch (NotificationOptOutPolicy.decide(
                reached, new NotificationOptOutPolicy.TargetChannel(channel, medium), null)) {
            case NotificationOptOutPolicy.Allowed(String reason) ->
                new NotificationRouter.Selected(
                        hop, String.valueOf(reached.addresses().get(medium)), reason);
            case NotificationOptOutPolicy.Denied(String reason) -> new NotificationRouter.Skipped(hop, reason, false);
        };
        return List.of(List.of(plannedChannel(choice, "")));
    }

    private List<List<PlannedChannel>> plan(NotificationRouteSetting route, NotificationRecipient recipient) {
        Map<String, NotificationMedium> channels = new HashMap<>();
        Set<String> templates = new HashSet<>();
        for (NotificationRouteSetting.RouteEntry hop : route.entries()) {
            StoredSetting<NotificationChannelSetting> channel =
                    settings.channels().find(workspace, hop.channel());
            if (channel != null) {
                channels.put(hop.channel(), NotificationChannelFactory.medium(channel.value()));
            }
            if (settings.templates().find(workspace, hop.template()) != null) {
                templates.add(hop.template());
            }
        }
        NotificationRouter.RoutePlan plan = NotificationRouter.plan(
                route, recipient, new NotificationRouter.AvailableChannels(channels, templates));
        if (plan.sendsNothing() && plan.hasConfigurationError()) {
            throw new SemelException(
                    ErrorCode.INVALID_INPUT,
                    "No channel of the route for notification '%s' is usable: a channel or its template is missing. Nothing was sent."
                            .formatted(route.notification()),
                    "Show the route with `semel route show %s`, then create what is missing."
                            .formatted(route.notification()));
        }
        return plan.legs().stream()
                .map(leg -> leg.decisions().stream()
                        .map(choice -> plannedChannel(
                                choice,
                                !route.essential()
                                                && channels.get(choice.entry().channel()) == NotificationMedium.EMAIL
                                        ? route.notification()
                                        : ""))
                        .toList())
                .toList();
    }

    private PlannedChannel plannedChannel(NotificationRouter.ChannelDecision choice, String topic) {
        StoredSetting<NotificationTemplateSetting> template =
                settings.templates().find(workspace, choice.entry().template());
        return new PlannedChannel(choice, template == null ? 0 : template.version(), topic);
    }

    /** Collects opt-outs by profile and by each address, because they are stored under both. */
    private NotificationRecipient recipient(String to) {
        StoredSetting<RecipientProfile> profile = settings.profiles().findByIdOrEmail(workspace, to);
        if (profile == null) {
            return NotificationRecipient.ofAddress(to)
                    .withOptOuts(settings.subscriptions()
                            .list(workspace, RecipientTopicSubscriptionStore.normalizeAddress(to)));
        }
        RecipientProfile recipientProfile = profile.value();
        Set<String> names =
                new LinkedHashSet<>(List.of(profile.name(), RecipientTopicSubscriptionStore.normalizeAddress(to)));
        Stream.of(recipientProfile.email(), recipientProfile.phone())
                .flatMap(Stream::ofNullable)
                .forEach(names::add);
        List<RecipientTopicSubscriptionStore.Subscription> subscriptions = names.stream()
                .flatMap(name -> settings.subscriptions().list(workspace, name).stream())
                .toList();
        return NotificationRecipient.of(profile.name(), recipientProfile, subscriptions);
    }

    /**
     * A message to send over one channel.
     *
     * @param version template version
     * @param data values for the template
     * @param overrides channel settings that the step replaces; an object of texts
     * @param depth length of the chain of runs that started each other
     * @param topic from which the recipient can unsubscribe by a link in the message; empty for none
     */
    public record OutgoingMessage(
            String channel,
            String template,
            int version,
            String to,
            JsonNode data,
            JsonNode overrides,
            String runId,
            int depth,
            String topic) {}

    /** Sends one message once; {@link NotificationChannel} documents the failures. */
    public NotificationDeliveryReceipt send(Step step, OutgoingMessage outgoingMessage)
            throws IOException, InterruptedException {
        NotificationChannel channel =
                NotificationPreSendFailureTranslator.run(() -> channel(outgoingMessage.channel()));
        NotificationMessage message = NotificationPreSendFailureTranslator.run(() -> message(outgoingMessage, channel));
        try {
            NotificationDeliveryReceipt delivery = channel.send(step, message);
            String id = delivery.messageId();
            return new NotificationDeliveryReceipt(id == null ? null : redact(id), redact(delivery.detail()));
        } catch (HttpStatusException status) {
            // The body of an error response may repeat the credential, so it is dropped.
            throw new HttpStatusException(status.status(), JsonNodeFactory.instance.nullNode(), status.retryAfter());
        }
    }

    private String redact(String said) {
        return settings.redaction().redact(workspace, said);
    }

    /** @throws SemelException if there is no channel of that name */
    public NotificationChannel channel(String name) {
        return NotificationChannelFactory.create(findChannel(name), ports);
    }

    private NotificationChannelSetting findChannel(String name) {
        return require(settings.channels().find(workspace, name), "channel", "channels", name);
    }

    private NotificationMessage message(OutgoingMessage outgoingMessage, NotificationChannel channel) {
        String name = outgoingMessage.template();
        NotificationTemplateSetting template = require(
                settings.templates().findVersion(workspace, name, outgoingMessage.version()),
                "template",
                "templates",
                name);
        RenderedMessage rendered = NotificationTemplate.of(name, template).render(outgoingMessage.data());
        Map<String, String> overrides = new LinkedHashMap<>();
        for (Map.Entry<String, JsonNode> override : outgoingMessage.overrides().properties()) {
            if (!channel.overrides().contains(override.getKey())
                    || !override.getValue().isString()) {
                throw new RequestRejected(
                        "channel %s rejects an override: its name is unknown or its value is not text. Supported names: %s. Nothing was sent."
                                .formatted(
                                        outgoingMessage.channel(),
                                        String.join(
                                                ", ",
                                                channel.overrides().stream()
                                                        .sorted()
                                                        .toList())));
            }
            overrides.put(override.getKey(), override.getValue().stringValue());
        }
        return new NotificationMessage(
                outgoingMessage.to(), rendered, overrides, headers(outgoingMessage), outgoingMessage.depth());
    }

    private Map<String, String> headers(OutgoingMessage outgoingMessage) {
        Map<String, String> headers = new LinkedHashMap<>();
        headers.put("X-Semel-Run", outgoingMessage.runId());
        if (!outgoingMessage.topic().isEmpty()) {
            headers.putAll(unsubscribeLinks.headers(
                    new UnsubscribeLinks.OptOut(workspace, outgoingMessage.to(), outgoingMessage.topic())));
        }
        return headers;
    }

    public record TemplateMatch(String name, int version, String channel) {}

    /** @param channel the channel kind to filter by; null for all */
    public List<TemplateMatch> templates(String prefix, @Nullable String channel) {
        List<TemplateMatch> found = new ArrayList<>();
        StoredSetting<NotificationTemplateSetting> exact = settings.templates().find(workspace, prefix);
        String after = prefix;
        if (exact != null) {
            add(exact, channel, found);
        }
        while (found.size() < MOST_FOUND) {
            List<DatabaseRows.SettingRow> rows = settings.templates().page(workspace, after, PAGE);
            for (DatabaseRows.SettingRow row : rows) {
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

    private static void add(
            @Nullable StoredSetting<NotificationTemplateSetting> stored,
            @Nullable String channel,
            List<TemplateMatch> found) {
        if (stored != null && (channel == null || channel.equals(stored.value().channel()))) {
            found.add(new TemplateMatch(
                    stored.name(), stored.version(), stored.value().channel()));
        }
    }

    /** @param path the path segment of its API routes */
    private static <T> T require(@Nullable StoredSetting<T> stored, String what, String path, String name) {
        if (stored == null) {
            throw new SemelException(
                    ErrorCode.NOT_FOUND,
                    "There is no %s '%s' in this workspace. Nothing was sent.".formatted(what, name),
                    "Correct the name in the workflow, or create the missing document with PUT /v1/%s/%s."
                            .formatted(path, name));
        }
        return stored.value();
    }
}
