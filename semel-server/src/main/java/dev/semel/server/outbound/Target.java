package dev.semel.server.outbound;

import dev.semel.workflow.Failures;
import java.net.URI;
import java.net.URISyntaxException;
import java.util.Locale;

/**
 * Where a request goes, taken apart once. What is checked, connected to, written into the Host header and held against
 * a certificate is this and nothing else, so that two readings of one URL cannot differ.
 *
 * @param host in lower case, without brackets and without a final dot
 * @param path with its query, percent-encoded
 */
public record Target(String scheme, String host, int port, String path) {
    private static final int LONGEST_URL = 8 * 1024;

    /** @throws Failures.NotSent where it is no address of a web server */
    public static Target of(String url) {
        try {
            return of(new URI(url));
        } catch (URISyntaxException e) {
            throw refused("is not a URL"); // the text of the exception shows the value
        }
    }

    public static Target of(URI url) {
        String scheme = url.getScheme() == null ? "" : url.getScheme().toLowerCase(Locale.ROOT);
        if (!scheme.equals("http") && !scheme.equals("https")) {
            throw refused("does not begin with http:// or https://");
        }
        if (url.getRawUserInfo() != null
                || (url.getRawAuthority() != null && url.getRawAuthority().contains("@"))) {
            throw refused("holds a user or a password in front of its host (use auth)");
        }
        String host = url.getHost();
        if (host == null || host.isEmpty()) {
            throw refused("has no host name that DNS knows (letters, digits, - and . only; IPv6 in brackets)");
        }
        int port = url.getPort() == -1 ? scheme.equals("https") ? 443 : 80 : url.getPort();
        if (port < 1 || port > 65_535) {
            throw refused("has a port that is not between 1 and 65535");
        }
        String ascii = url.toASCIIString();
        if (ascii.length() > LONGEST_URL) {
            throw refused("has more than " + LONGEST_URL + " characters");
        }
        URI plain = URI.create(ascii);
        String path = plain.getRawPath() == null || plain.getRawPath().isEmpty() ? "/" : plain.getRawPath();
        String query = plain.getRawQuery() == null ? "" : "?" + plain.getRawQuery();
        return new Target(scheme, host(host), port, path + query);
    }

    private static String host(String written) {
        String host = written.toLowerCase(Locale.ROOT);
        if (host.startsWith("[")) {
            host = host.substring(1, host.length() - 1);
            if (host.contains("%")) {
                throw refused("names a network interface in its host");
            }
        }
        host = host.endsWith(".") ? host.substring(0, host.length() - 1) : host;
        if (host.isEmpty()) {
            throw refused("has no host name");
        }
        return host;
    }

    boolean encrypted() {
        return scheme.equals("https");
    }

    /** As in the Host header and in messages. */
    String authority() {
        String written = host.contains(":") ? "[" + host + "]" : host;
        boolean usual = port == (encrypted() ? 443 : 80);
        return usual ? written : written + ":" + port;
    }

    boolean sameOrigin(Target other) {
        return scheme.equals(other.scheme) && host.equals(other.host) && port == other.port;
    }

    private static Failures.NotSent refused(String why) {
        return new Failures.NotSent("the URL " + why + ". Nothing was sent.", null);
    }
}
