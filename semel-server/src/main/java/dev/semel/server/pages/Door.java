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

    Door(People people, Inside inside, Look look) {
        this.people = people;
        this.inside = inside;
        this.look = look;
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

    Handler page(Page page) {
        return request -> {
            Visitor visitor = visitor(request);
            if (visitor == null) {
                return Look.goTo("/login?next=" + Inside.encoded(request.rawPath()));
            }
            return guarded(request, visitor, () -> page.show(new Visit(request, visitor, inside, look)));
        };
    }

    Handler deed(Deed deed) {
        return request -> {
            Visitor visitor = visitor(request);
            if (visitor == null) {
                return Look.goTo("/login");
            }
            return guarded(request, visitor, () -> {
                ownOrigin(request);
                Form form = Form.of(request);
                if (!same(form.text("csrf"), visitor.csrf())) {
                    throw new SemelException(
                            ErrorCode.FORBIDDEN,
                            "The form does not carry the token of your session. Nothing was done.",
                            "Load the page again and send the form from there.");
                }
                return deed.act(new Visit(request, visitor, inside, look), form);
            });
        };
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
