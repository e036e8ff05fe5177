package dev.semel.server.connectors.webhooks;

import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;

/** The error responses for rejected webhook deliveries. They reveal nothing that helps an attacker. */
final class InboundWebhookErrorFactory {
    private InboundWebhookErrorFactory() {}

    static SemelException unknownSource() {
        return new SemelException(
                ErrorCode.NOT_FOUND,
                "There is no webhook source with this id. No run was started.",
                "Send to the path that `semel webhook list` shows.");
    }

    static SemelException invalidSignature() {
        return new SemelException(
                ErrorCode.WEBHOOK_SIGNATURE_INVALID,
                "The signature of this delivery is missing, or matches no secret of its webhook. No run was started.",
                "Check that the webhook names the provider's signing secret, and that no proxy changes the body.");
    }

    static SemelException wrongVerifyToken() {
        return new SemelException(
                ErrorCode.WEBHOOK_SIGNATURE_INVALID,
                "The verify token of this request is not the one of the webhook. No run was started.",
                "Enter the same verify token at the provider and in the secret that `verify_token` names.");
    }

    static SemelException staleTimestamp() {
        return new SemelException(
                ErrorCode.WEBHOOK_TIMESTAMP_OUT_OF_TOLERANCE,
                "This delivery is correctly signed, but its timestamp is outside the tolerance. No run was started.",
                "Synchronise both clocks. If the delivery was delayed, let the provider send it again.");
    }

    static SemelException reusedSignature() {
        return new SemelException(
                ErrorCode.WEBHOOK_SIGNATURE_REUSED,
                "This signature was used before under another event id or type. In this preset, the signature covers"
                        + " neither. No run was started.",
                "If the provider sends the same body with two different event ids, set `signature_reuse: flag` in the"
                        + " webhook.");
    }

    static SemelException tooOldToReprocess() {
        return new SemelException(
                ErrorCode.NOT_FOUND,
                "This delivery is more than seven days old. Semel no longer knows which runs the delivery started, so"
                        + " the same runs could start again. No run was started.",
                "To start new runs, let the provider send the delivery again.");
    }

    static SemelException secretUnavailable() {
        return new SemelException(
                ErrorCode.WEBHOOK_NOT_READY,
                "A secret of this webhook is missing or unusable, so Semel cannot verify the sender."
                        + " No run was started.",
                "Store the secrets of the webhook with `semel secret set`, then let the provider send the delivery"
                        + " again.");
    }
}
