package dev.semel.server.access;

import dev.semel.json.Sha256;
import java.net.URI;

/**
 * A user whom the identity provider just authenticated.
 *
 * @param identity stable digest of the provider and the user's subject there
 * @param name preferred local name
 * @param host the provider's host: suffix of the local name, so that it never equals an invited user's name
 */
public record ExternalIdentity(String identity, String name, String host, UserRole role) {
    private static final int LONGEST_HOST = 100;

    /** @param subject the provider's permanent id of this user */
    public static ExternalIdentity of(String issuer, String subject, String name, UserRole role) {
        return new ExternalIdentity(
                Sha256.hex(issuer.length() + " " + issuer + " " + subject), name, host(issuer), role);
    }

    private static String host(String issuer) {
        String host = String.valueOf(URI.create(issuer).getHost()).replaceAll("[^A-Za-z0-9.-]", "-");
        return host.substring(0, Math.min(LONGEST_HOST, host.length()));
    }
}
