package dev.semel.server.pages;

import dev.semel.server.auth.People;
import dev.semel.server.auth.Visitor;
import dev.semel.server.auth.Voucher;
import dev.semel.server.http.Answer;
import dev.semel.server.http.Request;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Shows the log-in page, and after log-in the pending form that the user can resend. */
final class Threshold {
    private static final Set<String> LOOPBACK = Set.of("localhost", "127.0.0.1", "[::1]");

    private final People users;
    private final Look look;

    Threshold(People users, Look look) {
        this.users = users;
        this.look = look;
    }

    /**
     * Why the log-in page is shown.
     *
     * @param next the page to open after log-in
     * @param kept the form that was submitted without a session, or null
     */
    record Why(
            int status,
            String problem,
            String next,
            @Nullable Kept kept) {}

    Answer ask(Request request, Why why) {
        Voucher provider = users.voucher();
        Map<String, Object> parts = new HashMap<>(Map.of(
                "problem",
                why.problem(),
                "oneClick",
                users.devEntrance() != null && fromHere(request),
                "provider",
                provider == null ? "" : provider.label()));
        if (why.kept() != null) {
            parts.put("pending", why.kept());
            return look.show(
                    why.status(),
                    request,
                    null,
                    new Look.Sheet("sessionEnded", "Your session has ended", "", parts));
        }
        parts.put("next", why.next());
        parts.put("left", provider != null && request.query("left") != null);
        return look.show(why.status(), request, null, new Look.Sheet("login", "Log in", "", parts));
    }

    /** Offers the signed-in user to resend a form that had no effect. */
    Answer offer(int status, Request request, Visitor visitor, Kept pending) {
        return look.show(
                status,
                request,
                visitor,
                new Look.Sheet("resend", "Send the form again?", "", Map.of("pending", pending)));
    }

    /** Checks the host name, because another site's host name can resolve to this machine (DNS rebinding). */
    static boolean fromHere(Request request) {
        String host = request.header("Host");
        return host != null && LOOPBACK.contains(host.replaceFirst(":[0-9]+$", ""));
    }
}
