package dev.semel.server.dashboard.login;

import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.server.access.LoginThrottleBrowserCookies;
import dev.semel.server.access.SignedInUser;
import dev.semel.server.access.UserAccountStore;
import dev.semel.server.access.UserInvitationStore;
import dev.semel.server.dashboard.page.DashboardCookies;
import dev.semel.server.dashboard.page.DashboardRedirectUrlValidator;
import dev.semel.server.dashboard.page.FormSubmissionAwaitingLogin;
import dev.semel.server.dashboard.page.PageRenderer;
import dev.semel.server.dashboard.page.SubmittedForm;
import dev.semel.server.http.HttpRoute;
import dev.semel.server.http.HttpRouteHandler;
import dev.semel.server.http.HttpRouter;
import dev.semel.server.http.ServerHttpRequest;
import dev.semel.server.http.ServerHttpResponse;
import dev.semel.server.http.TokenScope;

/** The routes for log-in, log-out, and setting a password through an invitation link. */
public record LoginRoutes(UserAccountStore users, DashboardSessionAndCsrfGuard guard, PageRenderer look) {
    /** The log-in form can carry a pending form, so it needs the limit of the largest form. */
    private static final int LARGEST_FORM = 1024 * 1024 + 64 * 1024;

    private static final String WORKSPACE = "default";

    public void addTo(HttpRouter router) {
        router.add("GET", "/login", TokenScope.OPEN, guard.publicPage(this::form))
                .add(form("/login", this::logIn))
                .add(form("/login/dev", this::oneClick))
                .add(form("/login/continue", this::resumePending))
                .add("POST", "/logout", TokenScope.OPEN, this::requestLogOut)
                .add("GET", "/setup", TokenScope.OPEN, guard.publicPage(this::setUp))
                .add("POST", "/setup", TokenScope.OPEN, guard.publicPage(this::accept));
    }

    private HttpRoute form(String path, HttpRouteHandler handler) {
        return new HttpRoute("POST", path, TokenScope.OPEN, guard.publicPage(handler)).withMaxBody(LARGEST_FORM);
    }

    private ServerHttpResponse form(ServerHttpRequest request) {
        String next = request.query("next");
        return guard.loginPage().show(request, new LoginPage.LoginPrompt(200, "", next == null ? "" : next, null));
    }

    private ServerHttpResponse showAgain(ServerHttpRequest request, SubmittedForm form, int status, String problem) {
        return guard.loginPage()
                .show(
                        request,
                        new LoginPage.LoginPrompt(
                                status, problem, form.text("next"), FormSubmissionAwaitingLogin.fromLoginForm(form)));
    }

    /** Redirects the signed-in user to the requested page, or shows the pending form. */
    private ServerHttpResponse enter(ServerHttpRequest request, SubmittedForm form, String cookie) {
        FormSubmissionAwaitingLogin pending = FormSubmissionAwaitingLogin.fromLoginForm(form);
        SignedInUser visitor = pending == null ? null : users.findSignedInUser(cookie);
        ServerHttpResponse answer = pending == null || visitor == null
                ? PageRenderer.redirect(DashboardRedirectUrlValidator.orHome(form.text("next")))
                : guard.loginPage().offerResend(200, request, visitor, pending);
        return answer.with("Set-Cookie", DashboardCookies.session(request, cookie));
    }

    /** Shows the pending form after a log-in in another tab. Changes nothing, so it needs no CSRF token. */
    private ServerHttpResponse resumePending(ServerHttpRequest request) {
        DashboardSessionAndCsrfGuard.requireSameOrigin(request);
        SubmittedForm form = SubmittedForm.of(request);
        FormSubmissionAwaitingLogin pending = FormSubmissionAwaitingLogin.fromLoginForm(form);
        if (pending == null) {
            return PageRenderer.redirect(DashboardRedirectUrlValidator.HOME);
        }
        SignedInUser visitor = guard.signedInUser(request);
        return visitor == null
                ? showAgain(request, form, 401, "You are not logged in yet. Log in here or in another tab.")
                : guard.loginPage().offerResend(200, request, visitor, pending);
    }

