package dev.semel.server.dashboard;

import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.server.access.Invitations;
import dev.semel.server.access.KnownBrowsers;
import dev.semel.server.access.SignedInUser;
import dev.semel.server.access.UserAccounts;
import dev.semel.server.http.HttpRequest;
import dev.semel.server.http.HttpResponse;
import dev.semel.server.http.Route;
import dev.semel.server.http.RouteHandler;
import dev.semel.server.http.Router;
import dev.semel.server.http.TokenScope;
import java.util.Map;

/** The routes for log-in, log-out, and setting a password through an invitation link. */
final class LoginRoutes {
    /** The log-in form can carry a pending form, so it needs the limit of the largest form. */
    private static final int LARGEST_FORM = 1024 * 1024 + 64 * 1024;

    private static final String WORKSPACE = "default";

    private final UserAccounts users;
    private final DashboardGuard guard;
    private final PageRenderer look;

    LoginRoutes(UserAccounts users, DashboardGuard guard, PageRenderer look) {
        this.users = users;
        this.guard = guard;
        this.look = look;
    }

    void addTo(Router router) {
        router.add("GET", "/login", TokenScope.OPEN, guard.publicPage(this::form))
                .add(form("/login", this::logIn))
                .add(form("/login/dev", this::oneClick))
                .add(form("/login/continue", this::resumePending))
                .add("POST", "/logout", TokenScope.OPEN, this::requestLogOut)
                .add("GET", "/setup", TokenScope.OPEN, guard.publicPage(this::setUp))
                .add("POST", "/setup", TokenScope.OPEN, guard.publicPage(this::accept));
    }

    private Route form(String path, RouteHandler handler) {
        return new Route("POST", path, TokenScope.OPEN, guard.publicPage(handler)).withMaxBody(LARGEST_FORM);
    }

    private HttpResponse form(HttpRequest request) {
        String next = request.query("next");
        return guard.loginPage().show(request, new LoginPage.LoginPrompt(200, "", next == null ? "" : next, null));
    }

    private HttpResponse showAgain(HttpRequest request, SubmittedForm form, int status, String problem) {
        return guard.loginPage()
                .show(
                        request,
                        new LoginPage.LoginPrompt(status, problem, form.text("next"), PendingForm.fromLoginForm(form)));
    }

    /** Redirects the signed-in user to the requested page, or shows the pending form. */
    private HttpResponse enter(HttpRequest request, SubmittedForm form, String cookie) {
        PendingForm pending = PendingForm.fromLoginForm(form);
        SignedInUser visitor = pending == null ? null : users.findSignedInUser(cookie);
        HttpResponse answer = pending == null || visitor == null
                ? PageRenderer.redirect(LocalUrl.orHome(form.text("next")))
                : guard.loginPage().offerResend(200, request, visitor, pending);
        return answer.with("Set-Cookie", Cookies.session(request, cookie));
    }

    /** Shows the pending form after a log-in in another tab. Changes nothing, so it needs no CSRF token. */
    private HttpResponse resumePending(HttpRequest request) {
        DashboardGuard.requireSameOrigin(request);
        SubmittedForm form = SubmittedForm.of(request);
        PendingForm pending = PendingForm.fromLoginForm(form);
        if (pending == null) {
            return PageRenderer.redirect(LocalUrl.HOME);
        }
        SignedInUser visitor = guard.signedInUser(request);
        return visitor == null
                ? showAgain(request, form, 401, "You are not logged in yet. Log in here or in another tab.")
                : guard.loginPage().offerResend(200, request, visitor, pending);
    }

    private HttpResponse logIn(HttpRequest request) {
        DashboardGuard.requireSameOrigin(request);
        SubmittedForm form = SubmittedForm.of(request);
        String workspace = form.text("workspace").isEmpty() ? WORKSPACE : form.text("workspace");
        String cookie;
        try {
            String known = Cookies.read(request, KnownBrowsers.cookieName(workspace, form.text("name")));
            cookie = users.logIn(new UserAccounts.LoginRequest(
                    workspace, form.text("name"), form.text("password"), request.remoteAddress(), known));
        } catch (SemelException e) {
            HttpResponse rejected = showAgain(request, form, e.code().status(), e.detail() + " " + e.fix());
            Object seconds = e.members().get("retry_after");
            return seconds == null ? rejected : rejected.with("Retry-After", seconds.toString());
        }
        if (cookie == null) {
            return showAgain(request, form, 403, "Wrong name or password.");
        }
        return withKnownBrowser(request, cookie, enter(request, form, cookie));
    }

    /** Adds the cookie that recognizes this browser at the next log-in. */
    private HttpResponse withKnownBrowser(HttpRequest request, String cookie, HttpResponse in) {
        KnownBrowsers.BrowserCookie mark = users.knownBrowsers().issue(cookie);
        return mark == null ? in : in.with("Set-Cookie", Cookies.knownBrowser(request, mark));
    }

    private HttpResponse oneClick(HttpRequest request) {
        DashboardGuard.requireSameOrigin(request);
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
    private HttpResponse requestLogOut(HttpRequest request) {
        DashboardGuard.requireSameOrigin(request);
        return guard.signedInUser(request) == null ? PageRenderer.redirect("/login") : logOut(request);
    }

    private HttpResponse logOut(HttpRequest request) {
        String cookie = Cookies.read(request, Cookies.SESSION);
        if (cookie != null) {
            users.logOut(cookie);
        }
        String where = users.identityProvider() == null ? "/login" : "/login?left=here";
        return PageRenderer.redirect(where).with("Set-Cookie", Cookies.clearSession(request));
    }

    private HttpResponse setUp(HttpRequest request) {
        String token = request.query("token");
        return setUp(request, token == null ? "" : token, "");
    }

    private HttpResponse setUp(HttpRequest request, String token, String problem) {
        Invitations.Invitation invitation = users.invitations().find(token);
        if (invitation == null || invitation.firstUserOnly() && !users.hasNoUsers(invitation.ws())) {
            throw Invitations.unknownLink();
        }
        return look.render(
                problem.isEmpty() ? 200 : 400,
                request,
                null,
                new PageRenderer.PageContent(
                        "setup",
                        "Set up your account",
                        "",
                        Map.of(
                                "token",
                                token,
                                "name",
                                invitation.name(),
                                "role",
                                invitation.role().word(),
                                "problem",
                                problem)));
    }

    private HttpResponse accept(HttpRequest request) {
        DashboardGuard.requireSameOrigin(request);
        SubmittedForm form = SubmittedForm.of(request);
        if (!form.text("password").equals(form.text("again"))) {
            return setUp(request, form.text("token"), "The two passwords differ. Nothing was changed.");
        }
        try {
            String cookie = users.acceptInvitation(
                    form.text("token"), form.text("name"), form.text("password"), request.remoteAddress());
            HttpResponse in = PageRenderer.redirect(LocalUrl.HOME).with("Set-Cookie", Cookies.session(request, cookie));
            return withKnownBrowser(request, cookie, in);
        } catch (SemelException e) {
            if (e.code() != ErrorCode.INVALID_INPUT) {
                throw e;
            }
            return setUp(request, form.text("token"), e.detail());
        }
    }
}
