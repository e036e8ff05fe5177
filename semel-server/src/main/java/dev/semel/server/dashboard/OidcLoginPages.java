package dev.semel.server.dashboard;

import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.server.access.IdentityProvider;
import dev.semel.server.access.UserAccounts;
import dev.semel.server.http.HttpRequest;
import dev.semel.server.http.HttpResponse;
import dev.semel.server.http.Router;
import dev.semel.server.http.TokenScope;

/**
 * The log-in through an OIDC identity provider. Starts from links, not forms, because the content security policy
 * blocks forms that redirect to another site.
 */
final class OidcLoginPages {
    private final UserAccounts users;
    private final DashboardGuard guard;

    OidcLoginPages(UserAccounts users, DashboardGuard guard) {
        this.users = users;
        this.guard = guard;
    }

    void addTo(Router router) {
        router.add("GET", "/login/oidc", TokenScope.OPEN, guard.publicPage(this::begin))
                .add("GET", "/login/oidc/callback", TokenScope.OPEN, guard.publicPage(this::finish))
                .add("GET", "/login/oidc/leave", TokenScope.OPEN, guard.publicPage(_ -> leave()));
    }

    private HttpResponse begin(HttpRequest request) {
        String next = request.query("next");
        IdentityProvider.LoginRedirect outset = provider().beginLogin(LocalUrl.orHome(next == null ? "" : next));
        return PageRenderer.redirect(outset.address()).with("Set-Cookie", Cookies.oidcState(request, outset.cookie()));
    }

    /** Always creates a new session, which prevents session fixation. */
    private HttpResponse finish(HttpRequest request) {
        IdentityProvider provider = provider();
        IdentityProvider.CompletedLogin arrival =
                provider.finishLogin(Cookies.read(request, Cookies.OIDC_STATE), request::query);
        String cookie = users.logInExternal(provider.workspace(), arrival.who(), request.remoteAddress());
        return PageRenderer.redirect(LocalUrl.orHome(arrival.next()))
                .with("Set-Cookie", Cookies.session(request, cookie))
                .with("Set-Cookie", Cookies.oidcState(request, ""));
    }

    private HttpResponse leave() {
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
