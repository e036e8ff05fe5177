package dev.semel.server.pages;

import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.server.auth.Invitations;
import dev.semel.server.auth.KnownBrowsers;
import dev.semel.server.auth.People;
import dev.semel.server.auth.Visitor;
import dev.semel.server.http.Answer;
import dev.semel.server.http.Handler;
import dev.semel.server.http.Request;
import dev.semel.server.http.Route;
import dev.semel.server.http.Router;
import dev.semel.server.http.Scope;
import java.util.Map;

/** The routes for log-in, log-out, and setting a password through an invitation link. */
final class Entrance {
    /** The log-in form can carry a pending form, so it needs the limit of the largest form. */
    private static final int LARGEST_FORM = 1024 * 1024 + 64 * 1024;

    private static final String WORKSPACE = "default";

    private final People users;
    private final Door guard;
    private final Look look;

    Entrance(People users, Door guard, Look look) {
        this.users = users;
        this.guard = guard;
        this.look = look;
    }

    void addTo(Router router) {
        router.add("GET", "/login", Scope.OPEN, guard.open(this::form))
                .add(form("/login", this::logIn))
                .add(form("/login/dev", this::oneClick))
                .add(form("/login/kept", this::resumePending))
                .add("POST", "/logout", Scope.OPEN, this::requestLogOut)
                .add("GET", "/setup", Scope.OPEN, guard.open(this::setUp))
                .add("POST", "/setup", Scope.OPEN, guard.open(this::accept));
    }

    private Route form(String path, Handler handler) {
        return new Route("POST", path, Scope.OPEN, guard.open(handler)).withMaxBody(LARGEST_FORM);
    }

    private Answer form(Request request) {
        String next = request.query("next");
        return guard.threshold().ask(request, new Threshold.Why(200, "", next == null ? "" : next, null));
    }

    private Answer showAgain(Request request, Form form, int status, String problem) {
        return guard.threshold().ask(request, new Threshold.Why(status, problem, form.text("next"), Kept.in(form)));
    }

    /** Redirects the signed-in user to the requested page, or shows the pending form. */
    private Answer enter(Request request, Form form, String cookie) {
        Kept pending = Kept.in(form);
        Visitor visitor = pending == null ? null : users.visitor(cookie);
        Answer answer = pending == null || visitor == null
                ? Look.goTo(Way.local(form.text("next")))
                : guard.threshold().offer(200, request, visitor, pending);
        return answer.with("Set-Cookie", Cookies.session(request, cookie));
    }

    /** Shows the pending form after a log-in in another tab. Changes nothing, so it needs no CSRF token. */
    private Answer resumePending(Request request) {
        Door.ownOrigin(request);
        Form form = Form.of(request);
        Kept pending = Kept.in(form);
        if (pending == null) {
            return Look.goTo(Way.HOME);
        }
        Visitor visitor = guard.visitor(request);
        return visitor == null
                ? showAgain(request, form, 401, "You are not logged in yet. Log in here or in another tab.")
                : guard.threshold().offer(200, request, visitor, pending);
    }

    private Answer logIn(Request request) {
        Door.ownOrigin(request);
        Form form = Form.of(request);
        String workspace = form.text("workspace").isEmpty() ? WORKSPACE : form.text("workspace");
        String cookie;
        try {
            String known = Cookies.of(request, KnownBrowsers.cookieName(workspace, form.text("name")));
            cookie = users.logIn(new People.Entry(
                    workspace, form.text("name"), form.text("password"), request.remoteAddress(), known));
        } catch (SemelException e) {
            Answer rejected = showAgain(request, form, e.code().status(), e.detail() + " " + e.fix());
            Object seconds = e.members().get("retry_after");
            return seconds == null ? rejected : rejected.with("Retry-After", seconds.toString());
        }
        if (cookie == null) {
            return showAgain(request, form, 403, "Wrong name or password.");
        }
        return withKnownBrowser(request, cookie, enter(request, form, cookie));
    }

    /** Adds the cookie that recognizes this browser at the next log-in. */
    private Answer withKnownBrowser(Request request, String cookie, Answer in) {
        KnownBrowsers.Mark mark = users.browsers().give(cookie);
        return mark == null ? in : in.with("Set-Cookie", Cookies.known(request, mark));
    }

    private Answer oneClick(Request request) {
        Door.ownOrigin(request);
        String cookie = users.devEntrance();
        if (cookie == null || !Threshold.fromHere(request)) {
            throw new SemelException(
                    ErrorCode.FORBIDDEN,
                    "Only `semel dev` on this machine allows log-in without a password. You are not logged in.",
                    "Log in with name and password.");
        }
        return enter(request, Form.of(request), cookie);
    }

    /** Ends the browser's current session. Needs no CSRF token, so that log-out also works on an old page. */
    private Answer requestLogOut(Request request) {
        Door.ownOrigin(request);
        return guard.visitor(request) == null ? Look.goTo("/login") : logOut(request);
    }

    private Answer logOut(Request request) {
        String cookie = Cookies.of(request, Cookies.SESSION);
        if (cookie != null) {
            users.logOut(cookie);
        }
        String where = users.voucher() == null ? "/login" : "/login?left=here";
        return Look.goTo(where).with("Set-Cookie", Cookies.noSession(request));
    }

    private Answer setUp(Request request) {
        String token = request.query("token");
        return setUp(request, token == null ? "" : token, "");
    }

    private Answer setUp(Request request, String token, String problem) {
        Invitations.Invitation invitation = users.invitations().find(token);
        if (invitation == null || invitation.first() && !users.nobodyYet(invitation.ws())) {
            throw Invitations.unknown();
        }
        return look.show(
                problem.isEmpty() ? 200 : 400,
                request,
                null,
                new Look.Sheet(
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

    private Answer accept(Request request) {
        Door.ownOrigin(request);
        Form form = Form.of(request);
        if (!form.text("password").equals(form.text("again"))) {
            return setUp(request, form.text("token"), "The two passwords differ. Nothing was changed.");
        }
        try {
            String cookie = users.accept(
                    form.text("token"), form.text("name"), form.text("password"), request.remoteAddress());
            Answer in = Look.goTo(Way.HOME).with("Set-Cookie", Cookies.session(request, cookie));
            return withKnownBrowser(request, cookie, in);
        } catch (SemelException e) {
            if (e.code() != ErrorCode.INVALID_INPUT) {
                throw e;
            }
            return setUp(request, form.text("token"), e.detail());
        }
    }
}
