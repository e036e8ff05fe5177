package dev.semel.server.access;

import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** An external identity provider whose users may log in to the dashboard. */
public interface IdentityProvider {
    /** Display name, shown after "Log in with". */
    String label();

    /** The workspace of its users. */
    String workspace();

    /**
     * @param address URL to redirect the browser to
     * @param cookie login state for the browser, so that only the same browser can finish
     */
    record LoginRedirect(String address, String cookie) {}

    record CompletedLogin(ExternalIdentity who, String next) {}

    LoginRedirect beginLogin(String next);

    /**
     * @param cookie the login state; null if absent
     * @param answer the query parameters of the callback
     */
    CompletedLogin finishLogin(@Nullable String cookie, Function<String, @Nullable String> answer);

    /** The provider's logout URL; null if it has none. */
    @Nullable
    String logoutUrl();
}
