package dev.semel.server.dashboard.login;

import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.server.access.IdentityProvider;
import dev.semel.server.access.UserAccountStore;
import dev.semel.server.dashboard.page.DashboardCookies;
import dev.semel.server.dashboard.page.DashboardRedirectUrlValidator;
import dev.semel.server.dashboard.page.PageRenderer;
import dev.semel.server.http.HttpRouter;
import dev.semel.server.http.ServerHttpRequest;
import dev.semel.server.http.ServerHttpResponse;
import dev.semel.server.http.TokenScope;

/** Starts from links, because the content security policy blocks forms that redirect to another site. */
public record OidcLoginPages(UserAccountStore users, DashboardSessionAndCsrfGuard guard) {
    public void addTo(HttpRouter router) {
        router.add("GET", "/login/oidc", TokenScope.OPEN, guard.publicPage(this::begin))
                .add("GET", "/login/oidc/callback", TokenScope.OPEN, guard.publicPage(this::finish))
                .add("GET", "/login/oidc/leave", TokenScope.OPEN, guard.publicPage(_ -> leave()));
    }

    private ServerHttpResponse begin(ServerHttpRequest request) {
        String next = request.query("next");
        IdentityProvider.LoginRedirect outset =
                provider().beginLogin(DashboardRedirectUrlValidator.orHome(next == null ? "" : next));
        return PageRenderer.redirect(outset.address())
                .with("Set-Cookie", DashboardCookies.oidcState(request, outset.cookie()));
    }

    /** Always creates a new session, which prevents session fixation. */
    private ServerHttpResponse finish(ServerHttpRequest request) {
        IdentityProvider provider = provider();
        IdentityProvider.CompletedLogin arrival =
                provider.finishLogin(DashboardCookies.readOidcState(request), request::query);
        String cookie = users.logInExternal(provider.workspace(), arrival.who(), request.remoteAddress());
        return PageRenderer.redirect(DashboardRedirectUrlValidator.orHome(arrival.next()))
                .with("Set-Cookie", DashboardCookies.session(request, cookie))
                .with("Set-Cookie", DashboardCookies.oidcState(request, ""));
    }

    private ServerHttpResponse leave() {
        String there = provider().logoutUrl();
        return PageRenderer.redirect(there == null ? "/login" : there);
    }

    private IdentityProvider provider() {
        IdentityProvider provider = users.identityProvider();
        if (provider == null) {
            throw new SemelException(
                    ErrorCode.NOT_FOUND,
                    "This server has no identity provider. You are not logged in.",
                    "Log in with name and password.");
        }
        return provider;
    }
}
