package dev.semel.server.pages;

import dev.semel.server.auth.Visitor;
import dev.semel.server.http.Answer;
import dev.semel.server.http.Inside;
import dev.semel.server.http.Request;
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

/** Makes pages out of templates, which escape whatever they show. */
final class Look {
    private static final String POLICY = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self';"
            + " img-src 'self' data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";
    private static final Set<String> THEMES = Set.of("light", "dark");
    private static final Map<String, String> DONE = Map.of(
            "cancel", "The run was asked to end.",
            "signal", "The signal was handed in.",
            "decide", "The decision is on record.",
            "release", "The key was released: the next request with it starts a new run.",
            "pause", "Paused: triggers are taken and wait.",
            "resume", "Resumed.",
            "reprocess", "Handed in again: runs that exist were replayed, missing ones started.",
            "publish", "Published: triggers that come from now on get this version.",
            "invite", "The link for this person stands below. It is shown once.");

    private final TemplateEngine templates = TemplateEngine.createPrecompiled(ContentType.Html);
    private final Assets assets;
    private final Inside inside;
    private final InstantSource clock;
    private final Supplier<String> keys;

    Look(Assets assets, Inside inside, InstantSource clock, Supplier<String> keys) {
        this.assets = assets;
        this.inside = inside;
        this.clock = clock;
        this.keys = keys;
    }

    /** Which page it is to be. */
    record Sheet(String template, String title, String section, Map<String, Object> parts) {}

    Answer show(int status, Request request, @Nullable Visitor visitor, Sheet sheet) {
        Frame frame = new Frame(
                sheet.title(),
                sheet.section(),
                visitor,
                theme(request),
                DONE.getOrDefault(
                        String.valueOf(first(request, "did")), Done.sentence(String.valueOf(first(request, "did")))),
                assets,
                clock.instant(),
                visitor == null ? List.of() : Nav.of(inside, visitor.principal()),
                visitor == null ? 0 : waiting(visitor, request),
                keys);
        Map<String, Object> parts = new HashMap<>(sheet.parts());
        parts.put("frame", frame);
        StringOutput out = new StringOutput();
        templates.render(sheet.template() + ".jte", parts, out);
        return guarded(
                Answer.of(status, "text/html; charset=utf-8", out.toString().getBytes(StandardCharsets.UTF_8)));
    }

    /** What stands beside a page never keeps it from being shown: where it cannot be counted, nothing is said. */
    private long waiting(Visitor visitor, Request request) {
        try {
            Answer answer = inside.ask(visitor.principal(), Inside.Call.get("/v1/reviews", "limit=1"), request.id());
            return answer.status() < 400 ? Doc.of(answer.body()).number("open") : 0;
        } catch (Exception e) {
            return 0;
        }
    }

    private static @Nullable String first(Request request, String name) {
        List<String> values = request.queryValues(name);
        return values.isEmpty() ? null : values.getFirst();
    }

    /** A secret to sign with, as all presets take it: 24 bytes behind the prefix of standard webhooks. */
    String secret() {
        byte[] chance = (keys.get() + keys.get()).getBytes(StandardCharsets.UTF_8);
        try {
            byte[] digest = MessageDigest.getInstance("SHA-256").digest(chance);
            return "whsec_" + Base64.getEncoder().encodeToString(Arrays.copyOf(digest, 24));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every JDK has SHA-256", e);
        }
    }

    static Answer goTo(String path) {
        return guarded(Answer.empty(303).with("Location", path));
    }

    private static Answer guarded(Answer answer) {
        return answer.with("Content-Security-Policy", POLICY)
                // Not no-referrer: browsers would then send Origin: null with our own forms, as a hostile frame does.
                .with("Referrer-Policy", "same-origin")
                .with("X-Frame-Options", "DENY")
                .with("Cross-Origin-Opener-Policy", "same-origin")
                .with("Cross-Origin-Resource-Policy", "same-origin")
                .with("Cache-Control", "no-store");
    }

    private static String theme(Request request) {
        String wanted = Cookies.of(request, "semel_theme");
        return wanted != null && THEMES.contains(wanted) ? wanted : "system";
    }
}