    private ServerHttpResponse logIn(ServerHttpRequest request) {
        DashboardSessionAndCsrfGuard.requireSameOrigin(request);
        SubmittedForm form = SubmittedForm.of(request);
        String workspace = form.text("workspace").isEmpty() ? WORKSPACE : form.text("workspace");
        String cookie;
        try {
            String known = DashboardCookies.read(
                    request, LoginThrottleBrowserCookies.cookieName(workspace, form.text("name")));
            cookie = users.logIn(new UserAccountStore.LoginRequest(
                    workspace, form.text("name"), form.text("password"), request.remoteAddress(), known));
        } catch (SemelException e) {
            ServerHttpResponse rejected = showAgain(request, form, e.code().status(), e.detail() + " " + e.fix());
            Object seconds = e.members().get("retry_after");
            return seconds == null ? rejected : rejected.with("Retry-After", seconds.toString());
        }
        if (cookie == null) {
            return showAgain(request, form, 403, "Wrong name or password.");
        }
        return withKnownBrowser(request, cookie, enter(request, form, cookie));
    }

    /** Adds the cookie that recognizes this browser at the next log-in. */
    private ServerHttpResponse withKnownBrowser(ServerHttpRequest request, String cookie, ServerHttpResponse in) {
        LoginThrottleBrowserCookies.BrowserCookie mark = users.knownBrowsers().issue(cookie);
        return mark == null ? in : in.with("Set-Cookie", DashboardCookies.knownBrowser(request, mark));
    }

    private ServerHttpResponse oneClick(ServerHttpRequest request) {
        DashboardSessionAndCsrfGuard.requireSameOrigin(request);
        String cookie = users.devSessionCookie();
        if (cookie == null || !LoginPage.isLocalhost(request)) {
            throw new SemelException(
                    ErrorCode.FORBIDDEN,
                    "Only `semel dev` on this machine allows log-in without a password. You are not logged in.",
                    "Log in with name and password.");
        }
        return enter(request, SubmittedForm.of(request), cookie);
    }

    /** Ends the browser's current session. Needs no CSRF token, so that log-out also works on an old page. */
    private ServerHttpResponse requestLogOut(ServerHttpRequest request) {
        DashboardSessionAndCsrfGuard.requireSameOrigin(request);
        return guard.signedInUser(request) == null ? PageRenderer.redirect("/login") : logOut(request);
    }

    private ServerHttpResponse logOut(ServerHttpRequest request) {
        String cookie = DashboardCookies.readSession(request);
        if (cookie != null) {
            users.logOut(cookie);
        }
        String where = users.identityProvider() == null ? "/login" : "/login?left=here";
        return PageRenderer.redirect(where).with("Set-Cookie", DashboardCookies.clearSession(request));
    }

    private ServerHttpResponse setUp(ServerHttpRequest request) {
        String token = request.query("token");
        return setUp(request, token == null ? "" : token, "");
    }

    private ServerHttpResponse setUp(ServerHttpRequest request, String token, String problem) {
        UserInvitationStore.Invitation invitation = users.invitations().find(token);
        if (invitation == null || invitation.firstUserOnly() && !users.hasNoUsers(invitation.ws())) {
            throw UserInvitationStore.unknownLink();
        }
        return look.page(request, null, "setup", "Set up your account", "")
                .with("token", token)
                .with("name", invitation.name())
                .with("role", invitation.role().word())
                .with("problem", problem)
                .show(problem.isEmpty() ? 200 : 400);
    }

    private ServerHttpResponse accept(ServerHttpRequest request) {
        DashboardSessionAndCsrfGuard.requireSameOrigin(request);
        SubmittedForm form = SubmittedForm.of(request);
        if (!form.text("password").equals(form.text("again"))) {
            return setUp(request, form.text("token"), "The two passwords differ. Nothing was changed.");
        }
        try {
            String cookie = users.acceptInvitation(
                    form.text("token"), form.text("name"), form.text("password"), request.remoteAddress());
            ServerHttpResponse in = PageRenderer.redirect(DashboardRedirectUrlValidator.HOME)
                    .with("Set-Cookie", DashboardCookies.session(request, cookie));
            return withKnownBrowser(request, cookie, in);
        } catch (SemelException e) {
            if (e.code() != ErrorCode.INVALID_INPUT) {
                throw e;
            }
            return setUp(request, form.text("token"), e.detail());
        }
    }
}
