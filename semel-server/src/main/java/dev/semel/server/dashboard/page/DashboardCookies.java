package dev.semel.server.dashboard.page;

import dev.semel.server.access.LoginSessionStore;
import dev.semel.server.access.LoginThrottleBrowserCookies;
import dev.semel.server.http.ServerHttpRequest;
import java.util.List;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

public final class DashboardCookies {
    private static final String SESSION = "semel_session";
    private static final String OIDC_STATE = "semel_oidc";

    /**
     * Browsers accept such a cookie only over https, from this host and for all paths. Another host of the same domain,
     * or a page over http, can therefore not plant one. Browsers reject it over http, which `semel dev` uses.
     */
    private static final String HOST_PREFIX = "__Host-";

    /** The server ends unused sessions earlier. */
    private static final long SESSION_SECONDS = LoginSessionStore.MAX_AGE.toSeconds();

    private static final int OIDC_STATE_SECONDS = 10 * 60;

    private DashboardCookies() {}

    public static @Nullable String read(ServerHttpRequest request, String name) {
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

    public static @Nullable String readSession(ServerHttpRequest request) {
        return readSession(request::headerLines);
    }

    public static @Nullable String readSession(Function<String, List<String>> headerLines) {
        return read(headerLines.apply("Cookie"), name(SESSION, https(headerLines)));
    }

    public static @Nullable String readOidcState(ServerHttpRequest request) {
        return read(request, name(OIDC_STATE, https(request)));
    }

    private static String name(String cookie, boolean https) {
        return https ? HOST_PREFIX + cookie : cookie;
    }

    public static String session(ServerHttpRequest request, String value) {
        return name(SESSION, https(request)) + "=" + value + "; Path=/; HttpOnly; SameSite=Lax; Max-Age="
                + SESSION_SECONDS + secure(request);
    }

    /** Recognizes a known browser at log-in, and is sent only there. It grants no access. */
    public static String knownBrowser(ServerHttpRequest request, LoginThrottleBrowserCookies.BrowserCookie mark) {
        return mark.cookie() + "=" + mark.value() + "; Path=/login; HttpOnly; SameSite=Strict; Max-Age="
                + mark.seconds() + secure(request);
    }

    public static String clearSession(ServerHttpRequest request) {
        return name(SESSION, https(request)) + "=; Path=/; HttpOnly; SameSite=Lax; Max-Age=0" + secure(request);
    }

    /** The OIDC state during log-in. Lax, because the redirect back comes from the identity provider's site. */
    public static String oidcState(ServerHttpRequest request, String value) {
        boolean https = https(request);
        String path = https ? "/" : "/login/oidc"; // the prefix requires the path /
        return name(OIDC_STATE, https) + "=" + value + "; Path=" + path + "; HttpOnly; SameSite=Lax; Max-Age="
                + (value.isEmpty() ? 0 : OIDC_STATE_SECONDS) + secure(request);
    }

    private static String secure(ServerHttpRequest request) {
        return https(request) ? "; Secure" : "";
    }

    /** Whether the browser used TLS, as the proxy reports. A forged header only makes the sender's cookies Secure. */
    private static boolean https(ServerHttpRequest request) {
        return https(request::headerLines);
    }

    private static boolean https(Function<String, List<String>> headerLines) {
        return headerLines.apply("X-Forwarded-Proto").stream()
                .flatMap(line -> Stream.of(line.split(",")))
                .anyMatch(word -> word.strip().equalsIgnoreCase("https"));
    }

    /** The origin of this server as the browser sees it. */
    public static String origin(ServerHttpRequest request) {
        String host = request.header("Host");
        return host == null ? "" : (https(request) ? "https://" : "http://") + host;
    }
}
