package dev.semel.server.auth;

import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** An identity provider: whoever logs in there may come in here. */
public interface Voucher {
    /** What people call it; stands behind "Log in with". */
    String label();

    /** Where people who come from there belong. */
    String workspace();

    /**
     * The beginning of a log-in.
     *
     * @param address where the browser is sent
     * @param cookie what the browser keeps meanwhile, so that only the one that went out comes back
     */
    record Outset(String address, String cookie) {}

    /** The end of a log-in: who it is, and where they wanted to go. */
    record Arrival(Vouched who, String next) {}

    Outset begin(String next);

    /**
     * @param cookie what the browser kept; null where it comes with none
     * @param answer the parameters of the address to which the provider sent it
     */
    Arrival finish(@Nullable String cookie, Function<String, @Nullable String> answer);

    /** Where one logs out there; null where the provider has no such page. */
    @Nullable
    String farewell();
}
