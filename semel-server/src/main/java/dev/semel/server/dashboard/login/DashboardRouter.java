package dev.semel.server.dashboard.login;

import dev.semel.server.http.HttpRoute;
import dev.semel.server.http.HttpRouter;
import dev.semel.server.http.TokenScope;

/** Registers the pages and forms of the dashboard. They need no token scope, because the guard checks the session. */
public record DashboardRouter(HttpRouter router, DashboardSessionAndCsrfGuard guard) {
    public DashboardRouter page(String path, DashboardSessionAndCsrfGuard.PageHandler page) {
        router.add(new HttpRoute("GET", path, TokenScope.OPEN, guard.page(page)).withSession(guard::findCaller));
        return this;
    }

    public DashboardRouter form(String path, DashboardSessionAndCsrfGuard.FormHandler action) {
        return form(path, HttpRoute.DEFAULT_BODY, action);
    }

    /** @param maxBody bytes */
    public DashboardRouter form(String path, int maxBody, DashboardSessionAndCsrfGuard.FormHandler action) {
        router.add(new HttpRoute("POST", path, TokenScope.OPEN, guard.form(action))
                .withMaxBody(maxBody)
                .withSession(guard::findCaller));
        return this;
    }
}
