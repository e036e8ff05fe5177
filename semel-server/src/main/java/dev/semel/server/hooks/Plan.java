package dev.semel.server.hooks;

import dev.semel.server.settings.HookSetting;
import dev.semel.server.settings.HookSetting.Where;
import java.time.Duration;
import java.util.List;
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
record Plan(Scheme scheme, @Nullable Duration tolerance, List<Where> ids, boolean idSigned, List<Where> types) {
    private static final Duration USUAL = Duration.ofSeconds(300);
    private static final Set<String> WITH_FORMS = Set.of("github", "slack", "generic");

    /** Whether providers of this preset also send forms. */
    static boolean hasForms(HookSetting hook) {
        return WITH_FORMS.contains(hook.preset());
    }

    /** Whether the signature covers both id and type, so that a captured delivery can change neither. */
    boolean isNamed() {
        return idSigned && types.stream().allMatch(place -> place.pointer() != null);
    }

    static Plan of(HookSetting hook) {
        Plan preset = switch (hook.preset()) {
            case "stripe" -> new Plan(new Scheme.Stripe(), USUAL, pointers("/id"), true, pointers("/type"));
            case "github" -> github();
            case "shopify" -> shopify();
            case "slack" -> slack();
            case "standard" -> standard();
            case "cloudevents" ->
                hook.check() == HookSetting.Check.BEARER
                        ? new Plan(new Scheme.Bearer(), null, List.of(), true, List.of())
                        : new Plan(new Scheme.Standard(), USUAL, List.of(), true, List.of());
            default -> generic(hook);
        };
        return preset.withOverrides(hook);
    }

    /** Applies the overrides of the webhook document. */
    private Plan withOverrides(HookSetting hook) {
        Where id = hook.id();
        boolean signed = id == null || hook.preset().equals("generic") ? idSigned : id.pointer() != null;
        return new Plan(
                scheme,
                tolerance == null || hook.tolerance() == null ? tolerance : hook.tolerance(),
                id == null ? ids : List.of(id),
                signed,
                hook.type() == null ? types : List.of(hook.type()));
    }

    private static Plan github() {
        var scheme = new Scheme.Whole(List.of("X-Hub-Signature-256"), Mac.SHA256_HEX, "sha256=", "{body}", null, null);
        return new Plan(scheme, null, headers("X-GitHub-Delivery"), false, headers("X-GitHub-Event"));
    }

    /** Shopify's newer API omits the `X-` prefix. */
    private static Plan shopify() {
        var scheme = new Scheme.Whole(
                List.of("X-Shopify-Hmac-Sha256", "Shopify-Hmac-Sha256"), Mac.SHA256_BASE64, "", "{body}", null, null);
        return new Plan(
                scheme,
                null,
                headers("X-Shopify-Webhook-Id", "Shopify-Webhook-Id"),
                false,
                headers("X-Shopify-Topic", "Shopify-Topic"));
    }

    /** Events carry an id; commands and buttons carry a trigger id that is used once. */
    private static Plan slack() {
        var scheme = new Scheme.Whole(
                List.of("X-Slack-Signature"),
                Mac.SHA256_HEX,
                "v0=",
                "v0:{timestamp}:{body}",
                "X-Slack-Request-Timestamp",
                null);
        return new Plan(
                scheme,
                USUAL,
                pointers("/event_id", "/trigger_id"),
                true,
                pointers("/event/type", "/type", "/command"));
    }

    private static Plan standard() {
        return new Plan(new Scheme.Standard(), USUAL, headers(Scheme.Standard.ID), true, pointers("/type"));
    }

    private static Plan generic(HookSetting hook) {
        HookSetting.Signature signature = hook.signature();
        Where id = hook.id();
        if (signature == null || id == null) {
            throw new IllegalStateException("a generic webhook must have signature and id; the document reader"
                    + " checks this");
        }
        boolean signsId = signature.template().contains("{id}");
        var scheme = new Scheme.Whole(
                List.of(signature.header()),
                new Mac(Mac.Algorithm.of(signature.algorithm()), Mac.Encoding.of(signature.encoding())),
                signature.prefix(),
                signature.template(),
                signature.timestampHeader(),
                signsId ? id.header() : null);
        Duration tolerance = signature.timestampHeader() == null ? null : USUAL;
        return new Plan(scheme, tolerance, List.of(id), signsId || id.pointer() != null, List.of());
    }

    private static List<Where> headers(String... names) {
        return Stream.of(names).map(name -> new Where(name, null)).toList();
    }

    private static List<Where> pointers(String... pointers) {
        return Stream.of(pointers).map(pointer -> new Where(null, pointer)).toList();
    }
}
