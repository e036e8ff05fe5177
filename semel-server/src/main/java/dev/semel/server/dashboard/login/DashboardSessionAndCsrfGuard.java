package dev.semel.server.dashboard.login;

import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.server.access.SignedInUser;
import dev.semel.server.access.UserAccountStore;
import dev.semel.server.dashboard.page.ApiErrorResponseException;
import dev.semel.server.dashboard.page.DashboardCookies;
import dev.semel.server.dashboard.page.DashboardPageRequest;
import dev.semel.server.dashboard.page.DashboardRedirectUrlValidator;
import dev.semel.server.dashboard.page.DashboardTemplateJsonAccessor;
import dev.semel.server.dashboard.page.FormSubmissionAwaitingLogin;
import dev.semel.server.dashboard.page.PageRenderer;
import dev.semel.server.dashboard.page.SubmittedForm;
import dev.semel.server.http.HttpProblemResponseMapper;
import dev.semel.server.http.HttpRouteHandler;
import dev.semel.server.http.InProcessApiClient;
import dev.semel.server.http.Principal;
import dev.semel.server.http.ServerHttpRequest;
import dev.semel.server.http.ServerHttpResponse;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Requires a session for every dashboard page, and a CSRF token and same origin for every form. */
public final class DashboardSessionAndCsrfGuard {
    private final UserAccountStore users;
    private final InProcessApiClient inside;
    private final PageRenderer look;
    private final LoginPage loginPage;

    public DashboardSessionAndCsrfGuard(UserAccountStore users, InProcessApiClient inside, PageRenderer look) {
        this.users = users;
        this.inside = inside;
        this.look = look;
        this.loginPage = new LoginPage(users, look);
    }

    LoginPage loginPage() {
        return loginPage;
    }

    @FunctionalInterface
    public interface PageHandler {
        ServerHttpResponse show(DashboardPageRequest visit) throws Exception;
    }

    @FunctionalInterface
    public interface FormHandler {
        ServerHttpResponse submit(DashboardPageRequest visit, SubmittedForm form) throws Exception;
    }

    @Nullable
    public SignedInUser signedInUser(ServerHttpRequest request) {
        String cookie = DashboardCookies.readSession(request);
        return cookie == null ? null : users.findSignedInUser(cookie);
    }

    /** The caller by the session cookie; null without a valid session, or if the store cannot tell. */
    @Nullable
    Principal findCaller(Function<String, List<String>> headerLines) {
        String cookie = DashboardCookies.readSession(headerLines);
        try {
            SignedInUser user = cookie == null ? null : users.findSignedInUser(cookie);
            return user == null ? null : user.principal();
        } catch (SemelException e) {
            return null;
        }
    }

    /** The signed-in user. A page or form that the user opens extends the session; background requests do not. */
    private @Nullable SignedInUser activeUser(ServerHttpRequest request) {
        SignedInUser visitor = signedInUser(request);
        String cookie = DashboardCookies.readSession(request);
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
    private static boolean isHtmx(ServerHttpRequest request) {
        return !request.headerLines("HX-Request").isEmpty();
    }

    private static ServerHttpResponse sessionEnded(ServerHttpRequest request) {
        return HttpProblemResponseMapper.toResponse(
                new SemelException(
                        ErrorCode.UNAUTHENTICATED,
                        "Your session has ended. Nothing was read or changed.",
                        "Log in again. Use another tab to keep what you typed in this one."),
                request.id());
    }

    HttpRouteHandler page(PageHandler page) {
        return request -> {
            SignedInUser visitor = activeUser(request);
            if (visitor == null) {
                return isHtmx(request)
                        ? sessionEnded(request)
                        : PageRenderer.redirect("/login?next="
                                + InProcessApiClient.encode(DashboardRedirectUrlValidator.ofRequest(request)));
            }
            return guarded(request, visitor, () -> page.show(new DashboardPageRequest(request, visitor, inside, look)));
        };
    }

    HttpRouteHandler form(FormHandler action) {
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
                            request,
                            new LoginPage.LoginPrompt(401, "", "", FormSubmissionAwaitingLogin.of(request, form)));
                }
                if (!same(form.text("csrf"), visitor.csrf())) {
                    return staleForm(request, visitor, form);
                }
                return action.submit(new DashboardPageRequest(request, visitor, inside, look), form);
            });
        };
    }

    /** A form with an earlier session's CSRF token can be resent only if the browser says it is from this server. */
    private ServerHttpResponse staleForm(ServerHttpRequest request, SignedInUser visitor, SubmittedForm form) {
        if (isHtmx(request) || !isSameOrigin(request)) {
            throw new SemelException(
                    ErrorCode.FORBIDDEN,
                    "The form does not contain the CSRF token of your session. Nothing was changed.",
                    "Reload the page and send the form again.");
        }
        return loginPage.offerResend(403, request, visitor, FormSubmissionAwaitingLogin.of(request, form));
    }

    private static boolean isSameOrigin(ServerHttpRequest request) {
        String origin = request.header("Origin");
        return "same-origin".equals(request.header("Sec-Fetch-Site"))
                || origin != null && origin(origin).equals(request.header("Host"));
    }

    HttpRouteHandler publicPage(HttpRouteHandler handler) {
        return request -> guarded(request, null, () -> handler.handle(request));
    }

    public HttpRouteHandler notFound() {
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
        ServerHttpResponse run() throws Exception;
    }

    private ServerHttpResponse guarded(ServerHttpRequest request, @Nullable SignedInUser visitor, GuardedCall step)
            throws Exception {
        try {
            return step.run();
        } catch (ApiErrorResponseException e) {
            return errorPage(request, visitor, e.status(), e.problem());
        } catch (SemelException e) {
            DashboardTemplateJsonAccessor problem =
                    new DashboardTemplateJsonAccessor(HttpProblemResponseMapper.toDocument(e, request.id()));
            return errorPage(request, visitor, e.code().status(), problem);
        }
    }

    private ServerHttpResponse errorPage(
            ServerHttpRequest request,
            @Nullable SignedInUser visitor,
            int status,
            DashboardTemplateJsonAccessor problem) {
        String title = switch (status) {
            case 403 -> "Not allowed";
            case 404 -> "Not found";
            default -> problem.text("title");
        };
        return look.page(request, visitor, "error", title, "")
                .with("problem", problem)
                .show(status);
    }

    /** Rejects a form of another site, by the browser's origin headers, before reading it. */
    public static void requireSameOrigin(ServerHttpRequest request) {
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
