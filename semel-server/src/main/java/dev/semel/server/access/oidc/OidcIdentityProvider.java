package dev.semel.server.access.oidc;

import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.server.access.ExternalIdentity;
import dev.semel.server.access.IdentityProvider;
import dev.semel.server.access.UserRole;
import dev.semel.server.connectors.outbound.FormUrlEncoder;
import dev.semel.server.connectors.outbound.OutboundHttpClient;
import java.time.InstantSource;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Logs users in with an OpenID Connect provider: authorization code flow with PKCE. */
public final class OidcIdentityProvider implements IdentityProvider {
    private static final int MOST_LOGINS = 10_000;

    private final OidcClientSettings registration;
    private final OidcProviderClient discovery;
    private final InstantSource clock;
    private final Supplier<byte[]> secrets;
    private final Supplier<byte[]> cookieKey;

    /** Logins that already made their token request on this worker, with their end. A code is used once. */
    private final Map<String, Long> used = new LinkedHashMap<>();

    /**
     * @param nanos monotonic clock
     * @param secrets creates 32 random bytes
     * @param cookieKey authenticates login cookies; the same on every worker
     */
    public OidcIdentityProvider(
            OidcClientSettings registration,
            OutboundHttpClient outbound,
            InstantSource clock,
            LongSupplier nanos,
            Supplier<byte[]> secrets,
            Supplier<byte[]> cookieKey) {
        this.registration = registration;
        this.discovery = new OidcProviderClient(registration, outbound, nanos);
        this.clock = clock;
        this.secrets = secrets;
        this.cookieKey = cookieKey;
    }

    @Override
    public String label() {
        return registration.label();
    }

    @Override
    public String workspace() {
        return registration.access().workspace();
    }

    @Override
    public LoginRedirect beginLogin(String next) {
        OidcLoginState round = OidcLoginState.of(secrets.get(), next, clock.instant());
        Map<String, String> asked = new LinkedHashMap<>();
        asked.put("response_type", "code");
        asked.put("client_id", registration.client());
        asked.put("redirect_uri", registration.callback());
        asked.put("scope", ("openid " + registration.access().scopes()).strip());
        asked.put("state", round.state());
        asked.put("nonce", round.nonce());
        asked.put("code_challenge", round.challenge());
        asked.put("code_challenge_method", "S256");
        return new LoginRedirect(
                withParameters(discovery.metadata().authorize(), asked), round.cookie(cookieKey.get()));
    }

    @Override
    public CompletedLogin finishLogin(@Nullable String cookie, Function<String, @Nullable String> answer) {
        OidcLoginState round = OidcLoginState.read(cookie, cookieKey.get(), clock.instant());
        String state = answer.apply("state");
        if (round == null || state == null || !OidcLoginState.same(state, round.state())) {
            throw rejection("This login started in another browser or more than ten minutes ago");
        }
        String issuer = answer.apply("iss");
        if (issuer != null && !issuer.equals(registration.issuer())) {
            throw rejection("The response came from another identity provider");
        }
        String code = answer.apply("code");
        if (answer.apply("error") != null || code == null || code.isEmpty()) {
            throw rejection("The identity provider rejected the login");
        }
        if (!useOnce(round)) {
            throw rejection("This login was already used");
        }
        IdToken token = IdToken.verify(
                discovery.exchangeCode(code, round),
                new IdToken.ExpectedClaims(
                        registration.issuer(), registration.client(), round.nonce(), clock.instant()),
                discovery::key);
        UserRole role =
                registration.access().role(token.groups(registration.access().claim()));
        if (role == null) {
            throw new SemelException(
                    ErrorCode.FORBIDDEN,
                    "The identity provider authenticated you, but none of your groups has access. You are not"
                            + " logged in.",
                    "Ask an administrator to add you to a group, or to add one of your groups to SEMEL_OIDC_ROLES.");
        }
        return new CompletedLogin(
                ExternalIdentity.of(registration.issuer(), token.subject(), token.name(), role), round.next());
    }

    /** Whether this worker has not used the login before. One login thus makes at most one token request per worker. */
    private boolean useOnce(OidcLoginState round) {
        long now = clock.instant().getEpochSecond();
        synchronized (used) {
            used.values().removeIf(end -> end < now);
            if (used.size() >= MOST_LOGINS) {
                throw new SemelException(
                        ErrorCode.OVERLOADED,
                        "Too many logins are being completed. You are not logged in.",
                        "Start again in a few minutes.");
            }
            return used.putIfAbsent(round.secret(), round.endsAt()) == null;
        }
    }

    @Override
    public @Nullable String logoutUrl() {
        String page = discovery.metadata().endSession();
        return page.isEmpty()
                ? null
                : withParameters(
                        page,
                        Map.of(
                                "client_id",
                                registration.client(),
                                "post_logout_redirect_uri",
                                registration.publicUrl() + "/login"));
    }

    private static String withParameters(String address, Map<String, String> parameters) {
        return address + (address.contains("?") ? "&" : "?") + FormUrlEncoder.encode(parameters);
    }

    static SemelException rejection(String what) {
        return new SemelException(
                ErrorCode.FORBIDDEN, what + ". You are not logged in.", "Open the login page and start again.");
    }
}
