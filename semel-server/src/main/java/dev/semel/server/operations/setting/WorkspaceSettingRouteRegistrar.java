package dev.semel.server.operations.setting;

import dev.semel.server.connectors.outbound.OutboundRequestUrl;
import dev.semel.server.http.ServerHttpRequest;
import dev.semel.server.http.TokenScope;
import dev.semel.server.operations.ApiRouter;
import dev.semel.server.operations.IdempotentInboundRequestExecutor;
import dev.semel.server.query.ApiErrors;
import dev.semel.server.query.RunListFilter;
import dev.semel.server.settings.AlertSetting;
import dev.semel.server.settings.NotificationChannelSetting;
import dev.semel.server.settings.NotificationRouteSetting;
import dev.semel.server.settings.SavedRunFilterSetting;
import dev.semel.server.settings.SecretReceivers;
import dev.semel.server.settings.WorkspaceSettingRepositories;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

public record WorkspaceSettingRouteRegistrar(WorkspaceSettingRepositories settings) {
    /** JSON escaping makes a document longer than its texts. */
    private static final int MAX_TEMPLATE_BYTES = 768 << 10;

    private static final int MAX_CHANNEL_BYTES = 256 << 10;
    private static final int MAX_ROUTE_BYTES = 64 << 10;

    private static final Pattern SECRET = Pattern.compile("\\$\\{\\s*secret\\.([A-Za-z][A-Za-z0-9._-]{0,63})\\s*\\}");

    public void addTo(ApiRouter router, IdempotentInboundRequestExecutor plain) {
        WorkspaceSettingUpdater actions = new WorkspaceSettingUpdater(plain);
        new SecretRoutes(settings.secrets(), actions).addTo(router);
        var templates = new WorkspaceSettingCrudRoutes<>(
                settings.templates(),
                actions,
                new WorkspaceSettingCrudRoutes.SettingEndpoint(
                        "/v1/templates", "name", TokenScope.ADMIN, MAX_TEMPLATE_BYTES),
                (_, _) -> List.of());
        templates.addTo(router);
        templates.addVersionsTo(router);
        new WorkspaceSettingCrudRoutes<>(
                        settings.channels(),
                        actions,
                        new WorkspaceSettingCrudRoutes.SettingEndpoint(
                                "/v1/channels", "name", TokenScope.ADMIN, MAX_CHANNEL_BYTES),
                        this::missingSecrets)
                .addTo(router);
        new WorkspaceSettingCrudRoutes<>(
                        settings.routes(),
                        actions,
                        new WorkspaceSettingCrudRoutes.SettingEndpoint(
                                "/v1/routes", "notification", TokenScope.ADMIN, MAX_ROUTE_BYTES),
                        this::missingLegs)
                .addTo(router);
        new WorkspaceSettingCrudRoutes<>(
                        settings.alerts(),
                        actions,
                        new WorkspaceSettingCrudRoutes.SettingEndpoint(
                                "/v1/alerts", "name", TokenScope.ADMIN, MAX_ROUTE_BYTES),
                        this::missingChannel)
                .addTo(router);
        new WorkspaceSettingCrudRoutes<>(
                        settings.views(),
                        actions,
                        new WorkspaceSettingCrudRoutes.SettingEndpoint(
                                "/v1/views", "name", TokenScope.OPERATE, MAX_ROUTE_BYTES, true),
                        WorkspaceSettingRouteRegistrar::rejectForeignOwner)
                .addTo(router);
        router.get("/v1/alerts/{name}/state", TokenScope.READ, new AlertStateRoutes(settings)::state);
        new RecipientProfileRoutes(settings, actions).addTo(router);
        new RecipientGroupRoutes(settings.cohorts(), actions).addTo(router);
    }

    /** Rejects a view with an invalid filter or with another user as owner. */
    private static List<String> rejectForeignOwner(ServerHttpRequest request, SavedRunFilterSetting view) {
        RunListFilter.parse(view.filter());
        if (view.owner() != null && !view.owner().equals(request.principal().tokenId())) {
            throw ApiErrors.invalidInput(
                    "The owner of the view is another user. Nothing was changed.",
                    "Omit owner to share the view, or send your own id: "
                            + request.principal().tokenId() + ".");
        }
        return List.of();
    }

    /** Only warnings: the secrets may be stored later. Until then the channel cannot send. */
    private List<String> missingSecrets(ServerHttpRequest request, NotificationChannelSetting channel) {
        Set<String> named = new TreeSet<>();
        switch (channel) {
            case NotificationChannelSetting.Email email ->
                add(named, email.smtp().passwordSecret());
            case NotificationChannelSetting.Webhook webhook -> {
                add(named, webhook.address().urlSecret());
                add(named, webhook.signingSecret());
                webhook.headers().values().forEach(value -> addAll(named, value));
            }
            case NotificationChannelSetting.Provider provider ->
                provider.http().headers().values().forEach(value -> addAll(named, value));
        }
        int workspace = request.principal().workspace();
        Stream<String> missing = named.stream()
                .filter(name -> !settings.secrets().exists(workspace, name))
                .map(name -> "secret " + name + " does not exist yet; store it with `semel secret set " + name + "`");
        OutboundRequestUrl receiver = receiver(channel);
        Stream<String> elsewhere = receiver == null
                ? Stream.empty()
                : named.stream()
                        .map(name -> rejection(settings.secrets().findReceivers(workspace, name), name, receiver))
                        .flatMap(Stream::ofNullable);
        return Stream.concat(missing, elsewhere).toList();
    }

    private static @Nullable String rejection(
            @Nullable SecretReceivers receivers, String secret, OutboundRequestUrl receiver) {
        return receivers == null || receivers.allow(receiver.host(), receiver.port())
                ? null
                : receivers.rejection(secret, receiver.host());
    }

    /** The host that receives the channel's secrets; null if a secret contains it. */
    private static @Nullable OutboundRequestUrl receiver(NotificationChannelSetting channel) {
        String url = switch (channel) {
            case NotificationChannelSetting.Email email ->
                "https://" + email.smtp().host() + ":" + email.smtp().port();
            case NotificationChannelSetting.Webhook webhook -> webhook.address().url();
            case NotificationChannelSetting.Provider provider -> provider.http().url();
        };
        return url == null || OutboundRequestUrl.findProblem(url) != null ? null : OutboundRequestUrl.parse(url);
    }

    private static void add(Set<String> names, @Nullable String name) {
        if (name != null) {
            names.add(name);
        }
    }

    private static void addAll(Set<String> names, String text) {
        SECRET.matcher(text).results().forEach(found -> names.add(found.group(1)));
    }

    private List<String> missingChannel(ServerHttpRequest request, AlertSetting alert) {
        return settings.channels().find(request.principal().workspace(), alert.channel()) == null
                ? List.of("channel " + alert.channel()
                        + " does not exist yet; the alert notifies nobody until you create the channel")
                : List.of();
    }

    private List<String> missingLegs(ServerHttpRequest request, NotificationRouteSetting route) {
        if (!route.notification().equals(request.parameter("notification"))) {
            throw ApiErrors.invalidInput(
                    "The document has notification: " + route.notification()
                            + ", but the path names another notification. Nothing was changed.",
                    "Use the same name in both.");
        }
        int workspace = request.principal().workspace();
        List<String> warnings = new ArrayList<>();
        for (NotificationRouteSetting.RouteEntry leg : route.entries()) {
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
