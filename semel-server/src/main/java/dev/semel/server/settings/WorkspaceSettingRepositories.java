package dev.semel.server.settings;

import dev.semel.runtime.SemelRuntime;
import java.util.List;
import java.util.function.Function;
import tools.jackson.databind.JsonNode;

/**
 * Access to all stored settings of workspaces: secrets, templates, channels, routes, webhooks, alerts, profiles.
 *
 * @param routes by event name
 * @param alertStates by alert name
 * @param views saved run filters
 */
public record WorkspaceSettingRepositories(
        SecretStore secrets,
        SecretRedactor redaction,
        WorkspaceSettingRepository<NotificationTemplateSetting> templates,
        WorkspaceSettingRepository<NotificationChannelSetting> channels,
        WorkspaceSettingRepository<NotificationRouteSetting> routes,
        WorkspaceSettingRepository<InboundWebhookSetting> webhooks,
        WorkspaceSettingRepository<IncidentReport> incidents,
        WorkspaceSettingRepository<AlertSetting> alerts,
        WorkspaceSettingRepository<JsonNode> alertStates,
        WorkspaceSettingRepository<SavedRunFilterSetting> views,
        RecipientProfileStore profiles,
        RecipientTopicSubscriptionStore subscriptions,
        RecipientGroupStore cohorts) {
    private static final int LARGEST_CHANNEL = 64 << 10;
    private static final int LARGEST_ROUTE = 16 << 10;
    private static final int MAX_WEBHOOK_BYTES = 16 << 10;
    private static final int LARGEST_ALERT = 4 << 10;

    /** Validation beyond the document's form, applied when it is stored rather than when it is used. */
    public record DocumentChecks(
            Function<NotificationTemplateSetting, List<WorkspaceSettingValidationProblem>> templates,
            Function<NotificationChannelSetting, List<WorkspaceSettingValidationProblem>> channels) {}

    public WorkspaceSettingRepositories(SemelRuntime semel, SecretEncryptionKeys keys) {
        this(semel, keys, new DocumentChecks(template -> List.of(), channel -> List.of()));
    }

    public WorkspaceSettingRepositories(SemelRuntime semel, SecretEncryptionKeys keys, DocumentChecks checks) {
        this(semel, new SecretStore(semel, keys), checks);
    }

    private WorkspaceSettingRepositories(SemelRuntime semel, SecretStore secrets, DocumentChecks checks) {
        this(
                secrets,
                new SecretRedactor(semel, secrets),
                new WorkspaceSettingRepository<>(
                        semel,
                        WorkspaceSettingKinds.TEMPLATE,
                        NotificationTemplateSetting.LARGEST,
                        node -> NotificationTemplateSetting.read(node, checks.templates())),
                new WorkspaceSettingRepository<>(
                        semel,
                        WorkspaceSettingKinds.CHANNEL,
                        LARGEST_CHANNEL,
                        node -> NotificationChannelSettingParser.read(node, checks.channels())),
                new WorkspaceSettingRepository<>(
                        semel, WorkspaceSettingKinds.ROUTE, LARGEST_ROUTE, NotificationRouteSetting::read),
                new WorkspaceSettingRepository<>(
                        semel, WorkspaceSettingKinds.WEBHOOK, MAX_WEBHOOK_BYTES, InboundWebhookSettingParser::read),
                new WorkspaceSettingRepository<>(
                        semel, WorkspaceSettingKinds.INCIDENT, IncidentReport.LARGEST, IncidentReport::read),
                new WorkspaceSettingRepository<>(semel, WorkspaceSettingKinds.ALERT, LARGEST_ALERT, AlertSetting::read),
                new WorkspaceSettingRepository<>(semel, WorkspaceSettingKinds.ALERT_STATE, LARGEST_ALERT, node -> node),
                new WorkspaceSettingRepository<>(
                        semel, WorkspaceSettingKinds.VIEW, SavedRunFilterSetting.LARGEST, SavedRunFilterSetting::read),
                new RecipientProfileStore(semel),
                new RecipientTopicSubscriptionStore(semel),
                new RecipientGroupStore(semel));
    }
}
