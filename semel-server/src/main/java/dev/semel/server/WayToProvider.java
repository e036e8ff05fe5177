package dev.semel.server;

import dev.semel.Semel;
import dev.semel.server.auth.oidc.Registration;
import dev.semel.server.auth.oidc.SignOn;
import dev.semel.server.cli.ServeOptions;
import dev.semel.server.outbound.Guard;
import dev.semel.server.outbound.Outbound;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The connection to the OpenID Connect provider, if one is configured. It does not share the HTTP client of the steps:
 * the provider's host may be private, and workflow files must not reach it.
 */
record WayToProvider(@Nullable SignOn signOn, @Nullable Outbound outbound) implements AutoCloseable {
    private static final int SECRET_BYTES = 32;

    static WayToProvider of(ServeOptions options, Semel semel, InstantSource clock) {
        Registration provider = options.logIn();
        if (provider == null || options.trust().standIn() != 0) {
            return new WayToProvider(null, null);
        }
        List<String> hosts = new ArrayList<>(options.allowHosts());
        hosts.add(provider.host());
        Outbound outbound = new Outbound(Guard.of(options.dev(), hosts));
        var means = new SignOn.Means(outbound, clock, semel::nanos, () -> semel.newSecret(SECRET_BYTES));
        return new WayToProvider(new SignOn(provider, means), outbound);
    }

    @Override
    public void close() {
        if (outbound != null) {
            outbound.close();
        }
    }
}
