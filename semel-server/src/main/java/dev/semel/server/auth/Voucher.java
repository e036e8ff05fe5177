package dev.semel.server.auth;

import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** An external identity provider whose users may log in to the dashboard. */
public interface Voucher {
    /** Display name, shown after "Log in with". */
    String label();

    /** The workspace of its users. */
    String workspace();

    /**
     * The first step of a login.
     *
     * @param address URL to redirect the browser to
     * @param cookie login state for the browser, so that only the same browser can finish
     */
    record Outset(String address, String cookie) {}

    /** A finished login: the user and the page to show next. */
    record Arrival(Vouched who, String next) {}

    Outset begin(String next);

    /**
     * @param cookie the login state; null if absent
     * @param answer the query parameters of the callback
     */
    Arrival finish(@Nullable String cookie, Function<String, @Nullable String> answer);

    /** The provider's logout URL; null if it has none. */
    @Nullable
    String farewell();
}
