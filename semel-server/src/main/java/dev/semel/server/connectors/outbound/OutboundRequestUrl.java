package dev.semel.server.connectors.outbound;

import dev.semel.error.RequestNotSent;
import java.net.URI;
import java.net.URISyntaxException;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * The parsed URL of an outbound request. The address check, connection, Host header and certificate check all use this
 * one result, so that parsers cannot disagree.
 *
 * @param host in lower case, without brackets or a final dot
 * @param path with its query, percent-encoded
 */
public record OutboundRequestUrl(String scheme, String host, int port, String path) {
    private static final int LONGEST_URL = 8 * 1024;

    /** An invalid URL; the message continues "the URL …". */
    private static final class InvalidUrl extends Exception {
        private final String why;

        InvalidUrl(String why) {
            super(why);
            this.why = why;
        }
    }

    /** @throws RequestNotSent if it is not an http or https URL */
    public static OutboundRequestUrl parse(String url) {
        try {
            return parseUrl(url);
        } catch (InvalidUrl e) {
            throw new RequestNotSent("the URL " + e.why + ". Nothing was sent.", null);
        }
    }

    /** The problem of a URL, as the continuation of "the URL"; null if it is valid. */
    public static @Nullable String findProblem(String url) {
        try {
            parseUrl(url);
            return null;
        } catch (InvalidUrl e) {
            return e.why;
        }
    }

    private static OutboundRequestUrl parseUrl(String text) throws InvalidUrl {
        URI url;
        try {
            url = URI.create(new URI(text).toASCIIString());
        } catch (URISyntaxException e) {
            throw new InvalidUrl("is not well-formed"); // the exception text contains the value
        }
        String scheme = url.getScheme() == null ? "" : url.getScheme().toLowerCase(Locale.ROOT);
        if (!scheme.equals("http") && !scheme.equals("https")) {
            throw new InvalidUrl("does not begin with http:// or https://");
        }
        if (url.getRawAuthority() != null && url.getRawAuthority().contains("@")) {
            throw new InvalidUrl("contains a user or a password before its host (use auth)");
        }
        if (url.getHost() == null || url.getHost().isEmpty()) {
            throw new InvalidUrl("has no valid host name (letters, digits, - and . only; IPv6 in brackets)");
        }
        int port = url.getPort() == -1 ? scheme.equals("https") ? 443 : 80 : url.getPort();
        if (port < 1 || port > 65_535) {
            throw new InvalidUrl("has a port that is not between 1 and 65535");
        }
        if (url.toString().length() > LONGEST_URL) {
            throw new InvalidUrl("has more than " + LONGEST_URL + " characters");
        }
        String path = url.getRawPath() == null || url.getRawPath().isEmpty() ? "/" : url.getRawPath();
        rejectDotSegments(path);
        String query = url.getRawQuery() == null ? "" : "?" + url.getRawQuery();
        return new OutboundRequestUrl(scheme, host(url.getHost()), port, path + query);
    }

    private static String host(String written) throws InvalidUrl {
        String host = written.toLowerCase(Locale.ROOT);
        if (host.startsWith("[")) {
            host = host.substring(1, host.length() - 1);
            if (host.contains("%")) {
                throw new InvalidUrl("contains a network interface in its host");
            }
        }
        host = host.endsWith(".") ? host.substring(0, host.length() - 1) : host;
        if (host.isEmpty()) {
            throw new InvalidUrl("has no host name");
        }
        return host;
    }

    /** Rejects `.` and `..` segments, also encoded, because some servers decode them and leave the path. */
    private static void rejectDotSegments(String path) throws InvalidUrl {
        for (String part : path.split("/|%2[fF]|%5[cC]")) {
            String plain = part.replace("%2e", ".").replace("%2E", ".");
            if (plain.equals(".") || plain.equals("..")) {
                throw new InvalidUrl("has a path segment that is . or ..");
            }
        }
    }

    boolean isHttps() {
        return scheme.equals("https");
    }

    /** Host and port as in the Host header and in messages. */
    public String authority() {
        String written = host.contains(":") ? "[" + host + "]" : host;
        boolean usual = port == (isHttps() ? 443 : 80);
        return usual ? written : written + ":" + port;
    }

    public boolean sameOrigin(OutboundRequestUrl other) {
        return scheme.equals(other.scheme) && host.equals(other.host) && port == other.port;
    }
}
