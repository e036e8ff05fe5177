package dev.semel.server.dashboard;

import dev.semel.server.access.LoginSessionStore;
import dev.semel.server.access.LoginThrottleBrowserCookies;
import dev.semel.server.http.ServerHttpRequest;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

final class DashboardCookies {
    static final String SESSION = "semel_session";
    static final String OIDC_STATE = "semel_oidc";
    /** The server ends unused sessions earlier. */
    private static final long SESSION_SECONDS = LoginSessionStore.MAX_AGE.toSeconds();

    private static final int OIDC_STATE_SECONDS = 10 * 60;

    private DashboardCookies() {}

    static @Nullable String read(ServerHttpRequest request, String name) {
        return read(request.headerLines("Cookie"), name);
    }

    static @Nullable String read(List<String> lines, String name) {
        for (String line : lines) {
            for (String pair : line.split(";")) {
                int equals = pair.indexOf('=');
                if (equals > 0 && pair.substring(0, equals).strip().equals(name)) {
                    return pair.substring(equals + 1).strip();
                }
            }
        }
        return null;
    }

    static String session(ServerHttpRequest request, String value) {
        return SESSION + "=" + value + "; Path=/; HttpOnly; SameSite=Lax; Max-Age=" + SESSION_SECONDS + secure(request);
    }

    /** Recognizes a known browser at log-in, and is sent only there. It grants no access. */
    static String knownBrowser(ServerHttpRequest request, LoginThrottleBrowserCookies.BrowserCookie mark) {
        return mark.cookie() + "=" + mark.value() + "; Path=/login; HttpOnly; SameSite=Strict; Max-Age="
                + mark.seconds() + secure(request);
    }

    static String clearSession(ServerHttpRequest request) {
        return SESSION + "=; Path=/; HttpOnly; SameSite=Lax; Max-Age=0" + secure(request);
    }

    /** The OIDC state during log-in. Lax, because the redirect back comes from the identity provider's site. */
    static String oidcState(ServerHttpRequest request, String value) {
        return OIDC_STATE + "=" + value + "; Path=/login/oidc; HttpOnly; SameSite=Lax; Max-Age="
                + (value.isEmpty() ? 0 : OIDC_STATE_SECONDS) + secure(request);
    }

    private static String secure(ServerHttpRequest request) {
        return https(request) ? "; Secure" : "";
    }

    /** Whether the browser used TLS, as the proxy reports. A forged header only makes the sender's cookies Secure. */
    private static boolean https(ServerHttpRequest request) {
        return request.headerLines("X-Forwarded-Proto").stream()
                .flatMap(line -> Stream.of(line.split(",")))
                .anyMatch(word -> word.strip().equalsIgnoreCase("https"));
    }

    /** The origin of this server as the browser sees it. */
    static String origin(ServerHttpRequest request) {
        String host = request.header("Host");
        return host == null ? "" : (https(request) ? "https://" : "http://") + host;
    }
}
