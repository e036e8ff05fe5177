package dev.semel.server.dashboard;

import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.server.access.SignedInUser;
import dev.semel.server.access.UserAccounts;
import dev.semel.server.http.HttpRequest;
import dev.semel.server.http.HttpResponse;
import dev.semel.server.http.InternalApiClient;
import dev.semel.server.http.ProblemResponses;
import dev.semel.server.http.RouteHandler;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Requires a session for every dashboard page, and a CSRF token and same origin for every form. */
final class DashboardGuard {
    private final UserAccounts users;
    private final InternalApiClient inside;
    private final PageRenderer look;
    private final LoginPage loginPage;

    DashboardGuard(UserAccounts users, InternalApiClient inside, PageRenderer look) {
        this.users = users;
        this.inside = inside;
        this.look = look;
        this.loginPage = new LoginPage(users, look);
    }

    LoginPage loginPage() {
        return loginPage;
    }

    /** Shows a page to a signed-in user. */
    @FunctionalInterface
    interface PageHandler {
        HttpResponse show(PageVisit visit) throws Exception;
    }

    /** Executes a form that a signed-in user submitted. */
    @FunctionalInterface
    interface FormHandler {
        HttpResponse submit(PageVisit visit, SubmittedForm form) throws Exception;
    }

    @Nullable
    SignedInUser signedInUser(HttpRequest request) {
        String cookie = Cookies.read(request, Cookies.SESSION);
        return cookie == null ? null : users.findSignedInUser(cookie);
    }

    /** The signed-in user. A page or form that the user opens extends the session; background requests do not. */
    private @Nullable SignedInUser activeUser(HttpRequest request) {
        SignedInUser visitor = signedInUser(request);
        String cookie = Cookies.read(request, Cookies.SESSION);
        boolean background = isHtmx(request) && request.method().equals("GET");
        if (visitor != null && cookie != null && !background) {
            try {
                users.extendSession(cookie);
            } catch (SemelException e) {
                return visitor; // pages stay readable while the store rejects writes
            }
        }
        return visitor;
    }

    /** Whether htmx requests a part of a page, where a log-in page would not fit. */
    private static boolean isHtmx(HttpRequest request) {
        return !request.headerLines("HX-Request").isEmpty();
    }

    private static HttpResponse sessionEnded(HttpRequest request) {
        return ProblemResponses.toResponse(
                new SemelException(
                        ErrorCode.UNAUTHENTICATED,
                        "Your session has ended. Nothing was read or changed.",
                        "Log in again. Use another tab to keep what you typed in this one."),
                request.id());
    }

    RouteHandler page(PageHandler page) {
        return request -> {
            SignedInUser visitor = activeUser(request);
            if (visitor == null) {
                return isHtmx(request)
                        ? sessionEnded(request)
                        : PageRenderer.redirect("/login?next=" + InternalApiClient.encode(LocalUrl.ofRequest(request)));
            }
            return guarded(request, visitor, () -> page.show(new PageVisit(request, visitor, inside, look)));
        };
    }

    RouteHandler form(FormHandler action) {
        return request -> {
            SignedInUser visitor = activeUser(request);
            if (visitor == null && isHtmx(request)) {
                return sessionEnded(request);
            }
            return guarded(request, visitor, () -> {
                requireSameOrigin(request);
                SubmittedForm form = SubmittedForm.of(request);
                if (visitor == null) {
                    return loginPage.show(
                            request, new LoginPage.LoginPrompt(401, "", "", PendingForm.of(request, form)));
                }
                if (!same(form.text("csrf"), visitor.csrf())) {
                    return staleForm(request, visitor, form);
                }
                return action.submit(new PageVisit(request, visitor, inside, look), form);
            });
        };
    }

    /**
     * Handles a form that carries the CSRF token of an earlier session. The user can resend it, but only if the browser
     * reports that it comes from this server.
     */
    private HttpResponse staleForm(HttpRequest request, SignedInUser visitor, SubmittedForm form) {
        if (isHtmx(request) || !isSameOrigin(request)) {
            throw new SemelException(
                    ErrorCode.FORBIDDEN,
                    "The form does not contain the CSRF token of your session. Nothing was changed.",
                    "Reload the page and send the form again.");
        }
        return loginPage.offerResend(403, request, visitor, PendingForm.of(request, form));
    }

    private static boolean isSameOrigin(HttpRequest request) {
        String origin = request.header("Origin");
        return "same-origin".equals(request.header("Sec-Fetch-Site"))
                || origin != null && origin(origin).equals(request.header("Host"));
    }

    /** A page that needs no session. */
    RouteHandler publicPage(RouteHandler handler) {
        return request -> guarded(request, null, () -> handler.handle(request));
    }

    /** The not-found page. */
    RouteHandler notFound() {
        return request -> guarded(request, signedInUser(request), () -> {
            throw new SemelException(
                            ErrorCode.NOT_FOUND,
                            "No page has this address.",
                            "Check the spelling, or use the navigation.")
                    .with("unknown_page", true);
        });
    }

    /** A call whose errors become an error page. */
    private interface GuardedCall {
        HttpResponse run() throws Exception;
    }

    private HttpResponse guarded(HttpRequest request, @Nullable SignedInUser visitor, GuardedCall step)
            throws Exception {
        try {
            return step.run();
        } catch (ApiRejectionException e) {
            return errorPage(request, visitor, e.status(), e.problem());
        } catch (SemelException e) {
            ApiJson problem = new ApiJson(ProblemResponses.toDocument(e, request.id()));
            return errorPage(request, visitor, e.code().status(), problem);
        }
    }

    private HttpResponse errorPage(HttpRequest request, @Nullable SignedInUser visitor, int status, ApiJson problem) {
        String title = switch (status) {
            case 403 -> "Not allowed";
            case 404 -> "Not found";
            default -> problem.text("title");
        };
        return look.render(
                status, request, visitor, new PageRenderer.PageContent("error", title, "", Map.of("problem", problem)));
    }

    /** Rejects a form of another site, by the browser's origin headers, before reading it. */
    static void requireSameOrigin(HttpRequest request) {
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
