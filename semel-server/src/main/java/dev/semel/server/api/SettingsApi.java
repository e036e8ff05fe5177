package dev.semel.server.api;

import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.server.http.Request;
import dev.semel.server.http.Router;
import dev.semel.server.http.Scope;
import dev.semel.server.settings.AlertSetting;
import dev.semel.server.settings.ChannelSetting;
import dev.semel.server.settings.RouteSetting;
import dev.semel.server.settings.Settings;
import dev.semel.server.settings.ViewSetting;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Every route under which a workspace's settings are looked at and changed. */
final class SettingsApi {
    /** A document in JSON is longer than its texts, since quotes and line breaks are escaped there. */
    private static final int LARGEST_TEMPLATE = 768 << 10;

    private static final int LARGEST_CHANNEL = 256 << 10;
    private static final int LARGEST_ROUTE = 64 << 10;

    private static final Pattern SECRET = Pattern.compile("\\$\\{\\s*secret\\.([A-Za-z][A-Za-z0-9._-]{0,63})\\s*\\}");

    private final Settings settings;

    SettingsApi(Settings settings) {
        this.settings = settings;
    }

    void addTo(Router router, Deeds plain) {
        SettingDeeds deeds = new SettingDeeds(plain);
        new SecretRoutes(settings.secrets(), deeds).addTo(router);
        var templates = new SettingRoutes<>(
                settings.templates(),
                deeds,
                new SettingRoutes.Place("/v1/templates", "name", Scope.ADMIN, LARGEST_TEMPLATE),
                (_, _) -> List.of());
        templates.addTo(router);
        templates.addVersionsTo(router);
        new SettingRoutes<>(
                        settings.channels(),
                        deeds,
                        new SettingRoutes.Place("/v1/channels", "name", Scope.ADMIN, LARGEST_CHANNEL),
                        this::missingSecrets)
                .addTo(router);
        new SettingRoutes<>(
                        settings.routes(),
                        deeds,
                        new SettingRoutes.Place("/v1/routes", "event", Scope.ADMIN, LARGEST_ROUTE),
                        this::missingLegs)
                .addTo(router);
        new SettingRoutes<>(
                        settings.alerts(),
                        deeds,
                        new SettingRoutes.Place("/v1/alerts", "name", Scope.ADMIN, LARGEST_ROUTE),
                        this::missingChannel)
                .addTo(router);
        new SettingRoutes<>(
                        settings.views(),
                        deeds,
                        new SettingRoutes.Place("/v1/views", "name", Scope.OPERATE, LARGEST_ROUTE, true),
                        SettingsApi::refuseForeign)
                .addTo(router);
        router.add("GET", "/v1/alerts/{name}/state", Scope.READ, new AlarmRoutes(settings)::state);
        new ProfileRoutes(settings, deeds).addTo(router);
        new CohortRoutes(settings.cohorts(), deeds).addTo(router);
    }

    /** A filter that lists nothing but errors is refused here, and so is a view that is put on somebody else. */
    private static List<String> refuseForeign(Request request, ViewSetting view) {
        Runs.Filter.parse(view.filter());
        if (view.owner() != null && !view.owner().equals(request.principal().tokenId())) {
            throw new SemelException(
                    ErrorCode.INVALID_INPUT,
                    "The view says that it is somebody else's. Nothing was changed.",
                    "Leave owner out, so that everybody is shown it, or send your own id: "
                            + request.principal().tokenId() + ".");
        }
        return List.of();
    }

    /** They may be stored afterwards; until then nothing can be sent. */
    private List<String> missingSecrets(Request request, ChannelSetting channel) {
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
                .map(name -> "there is no secret " + name + " yet; store it with `semel secret set " + name + "`")
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

    private List<String> missingChannel(Request request, AlertSetting alert) {
        return settings.channels().find(request.principal().workspace(), alert.channel()) == null
                ? List.of("there is no channel " + alert.channel() + " yet; until then nobody is told")
                : List.of();
    }

    private List<String> missingLegs(Request request, RouteSetting route) {
        if (!route.event().equals(request.parameter("event"))) {
            throw new SemelException(
                    ErrorCode.INVALID_INPUT,
                    "The route says event: " + route.event() + " and the path says another one. Nothing was changed.",
                    "Use the same name in both.");
        }
        int workspace = request.principal().workspace();
        List<String> warnings = new ArrayList<>();
        for (RouteSetting.Leg leg : route.legs()) {
            if (settings.channels().find(workspace, leg.channel()) == null) {
                warnings.add("there is no channel " + leg.channel() + " yet");
            }
            if (settings.templates().find(workspace, leg.template()) == null) {
                warnings.add("there is no template " + leg.template() + " yet");
            }
        }
        return warnings;
    }
}
