package dev.semel.server.connectors.webhooks;

import dev.semel.server.settings.InboundWebhookSetting;
import dev.semel.server.settings.InboundWebhookSetting.ValueLocation;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Verification and identification rules of one webhook source: its preset with the overrides of its document.
 *
 * @param tolerance for the signed timestamp; null if the scheme signs none
 * @param ids where to find the provider's event id; the first match counts
 * @param idSigned whether the signature covers the id, so that a captured delivery cannot be resent under another id
 * @param types where to find the event type
 */
record WebhookPreset(
        WebhookSignatureScheme scheme,
        @Nullable Duration tolerance,
        List<ValueLocation> ids,
        boolean idSigned,
        List<ValueLocation> types) {
    private static final Duration USUAL = Duration.ofSeconds(300);

    /** The hash of the body instead of a place. */
    static final ValueLocation BODY = new ValueLocation(null, null);

    private static final Set<String> WITH_FORMS = Set.of("github", "slack", "twilio", "generic");

    /** Whether providers of this preset also send forms. */
    static boolean acceptsForms(InboundWebhookSetting webhook) {
        return WITH_FORMS.contains(webhook.preset());
    }

    /** Whether the signature covers both id and type, so that a captured delivery can change neither. */
    boolean signsIdAndType() {
        return idSigned && types.stream().allMatch(valueLocation -> valueLocation.pointer() != null);
    }

    static WebhookPreset of(InboundWebhookSetting webhook) {
        WebhookPreset preset = switch (webhook.preset()) {
            case "stripe" ->
                new WebhookPreset(new WebhookSignatureScheme.Stripe(), USUAL, pointers("/id"), true, pointers("/type"));
            case "github" -> github();
            case "shopify" -> shopify();
            case "slack" -> slack();
            case "meta" -> meta();
            case "twilio" -> twilio();
            case "standard" -> standard();
            case "cloudevents" ->
                webhook.check() == InboundWebhookSetting.VerificationMethod.BEARER
                        ? new WebhookPreset(new WebhookSignatureScheme.BearerToken(), null, List.of(), true, List.of())
                        : new WebhookPreset(
                                new WebhookSignatureScheme.StandardWebhooks(), USUAL, List.of(), true, List.of());
            default -> generic(webhook);
        };
        return preset.withOverrides(webhook);
    }

    private WebhookPreset withOverrides(InboundWebhookSetting webhook) {
        ValueLocation id = webhook.id();
        boolean signed = id == null || webhook.preset().equals("generic") ? idSigned : id.pointer() != null;
        return new WebhookPreset(
                scheme,
                tolerance == null || webhook.tolerance() == null ? tolerance : webhook.tolerance(),
                id == null ? ids : List.of(id),
                signed,
                webhook.type() == null ? types : List.of(webhook.type()));
    }

    private static WebhookPreset github() {
        var scheme = new WebhookSignatureScheme.HeaderSignature(
                List.of("X-Hub-Signature-256"), HmacSignatureFormat.SHA256_HEX, "sha256=", "{body}", null, null);
        return new WebhookPreset(scheme, null, headers("X-GitHub-Delivery"), false, headers("X-GitHub-Event"));
    }

    /** Meta sends no delivery id, and a repeat has the same body: the signed body is the id. */
    private static WebhookPreset meta() {
        var scheme = new WebhookSignatureScheme.HeaderSignature(
                List.of("X-Hub-Signature-256"), HmacSignatureFormat.SHA256_HEX, "sha256=", "{body}", null, null);
        return new WebhookPreset(scheme, null, List.of(BODY), true, pointers("/object"));
    }

    /** Twilio repeats the token of a request when it sends the request again. */
    private static WebhookPreset twilio() {
        return new WebhookPreset(
                new TwilioSignature(),
                null,
                List.of(new ValueLocation("I-Twilio-Idempotency-Token", null), BODY),
                false,
                pointers("/MessageStatus", "/SmsStatus", "/CallStatus"));
    }

    /**
     * Shopify's newer API omits the `X-` prefix. The webhook id identifies a delivery; several topics can share the id
     * of one event, so that one is only used without a webhook id.
     */
    private static WebhookPreset shopify() {
        var scheme = new WebhookSignatureScheme.HeaderSignature(
                List.of("X-Shopify-Hmac-Sha256", "Shopify-Hmac-Sha256"),
                HmacSignatureFormat.SHA256_BASE64,
                "",
                "{body}",
                null,
                null);
        return new WebhookPreset(
                scheme,
                null,
                headers("X-Shopify-Webhook-Id", "Shopify-Webhook-Id", "X-Shopify-Event-Id", "Shopify-Event-Id"),
                false,
                headers("X-Shopify-Topic", "Shopify-Topic"));
    }

    /** Events carry an id; commands and buttons carry a trigger id that is used once. */
    private static WebhookPreset slack() {
        var scheme = new WebhookSignatureScheme.HeaderSignature(
                List.of("X-Slack-Signature"),
                HmacSignatureFormat.SHA256_HEX,
                "v0=",
                "v0:{timestamp}:{body}",
                "X-Slack-Request-Timestamp",
                null);
        return new WebhookPreset(
                scheme,
                USUAL,
                pointers("/event_id", "/trigger_id"),
                true,
                pointers("/event/type", "/type", "/command"));
    }

    private static WebhookPreset standard() {
        return new WebhookPreset(
                new WebhookSignatureScheme.StandardWebhooks(),
                USUAL,
                headers(
                        WebhookSignatureScheme.StandardWebhooks.ID.getFirst(),
                        WebhookSignatureScheme.StandardWebhooks.ID.getLast()),
                true,
                pointers("/type"));
    }

    private static WebhookPreset generic(InboundWebhookSetting setting) {
        InboundWebhookSetting.Signature signature = setting.signature();
        ValueLocation id = setting.id();
        if (signature == null || id == null) {
            throw new IllegalStateException(
                    "a generic webhook must have signature and id; the document reader checks this");
        }
        boolean signsId = signature.template().contains("{id}");
        var scheme = new WebhookSignatureScheme.HeaderSignature(
                List.of(signature.header()),
                new HmacSignatureFormat(
                        HmacSignatureFormat.Algorithm.valueOf(
                                signature.algorithm().toUpperCase(Locale.ROOT)),
                        HmacSignatureFormat.Encoding.valueOf(
                                signature.encoding().toUpperCase(Locale.ROOT))),
                signature.prefix(),
                signature.template(),
                signature.timestampHeader(),
                signsId ? id.header() : null);
        Duration tolerance = signature.timestampHeader() == null ? null : USUAL;
        return new WebhookPreset(scheme, tolerance, List.of(id), signsId || id.pointer() != null, List.of());
    }

    private static List<ValueLocation> headers(String... names) {
        return Stream.of(names).map(name -> new ValueLocation(name, null)).toList();
    }

    private static List<ValueLocation> pointers(String... pointers) {
        return Stream.of(pointers)
                .map(pointer -> new ValueLocation(null, pointer))
                .toList();
    }
}
