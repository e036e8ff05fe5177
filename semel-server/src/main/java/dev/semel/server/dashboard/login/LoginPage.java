package dev.semel.server.dashboard.login;

import dev.semel.server.access.IdentityProvider;
import dev.semel.server.access.SignedInUser;
import dev.semel.server.access.UserAccountStore;
import dev.semel.server.dashboard.page.FormSubmissionAwaitingLogin;
import dev.semel.server.dashboard.page.PageBuilder;
import dev.semel.server.dashboard.page.PageRenderer;
import dev.semel.server.http.AllowedHosts;
import dev.semel.server.http.ServerHttpRequest;
import dev.semel.server.http.ServerHttpResponse;
import org.jspecify.annotations.Nullable;

/** Shows the log-in page, and after log-in the pending form that the user can resend. */
record LoginPage(UserAccountStore users, PageRenderer look) {

    /**
     * @param next the page to open after log-in
     * @param pendingForm the form that was submitted without a session, or null
     */
    record LoginPrompt(
            int status,
            String problem,
            String next,
            @Nullable FormSubmissionAwaitingLogin pendingForm) {}

    ServerHttpResponse show(ServerHttpRequest request, LoginPrompt why) {
        IdentityProvider provider = users.identityProvider();
        PageBuilder page = why.pendingForm() != null
                ? look.page(request, null, "sessionEnded", "Your session has ended", "")
                        .with("pending", why.pendingForm())
                : look.page(request, null, "login", "Log in", "")
                        .with("next", why.next())
                        .with("left", provider != null && request.query("left") != null);
        return page.with("problem", why.problem())
                .with("oneClick", users.devSessionCookie() != null && isLocalhost(request))
                .with("provider", provider == null ? "" : provider.label())
                .show(why.status());
    }

    /** Offers the signed-in user to resend a form that had no effect. */
    ServerHttpResponse offerResend(
            int status, ServerHttpRequest request, SignedInUser visitor, FormSubmissionAwaitingLogin pending) {
        return look.page(request, visitor, "resend", "Send the form again?", "")
                .with("pending", pending)
                .show(status);
    }

    /** Checks the host name, because another site's host name can resolve to this machine (DNS rebinding). */
    static boolean isLocalhost(ServerHttpRequest request) {
        String host = request.header("Host");
        return host != null && AllowedHosts.LOOPBACK.accepts(host);
    }
}
