package dev.semel.server.dashboard;

import dev.semel.server.access.IdentityProvider;
import dev.semel.server.access.SignedInUser;
import dev.semel.server.access.UserAccounts;
import dev.semel.server.http.HttpRequest;
import dev.semel.server.http.HttpResponse;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Shows the log-in page, and after log-in the pending form that the user can resend. */
final class LoginPage {
    private static final Set<String> LOOPBACK = Set.of("localhost", "127.0.0.1", "[::1]");

    private final UserAccounts users;
    private final PageRenderer look;

    LoginPage(UserAccounts users, PageRenderer look) {
        this.users = users;
        this.look = look;
    }

    /**
     * Why the log-in page is shown.
     *
     * @param next the page to open after log-in
     * @param pendingForm the form that was submitted without a session, or null
     */
    record LoginPrompt(
            int status,
            String problem,
            String next,
            @Nullable PendingForm pendingForm) {}

    HttpResponse show(HttpRequest request, LoginPrompt why) {
        IdentityProvider provider = users.identityProvider();
        Map<String, Object> parts = new HashMap<>(Map.of(
                "problem",
                why.problem(),
                "oneClick",
                users.devSessionCookie() != null && isLocalhost(request),
                "provider",
                provider == null ? "" : provider.label()));
        if (why.pendingForm() != null) {
            parts.put("pending", why.pendingForm());
            return look.render(
                    why.status(),
                    request,
                    null,
                    new PageRenderer.PageContent("sessionEnded", "Your session has ended", "", parts));
        }
        parts.put("next", why.next());
        parts.put("left", provider != null && request.query("left") != null);
        return look.render(why.status(), request, null, new PageRenderer.PageContent("login", "Log in", "", parts));
    }

    /** Offers the signed-in user to resend a form that had no effect. */
    HttpResponse offerResend(int status, HttpRequest request, SignedInUser visitor, PendingForm pending) {
        return look.render(
                status,
                request,
                visitor,
                new PageRenderer.PageContent("resend", "Send the form again?", "", Map.of("pending", pending)));
    }

    /** Checks the host name, because another site's host name can resolve to this machine (DNS rebinding). */
    static boolean isLocalhost(HttpRequest request) {
        String host = request.header("Host");
        return host != null && LOOPBACK.contains(host.replaceFirst(":[0-9]+$", ""));
    }
}
