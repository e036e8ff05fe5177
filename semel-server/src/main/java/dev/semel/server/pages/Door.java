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

/** Who may come in: a page wants a session, and a form wants the token of that session and an origin of ours. */
final class Door {
    private final People people;
    private final Inside inside;
    private final Look look;
    private final Threshold threshold;

    Door(People people, Inside inside, Look look) {
        this.people = people;
        this.inside = inside;
        this.look = look;
        this.threshold = new Threshold(people, look);
    }

    Threshold threshold() {
        return threshold;
    }

    /** Shows something. */
    @FunctionalInterface
    interface Page {
        Answer show(Visit visit) throws Exception;
    }

    /** Does something that a form asked for. */
    @FunctionalInterface
    interface Deed {
        Answer act(Visit visit, Form form) throws Exception;
    }

    @Nullable
    Visitor visitor(Request request) {
        String cookie = Cookies.of(request, Cookies.SESSION);
        return cookie == null ? null : people.visitor(cookie);
    }

    /** Who acts: whatever a person opens or sends keeps their session; what a page asks by itself does not. */
    private @Nullable Visitor present(Request request) {
        Visitor visitor = visitor(request);
        String cookie = Cookies.of(request, Cookies.SESSION);
        boolean byItself = byScript(request) && request.method().equals("GET");
        if (visitor != null && cookie != null && !byItself) {
            try {
                people.used(cookie);
            } catch (SemelException e) {
                return visitor; // a page can be read while nothing can be written; the next use counts
            }
        }
        return visitor;
    }

    /** Asked by the script of a page, for a part of it. A page of the log-in has no place there. */
    private static boolean byScript(Request request) {
        return !request.headerLines("HX-Request").isEmpty();
    }

    private static Answer over(Request request) {
        return Problems.answer(
                new SemelException(
                        ErrorCode.UNAUTHENTICATED,
                        "The session is over. Nothing was read or done.",
                        "Log in again, in another tab if something is typed in this one."),
                request.id());
    }

    Handler page(Page page) {
        return request -> {
            Visitor visitor = present(request);
            if (visitor == null) {
                return byScript(request) ? over(request) : Look.goTo("/login?next=" + Inside.encoded(Way.of(request)));
            }
            return guarded(request, visitor, () -> page.show(new Visit(request, visitor, inside, look)));
        };
    }

    Handler deed(Deed deed) {
        return request -> {
            Visitor visitor = present(request);
            if (visitor == null && byScript(request)) {
                return over(request);
            }
            return guarded(request, visitor, () -> {
                ownOrigin(request);
                Form form = Form.of(request);
                if (visitor == null) {
                    return threshold.ask(request, new Threshold.Why(401, "", "", Kept.of(request, form)));
                }
                if (!same(form.text("csrf"), visitor.csrf())) {
                    return elsewhere(request, visitor, form);
                }
                return deed.act(new Visit(request, visitor, inside, look), form);
            });
        };
    }

    /**
     * A form of a session that is over, sent with another one. It is shown, and sent if its owner says so; where the
     * browser does not say that it comes from a page of ours, nothing of it is shown.
     */
    private Answer elsewhere(Request request, Visitor visitor, Form form) {
        if (byScript(request) || !isCertainlyOurs(request)) {
            throw new SemelException(
                    ErrorCode.FORBIDDEN,
                    "The form does not carry the token of your session. Nothing was done.",
                    "Load the page again and send the form from there.");
        }
        return threshold.offer(403, request, visitor, Kept.of(request, form));
    }

    private static boolean isCertainlyOurs(Request request) {
        String origin = request.header("Origin");
        return "same-origin".equals(request.header("Sec-Fetch-Site"))
                || origin != null && origin(origin).equals(request.header("Host"));
    }

    /** For those who are not logged in yet. */
    Handler open(Handler handler) {
        return request -> guarded(request, null, () -> handler.handle(request));
    }

    /** For whoever came to an address that leads nowhere. */
    Handler nowhere() {
        return request -> guarded(request, visitor(request), () -> {
            throw new SemelException(
                            ErrorCode.NOT_FOUND,
                            "There is no page at this address. Nothing was done.",
                            "Check the spelling, or go on from one of the pages.")
                    .with("nowhere", true);
        });
    }

    private interface Step {
        Answer take() throws Exception;
    }

    private Answer guarded(Request request, @Nullable Visitor visitor, Step step) throws Exception {
        try {
            return step.take();
        } catch (Refused e) {
            return refusal(request, visitor, e.status(), e.problem());
        } catch (SemelException e) {
            Doc problem = new Doc(Problems.document(e, request.id()));
            return refusal(request, visitor, e.code().status(), problem);
        }
    }

    private Answer refusal(Request request, @Nullable Visitor visitor, int status, Doc problem) {
        String title = switch (status) {
            case 403 -> "Not allowed";
            case 404 -> "Not found";
            default -> problem.text("title");
        };
        return look.show(status, request, visitor, new Look.Sheet("refused", title, "", Map.of("problem", problem)));
    }

    /** Browsers say where a form comes from; one of another site is refused before anything of it is read. */
    static void ownOrigin(Request request) {
        String site = request.header("Sec-Fetch-Site");
        String origin = request.header("Origin");
        boolean foreign = site != null && !site.equals("same-origin") && !site.equals("none")
                || origin != null && !origin(origin).equals(request.header("Host"));
        if (foreign) {
            throw new SemelException(
                    ErrorCode.FORBIDDEN,
                    "The form comes from another site. Nothing was done.",
                    "Open this server's own page and send the form from there.");
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
