package dev.semel.server.pages;

import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.server.auth.Invitations;
import dev.semel.server.auth.KnownBrowsers;
import dev.semel.server.auth.People;
import dev.semel.server.auth.Voucher;
import dev.semel.server.http.Answer;
import dev.semel.server.http.Request;
import dev.semel.server.http.Router;
import dev.semel.server.http.Scope;
import java.util.Map;
import java.util.Set;

/** Logging in and out, and setting up a log-in by a link. */
final class Entrance {
    private static final Set<String> LOOPBACK = Set.of("localhost", "127.0.0.1", "[::1]");
    private static final String WORKSPACE = "default";

    private final People people;
    private final Door door;
    private final Look look;

    Entrance(People people, Door door, Look look) {
        this.people = people;
        this.door = door;
        this.look = look;
    }

    void addTo(Router router) {
        router.add("GET", "/login", Scope.OPEN, door.open(this::form))
                .add("POST", "/login", Scope.OPEN, door.open(this::logIn))
                .add("POST", "/login/dev", Scope.OPEN, door.open(this::oneClick))
                .add("POST", "/logout", Scope.OPEN, door.deed((visit, _) -> logOut(visit.request())))
                .add("GET", "/setup", Scope.OPEN, door.open(this::setUp))
                .add("POST", "/setup", Scope.OPEN, door.open(this::accept));
    }

    private Answer form(Request request) {
        return form(request, 200, "");
    }

    private Answer form(Request request, int status, String problem) {
        String next = request.query("next");
        Voucher provider = people.voucher();
        Map<String, Object> parts = Map.of(
                "next",
                next == null ? "" : next,
                "problem",
                problem,
                "oneClick",
                people.devEntrance() != null && fromHere(request),
                "provider",
                provider == null ? "" : provider.label(),
                "left",
                provider != null && request.query("left") != null);
        return look.show(status, request, null, new Look.Sheet("login", "Log in", "", parts));
    }

    private Answer logIn(Request request) {
        Door.ownOrigin(request);
        Form form = Form.of(request);
        String workspace = form.text("workspace").isEmpty() ? WORKSPACE : form.text("workspace");
        String cookie;
        try {
            String known = Cookies.of(request, KnownBrowsers.cookieName(workspace, form.text("name")));
            cookie = people.logIn(new People.Entry(
                    workspace, form.text("name"), form.text("password"), request.remoteAddress(), known));
        } catch (SemelException e) {
            Answer refused = form(request, e.code().status(), e.detail() + " " + e.fix());
            Object seconds = e.members().get("retry_after");
            return seconds == null ? refused : refused.with("Retry-After", seconds.toString());
        }
        if (cookie == null) {
            return form(request, 403, "Name and password do not go together.");
        }
        return entered(request, cookie, local(form.text("next")));
    }

    /** With a new session, and with what this browser is known by at the next log-in. */
    private Answer entered(Request request, String cookie, String next) {
        Answer in = Look.goTo(next).with("Set-Cookie", Cookies.session(request, cookie));
        KnownBrowsers.Mark mark = people.browsers().give(cookie);
        return mark == null ? in : in.with("Set-Cookie", Cookies.known(request, mark));
    }

    /** The name of the host is looked at: a name that was made to lead to this machine is another site's. */
    private Answer oneClick(Request request) {
        Door.ownOrigin(request);
        String cookie = people.devEntrance();
        if (cookie == null || !fromHere(request)) {
            throw new SemelException(
                    ErrorCode.FORBIDDEN,
                    "Entering without a password is for `semel dev` on this machine alone. Nothing was done.",
                    "Log in with a name and a password.");
        }
        return Look.goTo(local(Form.of(request).text("next"))).with("Set-Cookie", Cookies.session(request, cookie));
    }

    private static boolean fromHere(Request request) {
        String host = request.header("Host");
        return host != null && LOOPBACK.contains(host.replaceFirst(":[0-9]+$", ""));
    }

    private Answer logOut(Request request) {
        String cookie = Cookies.of(request, Cookies.SESSION);
        if (cookie != null) {
            people.logOut(cookie);
        }
        String where = people.voucher() == null ? "/login" : "/login?left=here";
        return Look.goTo(where).with("Set-Cookie", Cookies.noSession(request));
    }

    private Answer setUp(Request request) {
        String token = request.query("token");
        return setUp(request, token == null ? "" : token, "");
    }

    private Answer setUp(Request request, String token, String problem) {
        Invitations.Invitation invitation = people.invitations().find(token);
        if (invitation == null || invitation.first() && !people.nobodyYet(invitation.ws())) {
            throw Invitations.unknown();
        }
        return look.show(
                problem.isEmpty() ? 200 : 400,
                request,
                null,
                new Look.Sheet(
                        "setup",
                        "Set up your log-in",
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
            return setUp(request, form.text("token"), "The two passwords differ.");
        }
        try {
            String cookie = people.accept(
                    form.text("token"), form.text("name"), form.text("password"), request.remoteAddress());
            return entered(request, cookie, "/workflows");
        } catch (SemelException e) {
            if (e.code() != ErrorCode.INVALID_INPUT) {
                throw e;
            }
            return setUp(request, form.text("token"), e.detail());
        }
    }

    /** Where to go afterwards: a path of this server, whatever the address said. */
    static String local(String next) {
        boolean fits = next.matches("/[A-Za-z0-9._~%/-]*") && !next.startsWith("//") && next.length() < 500;
        return fits ? next : "/workflows";
    }
}
