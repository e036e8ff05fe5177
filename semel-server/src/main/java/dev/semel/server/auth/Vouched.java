package dev.semel.server.auth;

/**
 * Somebody for whom an identity provider has vouched a moment ago.
 *
 * @param identity what never changes of them: a digest of the provider and of their number there
 * @param name how they would like to be called here
 */
public record Vouched(String identity, String name, Role role) {
    /** @param subject what the provider calls this person for ever; no other provider's word counts for it */
    public static Vouched of(String issuer, String subject, String name, Role role) {
        return new Vouched(Sessions.digest(issuer.length() + " " + issuer + " " + subject), name, role);
    }
}
