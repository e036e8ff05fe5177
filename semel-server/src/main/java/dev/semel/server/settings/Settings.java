package dev.semel.server.settings;

import dev.semel.Semel;
import java.util.List;
import java.util.function.Function;
import tools.jackson.databind.JsonNode;

/** Access to all stored settings of workspaces: secrets, templates, channels, routes, webhooks, alerts, profiles. */
public final class Settings {
    private static final int LARGEST_CHANNEL = 64 << 10;
    private static final int LARGEST_ROUTE = 16 << 10;
    private static final int LARGEST_HOOK = 16 << 10;
    private static final int LARGEST_ALERT = 4 << 10;

    private final Secrets secrets;
    private final Redaction redaction;
    private final Shelf<TemplateSetting> templates;
    private final Shelf<ChannelSetting> channels;
    private final Shelf<RouteSetting> routes;
    private final Shelf<HookSetting> hooks;
    private final Shelf<Incident> incidents;
    private final Shelf<AlertSetting> alerts;
    private final Shelf<JsonNode> alarms;
    private final Shelf<ViewSetting> views;
    private final Profiles profiles;
    private final Subscriptions subscriptions;
    private final Cohorts cohorts;

    public Settings(Semel semel, SecretKeys keys) {
        this(semel, keys, new Checks(_ -> List.of(), _ -> List.of()));
    }

    /** Validation beyond the document's form, applied when it is stored rather than when it is used. */
    public record Checks(
            Function<TemplateSetting, List<Problem>> templates, Function<ChannelSetting, List<Problem>> channels) {}

    public Settings(Semel semel, SecretKeys keys, Checks checks) {
        this.secrets = new Secrets(semel, keys);
        this.redaction = new Redaction(semel, secrets);
        this.templates = new Shelf<>(
                semel,
                new Shelf.Sort<>(
                        Kinds.TEMPLATE,
                        "template",
                        TemplateSetting.LARGEST,
                        node -> TemplateSetting.read(node, checks.templates())));
        this.channels = new Shelf<>(
                semel,
                new Shelf.Sort<>(
                        Kinds.CHANNEL,
                        "channel",
                        LARGEST_CHANNEL,
                        node -> ChannelReader.read(node, checks.channels())));
        this.routes = new Shelf<>(semel, new Shelf.Sort<>(Kinds.ROUTE, "route", LARGEST_ROUTE, RouteSetting::read));
        this.hooks = new Shelf<>(semel, new Shelf.Sort<>(Kinds.HOOK, "hook", LARGEST_HOOK, HookReader::read));
        this.incidents =
                new Shelf<>(semel, new Shelf.Sort<>(Kinds.INCIDENT, "incident", Incident.LARGEST, Incident::read));
        this.alerts = new Shelf<>(semel, new Shelf.Sort<>(Kinds.ALERT, "alert", LARGEST_ALERT, AlertSetting::read));
        this.alarms = new Shelf<>(semel, new Shelf.Sort<>(Kinds.ALARM, "alarm", LARGEST_ALERT, node -> node));
        this.views = new Shelf<>(semel, new Shelf.Sort<>(Kinds.VIEW, "view", ViewSetting.LARGEST, ViewSetting::read));
        this.profiles = new Profiles(semel);
        this.subscriptions = new Subscriptions(semel);
        this.cohorts = new Cohorts(semel);
    }

    public Secrets secrets() {
        return secrets;
    }

    public Redaction redaction() {
        return redaction;
    }

    public Shelf<TemplateSetting> templates() {
        return templates;
    }

    public Shelf<ChannelSetting> channels() {
        return channels;
    }

    /** By event name. */
    public Shelf<RouteSetting> routes() {
        return routes;
    }

    /** Webhook sources. */
    public Shelf<HookSetting> hooks() {
        return hooks;
    }

    /** Incident reports. */
    public Shelf<Incident> incidents() {
        return incidents;
    }

    /** Alert definitions. */
    public Shelf<AlertSetting> alerts() {
        return alerts;
    }

    /** Alert states by alert name. */
    public Shelf<JsonNode> alarms() {
        return alarms;
    }

    /** Saved run filters. */
    public Shelf<ViewSetting> views() {
        return views;
    }

    public Profiles profiles() {
        return profiles;
    }

    public Subscriptions subscriptions() {
        return subscriptions;
    }

    public Cohorts cohorts() {
        return cohorts;
    }
}
