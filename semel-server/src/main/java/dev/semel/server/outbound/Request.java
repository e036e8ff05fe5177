package dev.semel.server.outbound;

import dev.semel.workflow.Failures;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;

/**
 * One outbound HTTP request without its credential. Construction throws {@link Failures.NotSent} for invalid values.
 *
 * @param body empty for none
 */
public record Request(String method, Target target, List<Header> headers, byte[] body, Manner manner) {
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
     * @param longestAnswer most bytes of the decoded response body
     * @param redirects most redirects to follow; 0 unless the method is read-only
     * @param repeatable whether a second request is harmless, so that it may follow a 401 with a fresh token
     */
    public record Manner(Duration timeout, int longestAnswer, int redirects, boolean repeatable) {
        public static final Duration LONGEST_TIMEOUT = Duration.ofMinutes(10);
        public static final int MOST_BYTES = 10 * 1024 * 1024;
        public static final int MOST_REDIRECTS = 5;
        public static final Manner USUAL = new Manner(Duration.ofSeconds(30), 1024 * 1024, 0, false);

        public Manner {
            if (timeout.compareTo(Duration.ofMillis(1)) < 0 || timeout.compareTo(LONGEST_TIMEOUT) > 0) {
                throw new IllegalArgumentException("a timeout must be between 1 ms and 10 minutes, not " + timeout);
            }
            if (longestAnswer < 0 || longestAnswer > MOST_BYTES) {
                throw new IllegalArgumentException("the response limit must be at most " + MOST_BYTES + " bytes");
            }
            if (redirects < 0 || redirects > MOST_REDIRECTS) {
                throw new IllegalArgumentException("the redirect limit must be at most " + MOST_REDIRECTS);
            }
        }

        public Manner timeout(Duration value) {
            return new Manner(value, longestAnswer, redirects, repeatable);
        }

        public Manner longestAnswer(int value) {
            return new Manner(timeout, value, redirects, repeatable);
        }

        public Manner redirects(int value) {
            return new Manner(timeout, longestAnswer, value, repeatable);
        }

        public Manner repeatable(boolean value) {
            return new Manner(timeout, longestAnswer, redirects, value);
        }
    }

    public Request {
        headers = List.copyOf(headers);
        if (!METHODS.contains(method)) {
            throw notSent("the method is not one of " + String.join(", ", new TreeSet<>(METHODS)));
        }
        if (manner.redirects() > 0 && !LOOKING.contains(method)) {
            throw notSent("only GET and HEAD follow redirects, since other methods could take effect twice");
        }
        if (body.length > (LOOKING.contains(method) ? 0 : LONGEST_BODY)) {
            throw notSent("the body is longer than " + LONGEST_BODY + " bytes, or " + method + " does not allow one");
        }
        if (headers.size() > MOST_HEADERS) {
            throw notSent("there are more than " + MOST_HEADERS + " headers");
        }
        Set<String> names = new TreeSet<>();
        for (Header header : headers) {
            if (!names.add(header.name().toLowerCase(Locale.ROOT))) {
                throw notSent("the header " + header.name() + " appears twice");
            }
        }
    }

    public static boolean onlyLooks(String method) {
        return LOOKING.contains(method);
    }

    public static Request get(String url) {
        return new Request("GET", Target.of(url), List.of(), NO_BODY, Manner.USUAL.repeatable(true));
    }

    public static Request post(String url, String contentType, byte[] body) {
        return new Request("POST", Target.of(url), List.of(Header.of("Content-Type", contentType)), body, Manner.USUAL);
    }

    /** A copy with this header; replaces a header of the same name. */
    public Request with(Header header) {
        List<Header> all = new ArrayList<>(headers);
        all.removeIf(other -> other.is(header.name()));
        all.add(header);
        return new Request(method, target, all, body, manner);
    }

    public Request manner(Manner value) {
        return new Request(method, target, headers, body, value);
    }

    /** A copy for a redirect target; drops credentials if the origin changes. */
    Request redirected(Target to) {
        List<Header> kept = target.sameOrigin(to)
                ? headers
                : headers.stream()
                        .filter(header -> header.is("Accept") || header.is("Accept-Language"))
                        .filter(header -> !header.secret())
                        .toList();
        return new Request(method, to, kept, body, manner);
    }

    boolean has(String header) {
        return headers.stream().anyMatch(other -> other.is(header));
    }

    private static Failures.NotSent notSent(String why) {
        return new Failures.NotSent(why + ". Nothing was sent.", null);
    }
}
