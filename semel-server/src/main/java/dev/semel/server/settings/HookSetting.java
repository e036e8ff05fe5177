package dev.semel.server.settings;

import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A source of webhooks: how its deliveries are proved, and where they say what they are. Secrets are named, never held.
 *
 * @param source the unguessable id in the path that the provider posts to
 * @param secrets names of secrets, each of which proves a delivery: two while one takes over from the other
 * @param tolerance how far a signed time may lie from now; null: as the preset says
 * @param keep how long payloads of deliveries are kept
 * @param signature how it is signed, for the generic preset; null: as the preset says
 * @param id where the provider's own id stands; null: as the preset says
 * @param type where the type stands; null: as the preset says
 * @param reply where messages of people say who sent them; null: it brings none
 */
public record HookSetting(
        String preset,
        String source,
        List<String> secrets,
        Check check,
        @Nullable Duration tolerance,
        Reuse reuse,
        Duration keep,
        @Nullable Signature signature,
        @Nullable Where id,
        @Nullable Where type,
        @Nullable Reply reply) {

    public static final List<String> PRESETS =
            List.of("stripe", "github", "shopify", "slack", "standard", "cloudevents", "generic");

    /** How a CloudEvent proves where it comes from; every other preset is signed. */
    public enum Check {
        SIGNATURE,
        BEARER
    }

    /** What is done with a signature that comes again under another id, where ids are not signed. */
    public enum Reuse {
        FLAG,
        REJECT,
        ALLOW
    }

    /**
     * How a sender signs that follows no preset.
     *
     * @param algorithm `sha256`, `sha1` or `sha512`
     * @param encoding `hex` or `base64`
     * @param prefix what stands before the signature in its header; may be empty
     * @param template the signed text: `{body}` once, and where they are signed `{timestamp}` and `{id}`
     * @param timestampHeader the header with the time in seconds; null where none is signed
     */
    public record Signature(
            String header,
            String algorithm,
            String encoding,
            String prefix,
            String template,
            @Nullable String timestampHeader) {}

    /** JSON pointers to the sender of a message and to its text; both are in the body, which is signed. */
    public record Reply(String from, String text) {}

    /** One of the two. */
    public record Where(@Nullable String header, @Nullable String pointer) {}
}
