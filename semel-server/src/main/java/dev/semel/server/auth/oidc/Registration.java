package dev.semel.server.auth.oidc;

import dev.semel.server.auth.Role;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What this server is at an identity provider, and what the provider's word gives to people.
 *
 * @param issuer the provider, exactly as it calls itself
 * @param secret empty for a client that has none
 * @param label what people call the provider
 * @param home where browsers find this server; the provider sends them back there
 * @param access who may come in as what
 */
public record Registration(String issuer, String client, String secret, String label, String home, Access access) {
    private static final Set<String> THIS_MACHINE = Set.of("localhost", "127.0.0.1", "[::1]");

    /** Where the provider sends browsers back to, below {@link #home}. */
    public static final String CALLBACK = "/login/oidc/callback";

    public Registration {
        checked("SEMEL_OIDC_ISSUER", issuer);
        if (client.isBlank()) {
            throw new IllegalArgumentException("SEMEL_OIDC_CLIENT_ID is missing beside SEMEL_OIDC_ISSUER");
        }
        if (access.grants().isEmpty()) {
            throw new IllegalArgumentException(
                    "SEMEL_OIDC_ROLES is missing beside SEMEL_OIDC_ISSUER; such as admins=admin,*=viewer");
        }
        home = home(home);
    }

    /** Where browsers find this server, without a slash at its end. */
    public static String home(String address) {
        checked("SEMEL_PUBLIC_URL", address);
        return address.endsWith("/") ? address.substring(0, address.length() - 1) : address;
    }

    /** One group, and what whoever is in it may do here. */
    public record Grant(String group, Role role) {
        /** Stands for everybody whom the provider knows. */
        static final String EVERYBODY = "*";
    }

    /**
     * Who may come in as what.
     *
     * @param claim where the groups stand in the token: the name of a claim, or a path with dots
     * @param grants the first one that fits counts; whom none fits is refused
     * @param scopes what is asked for besides `openid`
     */
    public record Access(String workspace, String scopes, String claim, List<Grant> grants) {
        public Access {
            grants = List.copyOf(grants);
        }

        @Nullable
        Role role(Set<String> groups) {
            for (Grant grant : grants) {
                if (grant.group().equals(Grant.EVERYBODY) || groups.contains(grant.group())) {
                    return grant.role();
                }
            }
            return null;
        }
    }

    /** Reads `group=role,…`; where a semicolon stands there it separates, since names of groups may have commas. */
    public static List<Grant> grants(String text) {
        List<Grant> grants = new ArrayList<>();
        String[] parts = text.contains(";") ? text.split(";") : text.split(",");
        for (String one : parts) {
            int equals = one.lastIndexOf('=');
            if (one.isBlank()) {
                continue;
            }
            Role role = equals < 1 ? null : Role.of(one.substring(equals + 1).strip());
            if (role == null) {
                throw new IllegalArgumentException(
                        "SEMEL_OIDC_ROLES takes GROUP=ROLE, separated by commas; ROLE is viewer, operator, reviewer"
                                + " or admin");
            }
            grants.add(new Grant(one.substring(0, equals).strip(), role));
        }
        return grants;
    }

    String callback() {
        return home + CALLBACK;
    }

    /** Over https, or on this very machine; whoever listens in between could be anybody otherwise. */
    static boolean safe(String address) {
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

    private static void checked(String variable, String address) {
        if (!safe(address) || address.contains("?")) {
            throw new IllegalArgumentException(variable + " is an https URL without a query (http on this machine)");
        }
    }

    /** The host and port of the provider, which whoever runs the server vouches for by naming it. */
    public String host() {
        return URI.create(issuer).getRawAuthority();
    }

    @Override
    public String toString() {
        return "client " + client + " of " + issuer;
    }
}
