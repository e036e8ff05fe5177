package dev.semel.server.api;

import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.server.http.HttpRequest;
import dev.semel.server.http.Router;
import dev.semel.server.http.TokenScope;
import dev.semel.server.settings.AlertSetting;
import dev.semel.server.settings.ChannelSetting;
import dev.semel.server.settings.RouteSetting;
import dev.semel.server.settings.SavedViewSetting;
import dev.semel.server.settings.WorkspaceSettings;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Registers the routes of all workspace settings. */
final class WorkspaceSettingRoutes {
    /** JSON escaping makes a document longer than its texts. */
    private static final int MAX_TEMPLATE_BYTES = 768 << 10;

    private static final int MAX_CHANNEL_BYTES = 256 << 10;
    private static final int MAX_ROUTE_BYTES = 64 << 10;

    private static final Pattern SECRET = Pattern.compile("\\$\\{\\s*secret\\.([A-Za-z][A-Za-z0-9._-]{0,63})\\s*\\}");

    private final WorkspaceSettings settings;

    WorkspaceSettingRoutes(WorkspaceSettings settings) {
        this.settings = settings;
    }

    void addTo(Router router, IdempotentActions plain) {
        SettingActions actions = new SettingActions(plain);
        new SecretRoutes(settings.secrets(), actions).addTo(router);
        var templates = new SettingRoutes<>(
                settings.templates(),
                actions,
                new SettingRoutes.SettingEndpoint("/v1/templates", "name", TokenScope.ADMIN, MAX_TEMPLATE_BYTES),
                (_, _) -> List.of());
        templates.addTo(router);
        templates.addVersionsTo(router);
        new SettingRoutes<>(
                        settings.channels(),
                        actions,
                        new SettingRoutes.SettingEndpoint("/v1/channels", "name", TokenScope.ADMIN, MAX_CHANNEL_BYTES),
                        this::missingSecrets)
                .addTo(router);
        new SettingRoutes<>(
                        settings.routes(),
                        actions,
                        new SettingRoutes.SettingEndpoint("/v1/routes", "event", TokenScope.ADMIN, MAX_ROUTE_BYTES),
                        this::missingLegs)
                .addTo(router);
        new SettingRoutes<>(
                        settings.alerts(),
                        actions,
                        new SettingRoutes.SettingEndpoint("/v1/alerts", "name", TokenScope.ADMIN, MAX_ROUTE_BYTES),
                        this::missingChannel)
                .addTo(router);
        new SettingRoutes<>(
                        settings.views(),
                        actions,
                        new SettingRoutes.SettingEndpoint(
                                "/v1/views", "name", TokenScope.OPERATE, MAX_ROUTE_BYTES, true),
                        WorkspaceSettingRoutes::rejectForeignOwner)
                .addTo(router);
        router.add("GET", "/v1/alerts/{name}/state", TokenScope.READ, new AlertStateRoutes(settings)::state);
        new ProfileRoutes(settings, actions).addTo(router);
        new CohortRoutes(settings.cohorts(), actions).addTo(router);
    }

    /** Rejects a view with an invalid filter or with another user as owner. */
    private static List<String> rejectForeignOwner(HttpRequest request, SavedViewSetting view) {
        RunRoutes.RunListFilter.parse(view.filter());
        if (view.owner() != null && !view.owner().equals(request.principal().tokenId())) {
            throw new SemelException(
                    ErrorCode.INVALID_INPUT,
                    "The owner of the view is another user. Nothing was changed.",
                    "Omit owner to share the view, or send your own id: "
                            + request.principal().tokenId() + ".");
        }
        return List.of();
    }

    /** Only warnings: the secrets may be stored later. Until then the channel cannot send. */
    private List<String> missingSecrets(HttpRequest request, ChannelSetting channel) {
        Set<String> named = new TreeSet<>();
        switch (channel) {
            case ChannelSetting.Email email -> add(named, email.smtp().passwordSecret());
            case ChannelSetting.Webhook hook -> {
                add(named, hook.address().urlSecret());
                add(named, hook.signingSecret());
                hook.headers().values().forEach(value -> addAll(named, value));
            }
            case ChannelSetting.Provider provider ->
                provider.http().headers().values().forEach(value -> addAll(named, value));
        }
        return named.stream()
                .filter(name -> !settings.secrets().exists(request.principal().workspace(), name))
                .map(name -> "secret " + name + " does not exist yet; store it with `semel secret set " + name + "`")
                .toList();
    }

    private static void add(Set<String> names, @Nullable String name) {
        if (name != null) {
            names.add(name);
        }
    }

    private static void addAll(Set<String> names, String text) {
        SECRET.matcher(text).results().forEach(found -> names.add(found.group(1)));
    }

    private List<String> missingChannel(HttpRequest request, AlertSetting alert) {
        return settings.channels().find(request.principal().workspace(), alert.channel()) == null
                ? List.of("channel " + alert.channel() + " does not exist yet; until then the alert notifies nobody")
                : List.of();
    }

    private List<String> missingLegs(HttpRequest request, RouteSetting route) {
        if (!route.event().equals(request.parameter("event"))) {
            throw new SemelException(
                    ErrorCode.INVALID_INPUT,
                    "The document has event: " + route.event() + ", but the path names another. Nothing was changed.",
                    "Use the same name in both.");
        }
        int workspace = request.principal().workspace();
        List<String> warnings = new ArrayList<>();
        for (RouteSetting.RouteEntry leg : route.entries()) {
            if (settings.channels().find(workspace, leg.channel()) == null) {
                warnings.add("channel " + leg.channel() + " does not exist yet");
            }
            if (settings.templates().find(workspace, leg.template()) == null) {
                warnings.add("template " + leg.template() + " does not exist yet");
            }
        }
        return warnings;
    }
}
