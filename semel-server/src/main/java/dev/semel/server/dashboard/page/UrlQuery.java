package dev.semel.server.dashboard.page;

import dev.semel.server.http.InProcessApiClient;

/**
 * The query of a URL. Parameters without a value are left out.
 *
 * @param text encoded, without the question mark; may be empty
 */
public record UrlQuery(String text) {
    public static final UrlQuery EMPTY = new UrlQuery("");

    public static UrlQuery of(String name, String value) {
        return EMPTY.and(name, value);
    }

    public UrlQuery and(String name, String value) {
        if (value.isEmpty()) {
            return this;
        }
        String pair = InProcessApiClient.encode(name) + "=" + InProcessApiClient.encode(value);
        return new UrlQuery(text.isEmpty() ? pair : text + "&" + pair);
    }

    /** With the question mark; empty if there is no parameter. */
    public String suffix() {
        return text.isEmpty() ? "" : "?" + text;
    }
}
