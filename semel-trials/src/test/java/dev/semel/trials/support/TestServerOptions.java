package dev.semel.trials.support;

import dev.semel.server.access.oidc.OidcClientSettings;
import dev.semel.server.cli.server.ServerOptions;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Server options with what a test changes. */
public final class TestServerOptions {
    private final ServerOptions base;
    private ServerOptions.StepPermissions permissions;
    private ServerOptions.ServerLimits limits;
    private @Nullable OidcClientSettings provider;
    private ServerOptions.ProxySettings proxies;

    public TestServerOptions(ServerOptions base) {
        this.base = base;
        this.permissions = base.stepPermissions();
        this.limits = base.limits();
        this.provider = base.identityProvider();
        this.proxies = base.proxySettings();
    }

    public TestServerOptions secretKey(String key) {
        permissions = new ServerOptions.StepPermissions(
                new ServerOptions.HiddenText(key),
                permissions.allowHosts(),
                permissions.allowSql(),
                permissions.stubPort());
        return this;
    }

    public TestServerOptions allowHosts(List<String> hosts) {
        permissions = new ServerOptions.StepPermissions(
                permissions.secretKey(), hosts, permissions.allowSql(), permissions.stubPort());
        return this;
    }

    public TestServerOptions limits(ServerOptions.ServerLimits other) {
        limits = other;
        return this;
    }

    public TestServerOptions identityProvider(OidcClientSettings other) {
        provider = other;
        return this;
    }

    public TestServerOptions proxySettings(ServerOptions.ProxySettings other) {
        proxies = other;
        return this;
    }

    public ServerOptions build() {
        return new ServerOptions(
                base.dev(),
                base.demo(),
                base.host(),
                base.port(),
                base.data(),
                base.store(),
                base.workflows(),
                base.name(),
                base.shutdownGrace(),
                permissions,
                base.retention(),
                limits,
                provider,
                proxies);
    }
}
