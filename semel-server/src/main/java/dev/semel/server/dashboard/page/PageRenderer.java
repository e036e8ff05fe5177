package dev.semel.server.dashboard.page;

import dev.semel.server.access.SignedInUser;
import dev.semel.server.http.InProcessApiClient;
import dev.semel.server.http.ServerHttpRequest;
import dev.semel.server.http.ServerHttpResponse;
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
import java.util.Set;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Renders dashboard pages from templates, with security headers. Templates escape all values. */
public final class PageRenderer {
    private static final String POLICY = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self';"
            + " img-src 'self' data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";
    private static final Set<String> THEMES = Set.of("light", "dark");

    private final TemplateEngine templates = TemplateEngine.createPrecompiled(ContentType.Html);
    private final DashboardStaticAssets assets;
    private final InProcessApiClient inside;
    private final InstantSource clock;
    private final Supplier<String> keys;

    public PageRenderer(
            DashboardStaticAssets assets, InProcessApiClient inside, InstantSource clock, Supplier<String> keys) {
        this.assets = assets;
        this.inside = inside;
        this.clock = clock;
        this.keys = keys;
    }

    public PageBuilder page(
            ServerHttpRequest request, @Nullable SignedInUser visitor, String template, String title, String section) {
        return new PageBuilder(this, request, visitor, template, title, section, new HashMap<>());
    }

    ServerHttpResponse render(int status, PageBuilder page) {
        ServerHttpRequest request = page.request();
        SignedInUser visitor = page.user();
        PageLayout frame = new PageLayout(
                page.title(),
                page.section(),
                visitor,
                theme(request),
                DashboardSuccessMessages.forAction(request.queryValues("did")),
                assets,
                clock.instant(),
                visitor == null ? List.of() : DashboardNavigation.of(inside, visitor.principal()),
                visitor == null ? 0 : waiting(visitor, request),
                keys);
        StringOutput out = new StringOutput();
        templates.render(page.template() + ".jte", page.with("frame", frame).parameters(), out);
        return withSecurityHeaders(ServerHttpResponse.of(
                status, "text/html; charset=utf-8", out.toString().getBytes(StandardCharsets.UTF_8)));
    }

    /** The number of open reviews; 0 if it cannot be read, because the badge must not prevent the page. */
    private long waiting(SignedInUser visitor, ServerHttpRequest request) {
        try {
            ServerHttpResponse answer = inside.call(
                    visitor.principal(), InProcessApiClient.ApiCall.get("/v1/reviews", "limit=1"), request.id());
            return answer.status() < 400
                    ? DashboardTemplateJsonAccessor.parse(answer.body()).number("open")
                    : 0;
        } catch (Exception e) {
            return 0;
        }
    }

    /** Generates a webhook signing secret: 24 bytes with the prefix of Standard Webhooks, which all presets accept. */
    public String newSigningSecret() {
        byte[] random = (keys.get() + keys.get()).getBytes(StandardCharsets.UTF_8);
        try {
            byte[] digest = MessageDigest.getInstance("SHA-256").digest(random);
            return "whsec_" + Base64.getEncoder().encodeToString(Arrays.copyOf(digest, 24));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every JDK has SHA-256", e);
        }
    }

    public static ServerHttpResponse redirect(String path) {
        return withSecurityHeaders(ServerHttpResponse.empty(303).with("Location", path));
    }

    private static ServerHttpResponse withSecurityHeaders(ServerHttpResponse answer) {
        return answer.with("Content-Security-Policy", POLICY)
                // With no-referrer, browsers would send Origin: null with our own forms.
                .with("Referrer-Policy", "same-origin")
                .with("X-Frame-Options", "DENY")
                .with("Cross-Origin-Opener-Policy", "same-origin")
                .with("Cross-Origin-Resource-Policy", "same-origin")
                .with("Cache-Control", "no-store");
    }

    private static String theme(ServerHttpRequest request) {
        String theme = DashboardCookies.read(request, "semel_theme");
        return theme != null && THEMES.contains(theme) ? theme : "system";
    }
}
