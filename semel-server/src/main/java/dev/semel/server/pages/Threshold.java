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

/** The pages that ask who somebody is, and the one that shows them what they had sent. */
final class Threshold {
    private static final Set<String> LOOPBACK = Set.of("localhost", "127.0.0.1", "[::1]");

    private final People people;
    private final Look look;

    Threshold(People people, Look look) {
        this.people = people;
        this.look = look;
    }

    /**
     * Why somebody is asked.
     *
     * @param next where they want to go
     * @param kept what they had sent; null where it was nothing
     */
    record Why(
            int status,
            String problem,
            String next,
            @Nullable Kept kept) {}

    Answer ask(Request request, Why why) {
        Voucher provider = people.voucher();
        Map<String, Object> parts = new HashMap<>(Map.of(
                "problem",
                why.problem(),
                "oneClick",
                people.devEntrance() != null && fromHere(request),
                "provider",
                provider == null ? "" : provider.label()));
        if (why.kept() != null) {
            parts.put("kept", why.kept());
            return look.show(why.status(), request, null, new Look.Sheet("over", "Your session is over", "", parts));
        }
        parts.put("next", why.next());
        parts.put("left", provider != null && request.query("left") != null);
        return look.show(why.status(), request, null, new Look.Sheet("login", "Log in", "", parts));
    }

    /** What was sent and not done, to be sent once more by who is logged in now. */
    Answer offer(int status, Request request, Visitor visitor, Kept kept) {
        return look.show(status, request, visitor, new Look.Sheet("kept", "Send it again?", "", Map.of("kept", kept)));
    }

    /** The name of the host is looked at: a name that was made to lead to this machine is another site's. */
    static boolean fromHere(Request request) {
        String host = request.header("Host");
        return host != null && LOOPBACK.contains(host.replaceFirst(":[0-9]+$", ""));
    }
}
