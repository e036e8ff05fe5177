package dev.semel.server.auth;

import java.net.URI;

/**
 * Somebody for whom an identity provider has vouched a moment ago.
 *
 * @param identity what never changes of them: a digest of the provider and of their number there
 * @param name how they would like to be called here
 * @param host of the provider: stands behind their name, so that nobody is taken for a person of this server
 */
public record Vouched(String identity, String name, String host, Role role) {
    private static final int LONGEST_HOST = 100;

    /** @param subject what the provider calls this person for ever; no other provider's word counts for it */
    public static Vouched of(String issuer, String subject, String name, Role role) {
        return new Vouched(Sessions.digest(issuer.length() + " " + issuer + " " + subject), name, host(issuer), role);
    }

    private static String host(String issuer) {
        String host = String.valueOf(URI.create(issuer).getHost()).replaceAll("[^A-Za-z0-9.-]", "-");
        return host.substring(0, Math.min(LONGEST_HOST, host.length()));
    }
}
