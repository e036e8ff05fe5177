package dev.semel.server.settings;

import dev.semel.Semel;
import java.util.List;
import java.util.function.Function;
import tools.jackson.databind.JsonNode;

/** Everything that a workspace keeps beside its workflows. */
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

    /** What else is wrong with a document than its form: told when it is stored and not when something is sent. */
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

    /** By the name of their event. */
    public Shelf<RouteSetting> routes() {
        return routes;
    }

    /** Sources of webhooks. */
    public Shelf<HookSetting> hooks() {
        return hooks;
    }

    /** Reviews of what went wrong. */
    public Shelf<Incident> incidents() {
        return incidents;
    }

    /** Who is told when. */
    public Shelf<AlertSetting> alerts() {
        return alerts;
    }

    /** How each alert stands, under its name. */
    public Shelf<JsonNode> alarms() {
        return alarms;
    }

    /** Filters of runs by their names. */
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
