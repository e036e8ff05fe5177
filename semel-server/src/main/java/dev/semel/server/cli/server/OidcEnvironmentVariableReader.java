package dev.semel.server.cli.server;

import dev.semel.server.access.oidc.OidcClientSettings;
import dev.semel.server.cli.command.CliCommandEnvironment;
import org.jspecify.annotations.Nullable;

/** The client secret must not be an argument, because the process list shows arguments to every user. */
final class OidcEnvironmentVariableReader {
    private OidcEnvironmentVariableReader() {}

    /**
     * Returns null if SEMEL_OIDC_ISSUER is not set.
     *
     * @throws IllegalArgumentException if a setting is missing or invalid
     */
    static @Nullable OidcClientSettings read(CliCommandEnvironment environment) {
        String issuer = environment.variable("SEMEL_OIDC_ISSUER");
        if (issuer.isEmpty()) {
            return null;
        }
        return new OidcClientSettings(
                issuer,
                environment.variable("SEMEL_OIDC_CLIENT_ID"),
                environment.variable("SEMEL_OIDC_CLIENT_SECRET"),
                environment.variable("SEMEL_OIDC_NAME", "your organisation"),
                environment.variable("SEMEL_PUBLIC_URL"),
                new OidcClientSettings.AccessRules(
                        environment.variable("SEMEL_OIDC_WORKSPACE", "default"),
                        environment.variable("SEMEL_OIDC_SCOPES", "profile email"),
                        environment.variable("SEMEL_OIDC_CLAIM", "groups"),
                        OidcClientSettings.parseGrants(environment.variable("SEMEL_OIDC_ROLES"))));
    }
}
