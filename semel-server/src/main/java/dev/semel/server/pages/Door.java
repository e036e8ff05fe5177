package dev.semel.server.pages;

import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.server.auth.People;
import dev.semel.server.auth.Visitor;
import dev.semel.server.http.Answer;
import dev.semel.server.http.Handler;
import dev.semel.server.http.Inside;
import dev.semel.server.http.Problems;
import dev.semel.server.http.Request;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Requires a session for every dashboard page, and a CSRF token and same origin for every form. */
final class Door {
    private final People users;
    private final Inside inside;
    private final Look look;
    private final Threshold threshold;

    Door(People users, Inside inside, Look look) {
        this.users = users;
        this.inside = inside;
        this.look = look;
        this.threshold = new Threshold(users, look);
    }

    Threshold threshold() {
        return threshold;
    }

    /** Shows a page to a signed-in user. */
    @FunctionalInterface
    interface Page {
        Answer show(Visit visit) throws Exception;
    }

    /** Executes a form that a signed-in user submitted. */
    @FunctionalInterface
    interface Deed {
        Answer act(Visit visit, Form form) throws Exception;
    }

    @Nullable
    Visitor visitor(Request request) {
        String cookie = Cookies.of(request, Cookies.SESSION);
        return cookie == null ? null : users.visitor(cookie);
    }

    /** The signed-in user. A page or form that the user opens extends the session; background requests do not. */
    private @Nullable Visitor activeUser(Request request) {
        Visitor visitor = visitor(request);
        String cookie = Cookies.of(request, Cookies.SESSION);
        boolean background = isHtmx(request) && request.method().equals("GET");
        if (visitor != null && cookie != null && !background) {
            try {
                users.used(cookie);
            } catch (SemelException e) {
                return visitor; // pages stay readable while the store rejects writes
            }
        }
        return visitor;
    }

    /** Whether htmx requests a part of a page, where a log-in page would not fit. */
    private static boolean isHtmx(Request request) {
        return !request.headerLines("HX-Request").isEmpty();
    }

    private static Answer sessionEnded(Request request) {
        return Problems.answer(
                new SemelException(
                        ErrorCode.UNAUTHENTICATED,
                        "Your session has ended. Nothing was read or changed.",
                        "Log in again. Use another tab to keep what you typed in this one."),
                request.id());
    }

    Handler page(Page page) {
        return request -> {
            Visitor visitor = activeUser(request);
            if (visitor == null) {
                return isHtmx(request)
                        ? sessionEnded(request)
                        : Look.goTo("/login?next=" + Inside.encoded(Way.of(request)));
            }
            return guarded(request, visitor, () -> page.show(new Visit(request, visitor, inside, look)));
        };
    }

    Handler deed(Deed action) {
        return request -> {
            Visitor visitor = activeUser(request);
            if (visitor == null && isHtmx(request)) {
                return sessionEnded(request);
            }
            return guarded(request, visitor, () -> {
                ownOrigin(request);
                Form form = Form.of(request);
                if (visitor == null) {
                    return threshold.ask(request, new Threshold.Why(401, "", "", Kept.of(request, form)));
                }
                if (!same(form.text("csrf"), visitor.csrf())) {
                    return staleForm(request, visitor, form);
                }
                return action.act(new Visit(request, visitor, inside, look), form);
            });
        };
    }

    /**
     * Handles a form that carries the CSRF token of an earlier session. The user can resend it, but only if the browser
     * reports that it comes from this server.
     */
    private Answer staleForm(Request request, Visitor visitor, Form form) {
        if (isHtmx(request) || !isSameOrigin(request)) {
            throw new SemelException(
                    ErrorCode.FORBIDDEN,
                    "The form does not contain the CSRF token of your session. Nothing was changed.",
                    "Reload the page and send the form again.");
        }
        return threshold.offer(403, request, visitor, Kept.of(request, form));
    }

    private static boolean isSameOrigin(Request request) {
        String origin = request.header("Origin");
        return "same-origin".equals(request.header("Sec-Fetch-Site"))
                || origin != null && origin(origin).equals(request.header("Host"));
    }

    /** A page that needs no session. */
    Handler open(Handler handler) {
        return request -> guarded(request, null, () -> handler.handle(request));
    }

    /** The not-found page. */
    Handler nowhere() {
        return request -> guarded(request, visitor(request), () -> {
            throw new SemelException(
                            ErrorCode.NOT_FOUND,
                            "No page has this address.",
                            "Check the spelling, or use the navigation.")
                    .with("unknown_page", true);
        });
    }

    /** A call whose errors become an error page. */
    private interface Step {
        Answer take() throws Exception;
    }

    private Answer guarded(Request request, @Nullable Visitor visitor, Step step) throws Exception {
        try {
            return step.take();
        } catch (Refused e) {
            return errorPage(request, visitor, e.status(), e.problem());
        } catch (SemelException e) {
            Doc problem = new Doc(Problems.document(e, request.id()));
            return errorPage(request, visitor, e.code().status(), problem);
        }
    }

    private Answer errorPage(Request request, @Nullable Visitor visitor, int status, Doc problem) {
        String title = switch (status) {
            case 403 -> "Not allowed";
            case 404 -> "Not found";
            default -> problem.text("title");
        };
        return look.show(status, request, visitor, new Look.Sheet("error", title, "", Map.of("problem", problem)));
    }

    /** Rejects a form of another site, by the browser's origin headers, before reading it. */
    static void ownOrigin(Request request) {
        String site = request.header("Sec-Fetch-Site");
        String origin = request.header("Origin");
        boolean crossOrigin = site != null && !site.equals("same-origin") && !site.equals("none")
                || origin != null && !origin(origin).equals(request.header("Host"));
        if (crossOrigin) {
            throw new SemelException(
                    ErrorCode.FORBIDDEN,
                    "The form was sent from another site. Nothing was changed.",
                    "Open this server's dashboard and send the form from there.");
        }
    }

    private static String origin(String text) {
        try {
            String authority = URI.create(text).getRawAuthority();
            return authority == null ? "" : authority;
        } catch (IllegalArgumentException e) {
            return "";
        }
    }

    private static boolean same(String one, String other) {
        return MessageDigest.isEqual(one.getBytes(StandardCharsets.UTF_8), other.getBytes(StandardCharsets.UTF_8));
    }
}
