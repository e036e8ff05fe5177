package dev.semel.server.connectors.webhooks;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Verifies the signature and timestamp of a webhook delivery. Pure: callers pass in secrets and time. */
final class WebhookSignatureVerifier {
    private static final Pattern SECONDS = Pattern.compile("(0|[1-9][0-9]{0,11})");

    private WebhookSignatureVerifier() {}

    sealed interface Verdict {
        /** @param signature the matching signature as sent */
        record Genuine(String signature) implements Verdict {}

        /** No secret matches the signature. */
        record Forged() implements Verdict {}

        /** The signature is valid, but the timestamp is outside the tolerance. */
        record Stale() implements Verdict {}

        /** Not decidable: no available secret matches, and one secret is unavailable. */
        record Unknown(String rule) implements Verdict {}
    }

    /**
     * Checks the signature before the timestamp. Also rejects timestamps in the future, which an attacker could
     * otherwise save for later.
     *
     * @param tolerance null: the timestamp is not checked
     */
    static Verdict verify(
            WebhookSignatureScheme scheme,
            @Nullable Duration tolerance,
            InboundWebhookRequest webhookRequest,
            VerificationInputs proofs) {
        WebhookSignatureScheme.PresentedSignatures presented = scheme.extract(webhookRequest);
        if (presented == null) {
            return new Verdict.Forged();
        }
        String proof = null;
        String unfit = proofs.missingSecret();
        for (String secret : proofs.secrets()) {
            try {
                String found = scheme.findMatch(secret, presented, webhookRequest.body());
                proof = found == null ? proof : found;
            } catch (WebhookSignatureScheme.UnusableSecret e) {
                unfit = e.getMessage();
            }
        }
        if (proof == null) {
            return unfit == null ? new Verdict.Forged() : new Verdict.Unknown(unfit);
        }
        String time = presented.time();
        boolean inTime = tolerance == null || time == null || isWithinTolerance(time, proofs.now(), tolerance);
        return inTime ? new Verdict.Genuine(proof) : new Verdict.Stale();
    }

    /** @param missingSecret describes a secret that could not be read; null if all were read */
    record VerificationInputs(
            List<String> secrets, @Nullable String missingSecret, Instant now) {}

    private static boolean isWithinTolerance(String time, Instant now, Duration tolerance) {
        if (!SECONDS.matcher(time).matches()) {
            return false;
        }
        long away = Math.abs(Long.parseLong(time) - now.getEpochSecond());
        return away <= tolerance.toSeconds();
    }
}
