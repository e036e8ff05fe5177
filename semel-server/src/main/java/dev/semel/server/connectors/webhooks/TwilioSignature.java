package dev.semel.server.connectors.webhooks;

import dev.semel.error.SemelException;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Twilio: HMAC-SHA1 over the URL and the sorted form fields. A JSON body is covered by its hash, the URL parameter
 * {@code bodySHA256}.
 */
record TwilioSignature() implements WebhookSignatureScheme {
    private static final String HEADER = "X-Twilio-Signature";
    private static final String BODY_HASH = "bodySHA256=";
    private static final HmacSignatureFormat MAC =
            new HmacSignatureFormat(HmacSignatureFormat.Algorithm.SHA1, HmacSignatureFormat.Encoding.BASE64);

    @Override
    public @Nullable PresentedSignatures extract(InboundWebhookRequest webhookRequest) {
        String signature = webhookRequest.header(HEADER);
        return signature == null
                ? null
                : new PresentedSignatures(null, List.of(signature), NOTHING, NOTHING, webhookRequest.urls());
    }

    @Override
    public @Nullable String findMatch(String secret, PresentedSignatures presented, byte[] body) {
        String found = null;
        for (String url : presented.urls()) {
            String signed = signedText(url, body);
            String match = signed == null
                    ? null
                    : WebhookSignatureScheme.findEqual(presented.signatures(), compute(secret, signed));
            found = match == null ? found : match;
        }
        return found;
    }

    private static String compute(String secret, String signed) {
        return MAC.compute(HmacSignatureFormat.utf8(secret), HmacSignatureFormat.utf8(signed));
    }

    /** Null if the signature cannot cover this body. */
    private static @Nullable String signedText(String url, byte[] body) {
        int query = url.indexOf('?');
        for (String parameter :
                query < 0 ? new String[0] : url.substring(query + 1).split("&", -1)) {
            if (parameter.startsWith(BODY_HASH)) {
                return parameter.substring(BODY_HASH.length()).equals(sha256(body)) ? url : null;
            }
        }
        try {
            StringBuilder out = new StringBuilder(url);
            // A field that occurs twice is signed once per value, in the order of the values.
            WebhookBodyParser.formFields(body)
                    .forEach((name, values) -> new TreeSet<>(values)
                            .forEach(value -> out.append(name).append(value)));
            return out.toString();
        } catch (SemelException e) {
            return null; // not a form
        }
    }

    private static String sha256(byte[] body) {
        try {
            return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(body));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every JDK has SHA-256", e);
        }
    }

    @Override
    public Map<String, String> sign(String secret, SampleStamp stamp, byte[] body) throws UnusableSecret {
        String signed = stamp.url().isEmpty() ? null : signedText(stamp.url(), body);
        if (signed == null) {
            throw new UnusableSecret("its signature covers the URL of a webhook, and there is none");
        }
        return Map.of(HEADER, compute(secret, signed));
    }
}
