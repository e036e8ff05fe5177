package dev.semel.server.connectors.outbound;

import dev.semel.error.RequestNotSent;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;

/**
 * One outbound HTTP request without its credential. Construction throws {@link RequestNotSent} for invalid values.
 *
 * @param body empty for none
 */
public record OutboundRequest(
        String method,
        OutboundRequestUrl target,
        List<OutboundRequestHeader> headers,
        byte[] body,
        SendOptions options) {
    public static final byte[] NO_BODY = {};
    public static final Set<String> METHODS = Set.of("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE");

    private static final int MOST_HEADERS = 64;
    private static final int LONGEST_BODY = 10 * 1024 * 1024;

    /** Read-only methods, which are safe to repeat. */
    private static final Set<String> LOOKING = Set.of("GET", "HEAD");

    /**
     * Timeout, size limit and redirect options.
     *
     * @param timeout from the DNS lookup to the last byte of the response
     * @param maxResponseBytes most bytes of the decoded response body
     * @param maxRedirects most redirects to follow; 0 unless the method is read-only
     * @param repeatable whether a second request is harmless, so that it may follow a 401 with a fresh token
     */
    public record SendOptions(Duration timeout, int maxResponseBytes, int maxRedirects, boolean repeatable) {
        public static final Duration LONGEST_TIMEOUT = Duration.ofMinutes(10);
        public static final int MOST_BYTES = 10 * 1024 * 1024;
        public static final int MOST_REDIRECTS = 5;
        public static final SendOptions USUAL = new SendOptions(Duration.ofSeconds(30), 1024 * 1024, 0, false);

        public SendOptions {
            if (timeout.compareTo(Duration.ofMillis(1)) < 0 || timeout.compareTo(LONGEST_TIMEOUT) > 0) {
                throw new IllegalArgumentException("a timeout must be between 1 ms and 10 minutes, not " + timeout);
            }
            if (maxResponseBytes < 0 || maxResponseBytes > MOST_BYTES) {
                throw new IllegalArgumentException("the response limit must be at most " + MOST_BYTES + " bytes");
            }
            if (maxRedirects < 0 || maxRedirects > MOST_REDIRECTS) {
                throw new IllegalArgumentException("the redirect limit must be at most " + MOST_REDIRECTS);
            }
        }

        public SendOptions timeout(Duration value) {
            return new SendOptions(value, maxResponseBytes, maxRedirects, repeatable);
        }

        public SendOptions maxResponseBytes(int value) {
            return new SendOptions(timeout, value, maxRedirects, repeatable);
        }

        public SendOptions maxRedirects(int value) {
            return new SendOptions(timeout, maxResponseBytes, value, repeatable);
        }

        public SendOptions repeatable(boolean value) {
            return new SendOptions(timeout, maxResponseBytes, maxRedirects, value);
        }
    }

    public OutboundRequest {
        headers = List.copyOf(headers);
        if (!METHODS.contains(method)) {
            throw notSent("the method is not one of " + String.join(", ", new TreeSet<>(METHODS)));
        }
        if (options.maxRedirects() > 0 && !LOOKING.contains(method)) {
            throw notSent("only GET and HEAD follow redirects, since other methods could take effect twice");
        }
        if (body.length > (LOOKING.contains(method) ? 0 : LONGEST_BODY)) {
            throw notSent("the body is longer than " + LONGEST_BODY + " bytes, or " + method + " does not allow one");
        }
        if (headers.size() > MOST_HEADERS) {
            throw notSent("there are more than " + MOST_HEADERS + " headers");
        }
        Set<String> names = new TreeSet<>();
        for (OutboundRequestHeader header : headers) {
            if (!names.add(header.name().toLowerCase(Locale.ROOT))) {
                throw notSent("the header " + header.name() + " appears twice");
            }
        }
    }

    public static boolean isReadOnly(String method) {
        return LOOKING.contains(method);
    }

    public static OutboundRequest get(String url) {
        return new OutboundRequest(
                "GET", OutboundRequestUrl.parse(url), List.of(), NO_BODY, SendOptions.USUAL.repeatable(true));
    }

    public static OutboundRequest post(String url, String contentType, byte[] body) {
        return new OutboundRequest(
                "POST",
                OutboundRequestUrl.parse(url),
                List.of(OutboundRequestHeader.of("Content-Type", contentType)),
                body,
                SendOptions.USUAL);
    }

    /** A copy with this header; replaces a header of the same name. */
    public OutboundRequest with(OutboundRequestHeader header) {
        List<OutboundRequestHeader> all = new ArrayList<>(headers);
        all.removeIf(other -> other.hasName(header.name()));
        all.add(header);
        return new OutboundRequest(method, target, all, body, options);
    }

    public OutboundRequest options(SendOptions value) {
        return new OutboundRequest(method, target, headers, body, value);
    }

    /** A copy for a redirect target; drops credentials if the origin changes. */
    OutboundRequest redirected(OutboundRequestUrl to) {
        List<OutboundRequestHeader> requestHeaders = target.sameOrigin(to)
                ? headers
                : headers.stream()
                        .filter(header -> header.hasName("Accept") || header.hasName("Accept-Language"))
                        .filter(header -> !header.secret())
                        .toList();
        return new OutboundRequest(method, to, requestHeaders, body, options);
    }

    boolean has(String header) {
        return headers.stream().anyMatch(other -> other.hasName(header));
    }

    private static RequestNotSent notSent(String why) {
        return new RequestNotSent(why + ". Nothing was sent.", null);
    }
}
