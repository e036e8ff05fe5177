package dev.semel.server.pages;

import dev.semel.server.auth.Sessions;
import dev.semel.server.http.Request;
import org.jspecify.annotations.Nullable;

/** Cookies: the one of the session, which no script can read and no other site's form can send, and the theme's. */
final class Cookies {
    static final String SESSION = "semel_session";
    static final String ON_THE_WAY = "semel_oidc";
    /** The server ends a session sooner where it is not used. */
    private static final long SESSION_SECONDS = Sessions.LONGEST.toSeconds();

    private static final int WAY_SECONDS = 10 * 60;

    private Cookies() {}

    static @Nullable String of(Request request, String name) {
        for (String line : request.headerLines("Cookie")) {
            for (String pair : line.split(";")) {
                int equals = pair.indexOf('=');
                if (equals > 0 && pair.substring(0, equals).strip().equals(name)) {
                    return pair.substring(equals + 1).strip();
                }
            }
        }
        return null;
    }

    static String session(Request request, String value) {
        return SESSION + "=" + value + "; Path=/; HttpOnly; SameSite=Lax; Max-Age=" + SESSION_SECONDS + secure(request);
    }

    static String noSession(Request request) {
        return SESSION + "=; Path=/; HttpOnly; SameSite=Lax; Max-Age=0" + secure(request);
    }

    /** What a browser keeps while it is at the identity provider; other sites' links may lead it back, so it is Lax. */
    static String onTheWay(Request request, String value) {
        return ON_THE_WAY + "=" + value + "; Path=/login/oidc; HttpOnly; SameSite=Lax; Max-Age="
                + (value.isEmpty() ? 0 : WAY_SECONDS) + secure(request);
    }

    /** The proxy in front says how the browser came. */
    private static String secure(Request request) {
        boolean https = request.headerLines("X-Forwarded-Proto").stream().anyMatch("https"::equalsIgnoreCase);
        return https ? "; Secure" : "";
    }
}
