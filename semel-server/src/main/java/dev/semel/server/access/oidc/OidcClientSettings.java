package dev.semel.server.access.oidc;

import dev.semel.server.access.UserRole;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Settings of the OpenID Connect client: issuer, credentials, public URL and access rules.
 *
 * @param issuer the provider's issuer URL, exactly as in its metadata
 * @param secret client secret; empty for a public client
 * @param label display name of the provider
 * @param publicUrl public URL of this server, to which the provider redirects
 * @param access which groups get which role
 */
public record OidcClientSettings(
        String issuer, String client, String secret, String label, String publicUrl, AccessRules access) {
    private static final Set<String> THIS_MACHINE = Set.of("localhost", "127.0.0.1", "[::1]");

    /** Path of the redirect URI below {@link #publicUrl}. */
    public static final String CALLBACK = "/login/oidc/callback";

    public OidcClientSettings {
        requireSecureUrl("SEMEL_OIDC_ISSUER", issuer);
        if (client.isBlank()) {
            throw new IllegalArgumentException("SEMEL_OIDC_ISSUER is set, but SEMEL_OIDC_CLIENT_ID is missing");
        }
        if (access.grants().isEmpty()) {
            throw new IllegalArgumentException(
                    "SEMEL_OIDC_ISSUER is set, but SEMEL_OIDC_ROLES is missing; example: admins=admin,*=viewer");
        }
        publicUrl = publicUrl(publicUrl);
    }

    /** The public URL of this server, without a trailing slash. */
    public static String publicUrl(String address) {
        requireSecureUrl("SEMEL_PUBLIC_URL", address);
        return address.endsWith("/") ? address.substring(0, address.length() - 1) : address;
    }

    public record RoleGrant(String group, UserRole role) {
        /** Matches every user of the provider. */
        static final String EVERYBODY = "*";
    }

    /**
     * Workspace and roles of the provider's users.
     *
     * @param claim the claim with the groups: a name or a dotted path
     * @param grants the first match decides; users without a match cannot log in
     * @param scopes requested besides `openid`
     */
    public record AccessRules(String workspace, String scopes, String claim, List<RoleGrant> grants) {
        public AccessRules {
            grants = List.copyOf(grants);
        }

        @Nullable
        UserRole role(Set<String> groups) {
            for (RoleGrant roleGrant : grants) {
                if (roleGrant.group().equals(RoleGrant.EVERYBODY) || groups.contains(roleGrant.group())) {
                    return roleGrant.role();
                }
            }
            return null;
        }
    }

    /** Parses `group=role,…`; semicolons separate if present, since group names may contain commas. */
    public static List<RoleGrant> parseGrants(String text) {
        List<RoleGrant> grants = new ArrayList<>();
        String[] parts = text.contains(";") ? text.split(";") : text.split(",");
        for (String one : parts) {
            int equals = one.lastIndexOf('=');
            if (one.isBlank()) {
                continue;
            }
            UserRole role =
                    equals < 1 ? null : UserRole.of(one.substring(equals + 1).strip());
            if (role == null) {
                throw new IllegalArgumentException(
                        "SEMEL_OIDC_ROLES must be a list of GROUP=ROLE pairs, separated by commas; ROLE is viewer,"
                                + " operator, reviewer or admin");
            }
            grants.add(new RoleGrant(one.substring(0, equals).strip(), role));
        }
        return grants;
    }

    String callback() {
        return publicUrl + CALLBACK;
    }

    /** Whether a URL uses https or points to this machine; otherwise others could read the traffic. */
    static boolean isSecureUrl(String address) {
        try {
            URI uri = URI.create(address);
            String host = uri.getHost();
            return host != null
                    && uri.getRawUserInfo() == null
                    && uri.getRawFragment() == null
                    && ("https".equals(uri.getScheme())
                            || "http".equals(uri.getScheme()) && THIS_MACHINE.contains(host));
        } catch (IllegalArgumentException e) {
            return false;
        }
    }

    private static void requireSecureUrl(String variable, String address) {
        if (!isSecureUrl(address) || address.contains("?")) {
            throw new IllegalArgumentException(
                    variable + " must be an https URL without a query (http is allowed on this machine)");
        }
    }

    /** The provider's host and port, which the operator trusts by configuring them. */
    public String host() {
        return URI.create(issuer).getRawAuthority();
    }

    @Override
    public String toString() {
        return "client " + client + " of " + issuer;
    }
}
