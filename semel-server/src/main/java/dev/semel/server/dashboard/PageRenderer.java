package dev.semel.server.dashboard;

import dev.semel.server.access.SignedInUser;
import dev.semel.server.http.HttpRequest;
import dev.semel.server.http.HttpResponse;
import dev.semel.server.http.InternalApiClient;
import gg.jte.ContentType;
import gg.jte.TemplateEngine;
import gg.jte.output.StringOutput;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.InstantSource;
import java.util.Arrays;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Renders dashboard pages from templates, with security headers. Templates escape all values. */
final class PageRenderer {
    private static final String POLICY = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self';"
            + " img-src 'self' data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";
    private static final Set<String> THEMES = Set.of("light", "dark");
    private static final Map<String, String> DONE = Map.of(
            "cancel", "Cancellation requested. The run ends after its current step.",
            "signal", "Signal sent.",
            "decide", "Decision recorded.",
            "release", "Key released. The next request with it starts a new run.",
            "pause", "Paused. The server accepts triggers and queues their runs.",
            "resume", "Resumed.",
            "reprocess", "Reprocessed. The server started missing runs; existing runs count it as a duplicate request.",
            "publish", "Published. New triggers get this version.",
            "invite", "The invitation link is below. It is shown once.");

    private final TemplateEngine templates = TemplateEngine.createPrecompiled(ContentType.Html);
    private final Assets assets;
    private final InternalApiClient inside;
    private final InstantSource clock;
    private final Supplier<String> keys;

    PageRenderer(Assets assets, InternalApiClient inside, InstantSource clock, Supplier<String> keys) {
        this.assets = assets;
        this.inside = inside;
        this.clock = clock;
        this.keys = keys;
    }

    /** A page to render: template, title, navigation section and template parameters. */
    record PageContent(String template, String title, String section, Map<String, Object> parameters) {}

    HttpResponse render(int status, HttpRequest request, @Nullable SignedInUser visitor, PageContent sheet) {
        PageLayout frame = new PageLayout(
                sheet.title(),
                sheet.section(),
                visitor,
                theme(request),
                DONE.getOrDefault(
                        String.valueOf(first(request, "did")),
                        ActionMessages.forAction(String.valueOf(first(request, "did")))),
                assets,
                clock.instant(),
                visitor == null ? List.of() : Navigation.of(inside, visitor.principal()),
                visitor == null ? 0 : waiting(visitor, request),
                keys);
        Map<String, Object> parts = new HashMap<>(sheet.parameters());
        parts.put("frame", frame);
        StringOutput out = new StringOutput();
        templates.render(sheet.template() + ".jte", parts, out);
        return withSecurityHeaders(HttpResponse.of(
                status, "text/html; charset=utf-8", out.toString().getBytes(StandardCharsets.UTF_8)));
    }

    /** The number of open reviews; 0 if it cannot be read, because the badge must not prevent the page. */
    private long waiting(SignedInUser visitor, HttpRequest request) {
        try {
            HttpResponse answer = inside.call(
                    visitor.principal(), InternalApiClient.ApiCall.get("/v1/reviews", "limit=1"), request.id());
            return answer.status() < 400 ? ApiJson.parse(answer.body()).number("open") : 0;
        } catch (Exception e) {
            return 0;
        }
    }

    private static @Nullable String first(HttpRequest request, String name) {
        List<String> values = request.queryValues(name);
        return values.isEmpty() ? null : values.getFirst();
    }

    /** Generates a webhook signing secret: 24 bytes with the prefix of Standard Webhooks, which all presets accept. */
    String newSigningSecret() {
        byte[] random = (keys.get() + keys.get()).getBytes(StandardCharsets.UTF_8);
        try {
            byte[] digest = MessageDigest.getInstance("SHA-256").digest(random);
            return "whsec_" + Base64.getEncoder().encodeToString(Arrays.copyOf(digest, 24));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every JDK has SHA-256", e);
        }
    }

    static HttpResponse redirect(String path) {
        return withSecurityHeaders(HttpResponse.empty(303).with("Location", path));
    }

    private static HttpResponse withSecurityHeaders(HttpResponse answer) {
        return answer.with("Content-Security-Policy", POLICY)
                // With no-referrer, browsers would send Origin: null with our own forms.
                .with("Referrer-Policy", "same-origin")
                .with("X-Frame-Options", "DENY")
                .with("Cross-Origin-Opener-Policy", "same-origin")
                .with("Cross-Origin-Resource-Policy", "same-origin")
                .with("Cache-Control", "no-store");
    }

    private static String theme(HttpRequest request) {
        String theme = Cookies.read(request, "semel_theme");
        return theme != null && THEMES.contains(theme) ? theme : "system";
    }
}
