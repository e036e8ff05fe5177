package dev.semel.server.connectors.webhooks;

import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.MessageDigest;
import java.security.PublicKey;
import java.security.Signature;
import java.security.spec.X509EncodedKeySpec;
import java.util.Arrays;
import java.util.Base64;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Each scheme derives the key bytes from the secret differently. */
sealed interface WebhookSignatureScheme
        permits WebhookSignatureScheme.HeaderSignature,
                WebhookSignatureScheme.Stripe,
                WebhookSignatureScheme.StandardWebhooks,
                WebhookSignatureScheme.BearerToken,
                TwilioSignature {
    /** Extracts the signatures from a request; null if it has none. */
    @Nullable
    PresentedSignatures extract(InboundWebhookRequest webhookRequest);

    /**
     * Returns the signature that this secret made, or null. Checks every signature, so that timing reveals nothing.
     *
     * @throws UnusableSecret if the secret cannot be a key of this scheme
     */
    @Nullable
    String findMatch(String secret, PresentedSignatures presented, byte[] body) throws UnusableSecret;

    Map<String, String> sign(String secret, SampleStamp stamp, byte[] body) throws UnusableSecret;

    /**
     * @param seconds since 1970
     * @param url to which the sample will be sent; empty if it is unknown
     */
    record SampleStamp(String id, long seconds, String url) {}

    /**
     * @param time the signed timestamp as sent; null if the scheme has none
     * @param prefix signed bytes before the body
     * @param suffix signed bytes after the body
     * @param urls the URLs that a signature may cover
     */
    record PresentedSignatures(
            @Nullable String time, List<String> signatures, byte[] prefix, byte[] suffix, List<String> urls) {
        PresentedSignatures(@Nullable String time, List<String> signatures, byte[] prefix, byte[] suffix) {
            this(time, signatures, prefix, suffix, List.of());
        }
    }

    /** A secret with the wrong format for its scheme. The message never contains its value. */
    final class UnusableSecret extends Exception {
        private static final long serialVersionUID = 1L;

        UnusableSecret(String rule) {
            super(rule);
        }
    }

    byte[] NOTHING = new byte[0];
    /** Most signatures to check; rotation needs only two. */
    int MOST_SIGNATURES = 16;

    /** Compares in constant time; null if none matches. */
    static @Nullable String findEqual(List<String> signatures, String expected) {
        byte[] wanted = HmacSignatureFormat.utf8(expected);
        boolean found = false;
        for (String signature : signatures) {
            found |= MessageDigest.isEqual(HmacSignatureFormat.utf8(signature), wanted);
        }
        return found ? expected : null;
    }

    /**
     * One signature per header, keyed with the UTF-8 bytes of the secret: GitHub, Shopify, Slack and generic sources.
     *
     * @param headers accepted header names; samples use the first
     * @param timeHeader the header with the signed timestamp; null if none is signed
     * @param idHeader the header with the signed id; null if none is signed
     * @param template signed text with {timestamp}, {id} and {body}
     */
    record HeaderSignature(
            List<String> headers,
            HmacSignatureFormat mac,
            String prefix,
            String template,
            @Nullable String timeHeader,
            @Nullable String idHeader)
            implements WebhookSignatureScheme {
        private static final String BODY = "{body}";

        @Override
        public @Nullable PresentedSignatures extract(InboundWebhookRequest webhookRequest) {
            String signature = webhookRequest.header(headers);
            String time = webhookRequest.header(timeHeader);
            String id = webhookRequest.header(idHeader);
            boolean missing =
                    signature == null || (timeHeader != null && time == null) || (idHeader != null && id == null);
            return missing ? null : toPresented(List.of(signature), time, id);
        }

        private PresentedSignatures toPresented(List<String> signatures, @Nullable String time, @Nullable String id) {
            int at = template.indexOf(BODY);
            return new PresentedSignatures(
                    time,
                    signatures,
                    expand(template.substring(0, at), time, id),
                    expand(template.substring(at + BODY.length()), time, id));
        }

        private static byte[] expand(String part, @Nullable String time, @Nullable String id) {
            // One pass, so that an id that contains {timestamp} is not expanded.
            StringBuilder out = new StringBuilder();
            int at = 0;
            while (at < part.length()) {
                if (time != null && part.startsWith("{timestamp}", at)) {
                    out.append(time);
                    at += "{timestamp}".length();
                } else if (id != null && part.startsWith("{id}", at)) {
                    out.append(id);
                    at += "{id}".length();
                } else {
                    out.append(part.charAt(at++));
                }
            }
            return HmacSignatureFormat.utf8(out.toString());
        }

        @Override
        public @Nullable String findMatch(String secret, PresentedSignatures presented, byte[] body) {
            return findEqual(
                    presented.signatures(),
                    prefix
                            + mac.compute(
                                    HmacSignatureFormat.utf8(secret), presented.prefix(), body, presented.suffix()));
        }

        @Override
        public Map<String, String> sign(String secret, SampleStamp stamp, byte[] body) {
            Map<String, String> out = new LinkedHashMap<>();
            if (idHeader != null) {
                out.put(idHeader, stamp.id());
            }
            String time = timeHeader == null ? null : Long.toString(stamp.seconds());
            if (timeHeader != null && time != null) {
                out.put(timeHeader, time);
            }
            PresentedSignatures signed = toPresented(List.of(), time, stamp.id());
            out.put(
                    headers.getFirst(),
                    prefix + mac.compute(HmacSignatureFormat.utf8(secret), signed.prefix(), body, signed.suffix()));
            return out;
        }
    }

    /** Stripe: `t=…,v1=…[,v1=…]`; the key is the whole secret including `whsec_`. */
    record Stripe() implements WebhookSignatureScheme {
        private static final String HEADER = "Stripe-Signature";

        @Override
        public @Nullable PresentedSignatures extract(InboundWebhookRequest webhookRequest) {
            String line = webhookRequest.header(HEADER);
            if (line == null) {
                return null;
            }
            List<String> items = Arrays.asList(line.split(",", -1));
            List<String> times =
                    items.stream().filter(item -> item.startsWith("t=")).toList();
            List<String> signatures =
                    items.stream().filter(item -> item.startsWith("v1=")).toList();
            if (times.size() != 1 || signatures.isEmpty() || signatures.size() > MOST_SIGNATURES) {
                return null;
            }
            String time = times.getFirst().substring("t=".length());
            return new PresentedSignatures(time, signatures, HmacSignatureFormat.utf8(time + "."), NOTHING);
        }

        @Override
        public @Nullable String findMatch(String secret, PresentedSignatures presented, byte[] body) {
            return findEqual(
                    presented.signatures(),
                    "v1="
                            + HmacSignatureFormat.SHA256_HEX.compute(
                                    HmacSignatureFormat.utf8(secret), presented.prefix(), body));
        }

        @Override
        public Map<String, String> sign(String secret, SampleStamp stamp, byte[] body) {
            byte[] front = HmacSignatureFormat.utf8(stamp.seconds() + ".");
            return Map.of(
                    HEADER,
                    "t=" + stamp.seconds() + ",v1="
                            + HmacSignatureFormat.SHA256_HEX.compute(HmacSignatureFormat.utf8(secret), front, body));
        }
    }

    /**
     * Standard Webhooks: `v1,…` with the base64 key after `whsec_`, or `v1a,…` (Ed25519) with the public key after
     * `whpk_`.
     */
    record StandardWebhooks() implements WebhookSignatureScheme {
        /** The names of the specification, and those that Svix uses by default. */
        static final List<String> ID = List.of("webhook-id", "svix-id");

        private static final List<String> TIME = List.of("webhook-timestamp", "svix-timestamp");
        private static final List<String> HEADER = List.of("webhook-signature", "svix-signature");
        private static final String PUBLIC = "whpk_";
        private static final String SHARED = "whsec_";
        private static final byte[] ED25519 = HexFormat.of().parseHex("302a300506032b6570032100");

        @Override
        public @Nullable PresentedSignatures extract(InboundWebhookRequest webhookRequest) {
            String line = webhookRequest.header(HEADER);
            String id = webhookRequest.header(ID);
            String time = webhookRequest.header(TIME);
            if (line == null || id == null || time == null) {
                return null;
            }
            List<String> signatures = Arrays.asList(line.split(" ", -1));
            return signatures.size() > MOST_SIGNATURES
                    ? null
                    : new PresentedSignatures(
                            time, signatures, HmacSignatureFormat.utf8(id + "." + time + "."), NOTHING);
        }

        @Override
        public @Nullable String findMatch(String secret, PresentedSignatures presented, byte[] body)
                throws UnusableSecret {
            if (secret.startsWith(PUBLIC)) {
                return findPublicKeyMatch(secret, presented, body);
            }
            return findEqual(
                    presented.signatures(),
                    "v1," + HmacSignatureFormat.SHA256_BASE64.compute(key(secret), presented.prefix(), body));
        }

        private static byte[] key(String secret) throws UnusableSecret {
            byte[] key = base64(secret.startsWith(SHARED) ? secret.substring(SHARED.length()) : secret);
            if (key.length < 24 || key.length > 64) {
                throw new UnusableSecret("a secret of this preset is whsec_ plus base64 of 24 to 64 bytes");
            }
            return key;
        }

        private static byte[] base64(String text) {
            try {
                return Base64.getDecoder().decode(text);
            } catch (IllegalArgumentException e) {
                return NOTHING;
            }
        }

        /** A public key is not secret, so this comparison need not take constant time. */
        private static @Nullable String findPublicKeyMatch(String secret, PresentedSignatures presented, byte[] body)
                throws UnusableSecret {
            byte[] raw = base64(secret.substring(PUBLIC.length()));
            if (raw.length != 32) {
                throw new UnusableSecret("a public key of this preset is whpk_ plus base64 of 32 bytes");
            }
            for (String signature : presented.signatures()) {
                if (signature.startsWith("v1a,")
                        && verifies(raw, base64(signature.substring(4)), presented.prefix(), body)) {
                    return signature;
                }
            }
            return null;
        }

        private static boolean verifies(byte[] raw, byte[] signature, byte[] front, byte[] body) {
            try {
                byte[] encoded = Arrays.copyOf(ED25519, ED25519.length + raw.length);
                System.arraycopy(raw, 0, encoded, ED25519.length, raw.length);
                PublicKey key = KeyFactory.getInstance("Ed25519").generatePublic(new X509EncodedKeySpec(encoded));
                Signature check = Signature.getInstance("Ed25519");
                check.initVerify(key);
                check.update(front);
                check.update(body);
                return check.verify(signature);
            } catch (GeneralSecurityException e) {
                return false; // not a point on the curve, or not a signature
            }
        }

        @Override
        public Map<String, String> sign(String secret, SampleStamp stamp, byte[] body) throws UnusableSecret {
            if (secret.startsWith(PUBLIC)) {
                throw new UnusableSecret("a public key cannot sign; only the sender has the private key");
            }
            byte[] front = HmacSignatureFormat.utf8(stamp.id() + "." + stamp.seconds() + ".");
            Map<String, String> out = new LinkedHashMap<>();
            out.put(ID.getFirst(), stamp.id());
            out.put(TIME.getFirst(), Long.toString(stamp.seconds()));
            out.put(HEADER.getFirst(), "v1," + HmacSignatureFormat.SHA256_BASE64.compute(key(secret), front, body));
            return out;
        }
    }

    /** Authenticates the sender but not the content: for CloudEvents, which define no signature. */
    record BearerToken() implements WebhookSignatureScheme {
        private static final String HEADER = "Authorization";

        @Override
        public @Nullable PresentedSignatures extract(InboundWebhookRequest webhookRequest) {
            String line = webhookRequest.header(HEADER);
            return line == null ? null : new PresentedSignatures(null, List.of(line), NOTHING, NOTHING);
        }

        @Override
        public @Nullable String findMatch(String secret, PresentedSignatures presented, byte[] body) {
            return findEqual(presented.signatures(), "Bearer " + secret);
        }

        @Override
        public Map<String, String> sign(String secret, SampleStamp stamp, byte[] body) {
            return Map.of(HEADER, "Bearer " + secret);
        }
    }
}
