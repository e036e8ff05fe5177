package dev.semel.server.pages;

import dev.semel.server.auth.KnownBrowsers;
import dev.semel.server.auth.Sessions;
import dev.semel.server.http.Request;
import java.util.stream.Stream;
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

    /** By which a browser is known again at the log-in, where alone it is sent. It opens nothing. */
    static String known(Request request, KnownBrowsers.Mark mark) {
        return mark.cookie() + "=" + mark.value() + "; Path=/login; HttpOnly; SameSite=Strict; Max-Age="
                + mark.seconds() + secure(request);
    }

    static String noSession(Request request) {
        return SESSION + "=; Path=/; HttpOnly; SameSite=Lax; Max-Age=0" + secure(request);
    }

    /** What a browser keeps while it is at the identity provider; other sites' links may lead it back, so it is Lax. */
    static String onTheWay(Request request, String value) {
        return ON_THE_WAY + "=" + value + "; Path=/login/oidc; HttpOnly; SameSite=Lax; Max-Age="
                + (value.isEmpty() ? 0 : WAY_SECONDS) + secure(request);
    }

    private static String secure(Request request) {
        return https(request) ? "; Secure" : "";
    }

    /** The proxy in front says how the browser came. Whoever else says it has cookies that they get back by TLS alone. */
    private static boolean https(Request request) {
        return request.headerLines("X-Forwarded-Proto").stream()
                .flatMap(line -> Stream.of(line.split(",")))
                .anyMatch(word -> word.strip().equalsIgnoreCase("https"));
    }

    /** As the browser has it in its address line. */
    static String origin(Request request) {
        String host = request.header("Host");
        return host == null ? "" : (https(request) ? "https://" : "http://") + host;
    }
}
