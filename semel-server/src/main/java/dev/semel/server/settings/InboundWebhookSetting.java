package dev.semel.server.settings;

import dev.semel.store.InboundWebhookDelivery;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Stored definition of a webhook source: preset, secrets, signature and where to find id and type. Secrets are names,
 * never values.
 *
 * @param source the unguessable id in the webhook's URL path
 * @param secrets names of accepted signing secrets; two during rotation
 * @param tolerance accepted deviation of the signed timestamp; null: preset default
 * @param reuse what happens if a signature returns under another id and ids are not signed
 * @param retention retention of delivery payloads
 * @param signature signature format of the generic preset; null: preset default
 * @param id location of the provider's event id; null: preset default
 * @param type location of the event type; null: preset default
 * @param reply location of sender and text in incoming messages; null: it receives none
 * @param verifyToken name of the secret that Meta sends when it verifies the URL; null for other presets
 */
public record InboundWebhookSetting(
        String preset,
        String source,
        List<String> secrets,
        VerificationMethod check,
        @Nullable Duration tolerance,
        InboundWebhookDelivery.SignatureReuse reuse,
        Duration retention,
        @Nullable Signature signature,
        @Nullable ValueLocation id,
        @Nullable ValueLocation type,
        @Nullable ReplyFields reply,
        @Nullable String verifyToken) {

    public static final List<String> PRESETS =
            List.of("stripe", "github", "shopify", "slack", "meta", "twilio", "standard", "cloudevents", "generic");

    /** How CloudEvents authenticate; all other presets are signed. */
    public enum VerificationMethod {
        SIGNATURE,
        BEARER
    }

    /**
     * The signature format of a generic source.
     *
     * @param algorithm `sha256`, `sha1` or `sha512`
     * @param encoding `hex` or `base64`
     * @param prefix text before the signature in its header; may be empty
     * @param template the signed text: `{body}` once, optionally `{timestamp}` and `{id}`
     * @param timestampHeader the header with the time in seconds; null if none is signed
     */
    public record Signature(
            String header,
            String algorithm,
            String encoding,
            String prefix,
            String template,
            @Nullable String timestampHeader) {}

    /** JSON pointers to sender and text of a message, both in the signed body. */
    public record ReplyFields(String from, String text) {}

    /** Location of a value: a header or a JSON pointer. */
    public record ValueLocation(
            @Nullable String header, @Nullable String pointer) {}
}
