package dev.semel.server.settings;

import dev.semel.runtime.SemelRuntime;
import java.util.List;
import java.util.function.Function;
import tools.jackson.databind.JsonNode;

/** Access to all stored settings of workspaces: secrets, templates, channels, routes, webhooks, alerts, profiles. */
public final class WorkspaceSettings {
    private static final int LARGEST_CHANNEL = 64 << 10;
    private static final int LARGEST_ROUTE = 16 << 10;
    private static final int LARGEST_HOOK = 16 << 10;
    private static final int LARGEST_ALERT = 4 << 10;

    private final SecretStore secrets;
    private final SecretRedactor redaction;
    private final SettingRepository<TemplateSetting> templates;
    private final SettingRepository<ChannelSetting> channels;
    private final SettingRepository<RouteSetting> routes;
    private final SettingRepository<WebhookSetting> webhooks;
    private final SettingRepository<IncidentReport> incidents;
    private final SettingRepository<AlertSetting> alerts;
    private final SettingRepository<JsonNode> alertStates;
    private final SettingRepository<SavedViewSetting> views;
    private final RecipientProfiles profiles;
    private final RecipientSubscriptions subscriptions;
    private final ProfileCohorts cohorts;

    public WorkspaceSettings(SemelRuntime semel, SecretEncryptionKeys keys) {
        this(semel, keys, new DocumentChecks(_ -> List.of(), _ -> List.of()));
    }

    /** Validation beyond the document's form, applied when it is stored rather than when it is used. */
    public record DocumentChecks(
            Function<TemplateSetting, List<SettingProblem>> templates, Function<ChannelSetting, List<SettingProblem>> channels) {}

    public WorkspaceSettings(SemelRuntime semel, SecretEncryptionKeys keys, DocumentChecks checks) {
        this.secrets = new SecretStore(semel, keys);
        this.redaction = new SecretRedactor(semel, secrets);
        this.templates = new SettingRepository<>(
                semel,
                new SettingRepository.DocumentType<>(
                        SettingKinds.TEMPLATE,
                        "template",
                        TemplateSetting.LARGEST,
                        node -> TemplateSetting.read(node, checks.templates())));
        this.channels = new SettingRepository<>(
                semel,
                new SettingRepository.DocumentType<>(
                        SettingKinds.CHANNEL,
                        "channel",
                        LARGEST_CHANNEL,
                        node -> ChannelSettingReader.read(node, checks.channels())));
        this.routes = new SettingRepository<>(semel, new SettingRepository.DocumentType<>(SettingKinds.ROUTE, "route", LARGEST_ROUTE, RouteSetting::read));
        this.webhooks = new SettingRepository<>(semel, new SettingRepository.DocumentType<>(SettingKinds.HOOK, "hook", LARGEST_HOOK, WebhookSettingReader::read));
        this.incidents =
                new SettingRepository<>(semel, new SettingRepository.DocumentType<>(SettingKinds.INCIDENT, "incident", IncidentReport.LARGEST, IncidentReport::read));
        this.alerts = new SettingRepository<>(semel, new SettingRepository.DocumentType<>(SettingKinds.ALERT, "alert", LARGEST_ALERT, AlertSetting::read));
        this.alertStates = new SettingRepository<>(semel, new SettingRepository.DocumentType<>(SettingKinds.ALARM, "alarm", LARGEST_ALERT, node -> node));
        this.views = new SettingRepository<>(semel, new SettingRepository.DocumentType<>(SettingKinds.VIEW, "view", SavedViewSetting.LARGEST, SavedViewSetting::read));
        this.profiles = new RecipientProfiles(semel);
        this.subscriptions = new RecipientSubscriptions(semel);
        this.cohorts = new ProfileCohorts(semel);
    }

    public SecretStore secrets() {
        return secrets;
    }

    public SecretRedactor redaction() {
        return redaction;
    }

    public SettingRepository<TemplateSetting> templates() {
        return templates;
    }

    public SettingRepository<ChannelSetting> channels() {
        return channels;
    }

    /** By event name. */
    public SettingRepository<RouteSetting> routes() {
        return routes;
    }

    /** Webhook sources. */
    public SettingRepository<WebhookSetting> webhooks() {
        return webhooks;
    }

    /** Incident reports. */
    public SettingRepository<IncidentReport> incidents() {
        return incidents;
    }

    /** Alert definitions. */
    public SettingRepository<AlertSetting> alerts() {
        return alerts;
    }

    /** Alert states by alert name. */
    public SettingRepository<JsonNode> alertStates() {
        return alertStates;
    }

    /** Saved run filters. */
    public SettingRepository<SavedViewSetting> views() {
        return views;
    }

    public RecipientProfiles profiles() {
        return profiles;
    }

    public RecipientSubscriptions subscriptions() {
        return subscriptions;
    }

    public ProfileCohorts cohorts() {
        return cohorts;
    }
}
