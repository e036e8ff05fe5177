package dev.semel.server.connectors.outbound;

import dev.semel.error.RequestNotSent;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * One header of an outbound request. It allows only visible ASCII and spaces, which prevents header injection; {@link
 * OutboundHttpClient} alone sets framing headers.
 *
 * @param secret whether the value is a credential: never sent to another origin and never shown
 */
public record OutboundRequestHeader(String name, String value, boolean secret) {
    private static final int LONGEST = 16 * 1024;
    private static final Pattern NAME = Pattern.compile("[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}");

    private static final Set<String> FRAMING = Set.of(
            "host",
            "content-length",
            "transfer-encoding",
            "connection",
            "keep-alive",
            "upgrade",
            "te",
            "trailer",
            "expect",
            "accept-encoding",
            "proxy-authorization",
            "proxy-connection",
            "http2-settings");

    /** The length of the chain of runs that started each other. */
    public static final String DEPTH = "Semel-Depth";

    public OutboundRequestHeader {
        if (!isName(name)) {
            throw new RequestNotSent("a header name is not a valid HTTP token. Nothing was sent.", null);
        }
        if (isFraming(name)) {
            throw new RequestNotSent(
                    "the header " + name + " is reserved for the HTTP client. Nothing was sent.", null);
        }
        if (!isValue(value)) {
            throw new RequestNotSent(
                    "the value of header " + name + " has characters other than visible ASCII and inner"
                            + " spaces, or is"
                            + " longer than " + LONGEST + " characters. Nothing was sent.",
                    null);
        }
    }

    public static OutboundRequestHeader of(String name, String value) {
        return new OutboundRequestHeader(name, value, false);
    }

    public static OutboundRequestHeader secret(String name, String value) {
        return new OutboundRequestHeader(name, value, true);
    }

    public static boolean isName(String name) {
        return NAME.matcher(name).matches();
    }

    /** Whether this header frames the request, so that setting it could smuggle another request. */
    public static boolean isFraming(String name) {
        return FRAMING.contains(name.toLowerCase(Locale.ROOT));
    }

    /** Whether only the server may set this header: it frames the request, or carries the depth of a chain of runs. */
    public static boolean isSetByServer(String name) {
        return isFraming(name) || name.equalsIgnoreCase(DEPTH);
    }

    private static boolean isValue(String value) {
        return value.length() <= LONGEST
                && value.chars().allMatch(c -> c >= 0x20 && c <= 0x7e)
                && value.equals(value.strip());
    }

    boolean hasName(String other) {
        return name.equalsIgnoreCase(other);
    }

    @Override
    public String toString() {
        return name + ": " + (secret ? "…" : value);
    }
}
