package dev.semel.server.dashboard;

import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.server.access.SignedInUser;
import dev.semel.server.access.UserAccountStore;
import dev.semel.server.dashboard.idempotency.IdempotencyKeyPages;
import dev.semel.server.dashboard.idempotency.IdempotencyMetricsPages;
import dev.semel.server.dashboard.login.DashboardRouter;
import dev.semel.server.dashboard.login.DashboardSessionAndCsrfGuard;
import dev.semel.server.dashboard.login.LoginRoutes;
import dev.semel.server.dashboard.login.OidcLoginPages;
import dev.semel.server.dashboard.page.DashboardStaticAssets;
import dev.semel.server.dashboard.page.PageRenderer;
import dev.semel.server.dashboard.run.CancelAndSignalFormHandler;
import dev.semel.server.dashboard.run.DashboardRunPages;
import dev.semel.server.dashboard.run.HumanReviewPages;
import dev.semel.server.dashboard.run.PiiRevealPages;
import dev.semel.server.dashboard.run.RunReplayPages;
import dev.semel.server.dashboard.run.SavedRunFilters;
import dev.semel.server.dashboard.setting.DashboardAdministrationFormHandler;
import dev.semel.server.dashboard.setting.DashboardIdAndNameSearch;
import dev.semel.server.dashboard.setting.InboundWebhookPages;
import dev.semel.server.dashboard.setting.IncidentReportPages;
import dev.semel.server.dashboard.setting.ScheduleEventWorkerAuditPages;
import dev.semel.server.dashboard.setting.TokenAndSecretFormHandler;
import dev.semel.server.dashboard.setting.UserPages;
import dev.semel.server.dashboard.setting.WorkspaceSettingEditPages;
import dev.semel.server.dashboard.setting.WorkspaceSettingListPages;
import dev.semel.server.dashboard.workflow.WorkflowBuilderPages;
import dev.semel.server.dashboard.workflow.WorkflowPages;
import dev.semel.server.http.HttpProblemResponseMapper;
import dev.semel.server.http.HttpRouter;
import dev.semel.server.http.InProcessApiClient;
import dev.semel.server.http.ServerHttpRequest;
import dev.semel.server.http.ServerHttpResponse;
import dev.semel.server.http.TokenScope;
import java.time.Duration;
import java.time.InstantSource;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;

public final class DashboardRoutes {
    /** A stream polls every second, so it ends within 3 seconds after its session. */
    private static final Duration SESSION_CHECK_INTERVAL = Duration.ofMillis(1_500);

    private final InProcessApiClient inside;
    private final DashboardSessionAndCsrfGuard guard;
    private final InstantSource clock;

    private DashboardRoutes(InProcessApiClient inside, DashboardSessionAndCsrfGuard guard, InstantSource clock) {
        this.inside = inside;
        this.guard = guard;
        this.clock = clock;
    }

    /** @param keys generates the idempotency key of each form */
    public static void addTo(HttpRouter router, UserAccountStore users, InstantSource clock, Supplier<String> keys) {
        InProcessApiClient inside = new InProcessApiClient(router);
        DashboardStaticAssets assets = new DashboardStaticAssets();
        PageRenderer look = new PageRenderer(assets, inside, clock, keys);
        DashboardSessionAndCsrfGuard guard = new DashboardSessionAndCsrfGuard(users, inside, look);
        DashboardRouter routes = new DashboardRouter(router, guard);
        DashboardRunPages runs = new DashboardRunPages(clock);
        DashboardRoutes pages = new DashboardRoutes(inside, guard, clock);
        router.notFoundHandler(guard.notFound());
        router.add("GET", "/", TokenScope.OPEN, _ -> PageRenderer.redirect("/workflows"))
                .add("GET", "/assets/{file}", TokenScope.OPEN, assets::get)
                .add("GET", "/live", TokenScope.OPEN, request -> pages.live(request, "/v1/tail"))
                .add("GET", "/live/{run_id}", TokenScope.OPEN, request -> pages.live(request, "runs", "run_id"))
                .add(
                        "GET",
                        "/live/replays/{replay_id}",
                        TokenScope.OPEN,
                        request -> pages.live(request, "replays", "replay_id"));
        routes.page("/search", DashboardIdAndNameSearch::go);
        new LoginRoutes(users, guard, look).addTo(router);
        new OidcLoginPages(users, guard).addTo(router);
        UserPages.addTo(routes);
        PiiRevealPages.addTo(routes);
        new WorkflowPages(runs).addTo(routes);
        runs.addTo(routes);
        new CancelAndSignalFormHandler(runs).addTo(routes);
        IdempotencyKeyPages.addTo(routes);
        ScheduleEventWorkerAuditPages.addTo(routes);
        InboundWebhookPages.addTo(routes);
        WorkspaceSettingListPages.addTo(routes);
        IdempotencyMetricsPages.addTo(routes);
        WorkspaceSettingEditPages.addTo(routes);
        TokenAndSecretFormHandler.addTo(routes);
        SavedRunFilters.addTo(routes);
        RunReplayPages.addTo(routes);
        HumanReviewPages.addTo(routes);
        IncidentReportPages.addTo(routes);
        DashboardAdministrationFormHandler.addTo(routes);
        WorkflowBuilderPages.addTo(routes);
    }

    private ServerHttpResponse live(ServerHttpRequest request, String kind, String parameter) throws Exception {
        return live(request, InProcessApiClient.path("v1", kind, request.parameter(parameter), "events"));
    }

    /** Forwards an event stream of the API to a browser, which has a session and no token. */
    private ServerHttpResponse live(ServerHttpRequest request, String path) throws Exception {
        DashboardSessionAndCsrfGuard.requireSameOrigin(request);
        SignedInUser visitor = guard.signedInUser(request);
        if (visitor == null) {
            return HttpProblemResponseMapper.toResponse(
                    new SemelException(
                            ErrorCode.UNAUTHENTICATED, "Your session has ended. Nothing was read.", "Log in again."),
                    request.id());
        }
        AtomicLong checked = new AtomicLong(clock.millis());
        return inside.call(visitor.principal(), InProcessApiClient.ApiCall.get(path, ""), request.id())
                .streamWhile(() -> {
                    long now = clock.millis();
                    // Not only forward: the wall clock can be set back.
                    if (Math.abs(now - checked.get()) < SESSION_CHECK_INTERVAL.toMillis()) {
                        return true;
                    }
                    checked.set(now);
                    return guard.signedInUser(request) != null;
                });
    }
}
