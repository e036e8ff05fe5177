package dev.semel.server.http;

import java.util.Locale;
import java.util.Set;
import java.util.regex.Pattern;

/** The Host headers that a server accepts. */
public enum AllowedHosts {
    ANY,
    /** Rejects DNS rebinding: a web page whose host name resolves to this machine. */
    LOOPBACK;

    private static final Set<String> LOOPBACK_NAMES = Set.of("localhost", "127.0.0.1", "[::1]");
    private static final Pattern PORT = Pattern.compile(":[0-9]{1,5}$");

    /** @param host a name or address, with an optional port */
    public boolean accepts(String host) {
        return this == ANY
                || LOOPBACK_NAMES.contains(PORT.matcher(host).replaceFirst("").toLowerCase(Locale.ROOT));
    }
}
