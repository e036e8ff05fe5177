package dev.semel.server.connectors.channel;

import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.json.Sha256;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.stream.Collectors;

/**
 * Signs outgoing webhooks by the Standard Webhooks specification: HMAC-SHA256 over `id.timestamp.body`. The id is the
 * effect key, so receivers can deduplicate by it.
 */
final class OutboundWebhookSigner {
    private static final String PREFIX = "whsec_";
    private static final int SHORTEST = 24;
    private static final int LONGEST = 64;

    private OutboundWebhookSigner() {}

    /** @param secrets plain values; during rotation several sign */
    static List<NotificationHttpClient.Header> headers(String id, Instant now, byte[] body, List<String> secrets) {
        long seconds = now.getEpochSecond();
        byte[] front = (id + "." + seconds + ".").getBytes(StandardCharsets.UTF_8);
        String signatures = secrets.stream()
                .map(secret -> "v1," + Base64.getEncoder().encodeToString(Sha256.hmac(key(secret), front, body)))
                .collect(Collectors.joining(" "));
        List<NotificationHttpClient.Header> headers = new ArrayList<>();
        headers.add(new NotificationHttpClient.Header("webhook-id", id, false));
        headers.add(new NotificationHttpClient.Header("webhook-timestamp", Long.toString(seconds), false));
        headers.add(new NotificationHttpClient.Header("webhook-signature", signatures, false));
        return headers;
    }

    private static byte[] key(String secret) {
        byte[] key;
        try {
            key = secret.startsWith(PREFIX)
                    ? Base64.getDecoder().decode(secret.substring(PREFIX.length()))
                    : new byte[0];
        } catch (IllegalArgumentException e) {
            key = new byte[0];
        }
        if (key.length < SHORTEST || key.length > LONGEST) {
            throw new SemelException(
                    ErrorCode.INVALID_INPUT,
                    "The signing secret of this webhook channel must be whsec_ followed by the base64 of 24 to 64"
                            + " bytes. Nothing was sent.",
                    "Create a secret with `echo whsec_$(openssl rand -base64 32)`. Store it with `semel secret set"
                            + " NAME`.");
        }
        return key;
    }
}
