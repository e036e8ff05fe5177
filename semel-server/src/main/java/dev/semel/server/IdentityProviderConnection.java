package dev.semel.server;

import dev.semel.runtime.SemelRuntime;
import dev.semel.server.access.oidc.OidcClientSettings;
import dev.semel.server.access.oidc.OidcIdentityProvider;
import dev.semel.server.cli.server.ServerOptions;
import dev.semel.server.connectors.outbound.OutboundAddressGuard;
import dev.semel.server.connectors.outbound.OutboundHttpClient;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Does not share the steps' HTTP client: the provider's host may be private, and workflow files must not reach it. */
record IdentityProviderConnection(
        @Nullable OidcIdentityProvider signOn, @Nullable OutboundHttpClient outbound) implements AutoCloseable {
    private static final int SECRET_BYTES = 32;

    /** @param cookieKey a secret of the store, so that every worker can finish a login */
    static IdentityProviderConnection open(
            ServerOptions options, SemelRuntime semel, InstantSource clock, Supplier<byte[]> cookieKey) {
        OidcClientSettings provider = options.identityProvider();
        if (provider == null || options.stepPermissions().stubPort() != 0) {
            return new IdentityProviderConnection(null, null);
        }
        List<String> hosts = new ArrayList<>(options.stepPermissions().allowHosts());
        hosts.add(provider.host());
        OutboundHttpClient outbound = new OutboundHttpClient(OutboundAddressGuard.of(options.dev(), hosts));
        OidcIdentityProvider signOn = new OidcIdentityProvider(
                provider, outbound, clock, semel::nanos, () -> semel.newSecret(SECRET_BYTES), cookieKey);
        return new IdentityProviderConnection(signOn, outbound);
    }

    @Override
    public void close() {
        if (outbound != null) {
            outbound.close();
        }
    }
}
