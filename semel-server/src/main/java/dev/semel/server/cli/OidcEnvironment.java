package dev.semel.server.cli;

import dev.semel.server.access.oidc.OidcClientSettings;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * Reads the OpenID Connect settings from environment variables. The client secret must not be an argument, because the
 * process list shows arguments to every user.
 */
final class OidcEnvironment {
    private OidcEnvironment() {}

    /**
     * Returns null if SEMEL_OIDC_ISSUER is not set.
     *
     * @throws IllegalArgumentException if a setting is missing or invalid
     */
    static @Nullable OidcClientSettings read(UnaryOperator<String> variables) {
        String issuer = variables.apply("SEMEL_OIDC_ISSUER");
        if (issuer.isEmpty()) {
            return null;
        }
        return new OidcClientSettings(
                issuer,
                variables.apply("SEMEL_OIDC_CLIENT_ID"),
                variables.apply("SEMEL_OIDC_CLIENT_SECRET"),
                or(variables, "SEMEL_OIDC_NAME", "your organisation"),
                variables.apply("SEMEL_PUBLIC_URL"),
                new OidcClientSettings.AccessRules(
                        or(variables, "SEMEL_OIDC_WORKSPACE", "default"),
                        or(variables, "SEMEL_OIDC_SCOPES", "profile email"),
                        or(variables, "SEMEL_OIDC_CLAIM", "groups"),
                        OidcClientSettings.parseGrants(variables.apply("SEMEL_OIDC_ROLES"))));
    }

    private static String or(UnaryOperator<String> variables, String name, String otherwise) {
        String value = variables.apply(name);
        return value.isEmpty() ? otherwise : value;
    }
}
