package dev.semel.server.api;

import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.server.http.Request;
import dev.semel.server.http.Router;
import dev.semel.server.http.Scope;
import dev.semel.server.settings.ChannelSetting;
import dev.semel.server.settings.RouteSetting;
import dev.semel.server.settings.Settings;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Every route under which a workspace's settings are looked at and changed. */
final class SettingsApi {
    /** A document in JSON is longer than its texts, since quotes and line breaks are escaped there. */
    private static final int LARGEST_TEMPLATE = 768 << 10;

    private static final int LARGEST_CHANNEL = 256 << 10;
    private static final int LARGEST_ROUTE = 64 << 10;

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
        new ProfileRoutes(settings, deeds).addTo(router);
        new CohortRoutes(settings.cohorts(), deeds).addTo(router);
    }

    /** They may be stored afterwards; until then nothing can be sent. */
    private List<String> missingSecrets(Request request, ChannelSetting channel) {
        Stream<@Nullable String> named = switch (channel) {
            case ChannelSetting.Email email -> Stream.of(email.smtp().passwordSecret());
            case ChannelSetting.Webhook hook -> Stream.of(hook.address().urlSecret(), hook.signingSecret());
            case ChannelSetting.Provider _ -> Stream.empty();
        };
        List<String> warnings = new ArrayList<>();
        named.forEach(name -> {
            if (name != null && !settings.secrets().exists(request.principal().workspace(), name)) {
                warnings.add("there is no secret " + name + " yet; store it with `semel secret set " + name + "`");
            }
        });
        return warnings;
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
