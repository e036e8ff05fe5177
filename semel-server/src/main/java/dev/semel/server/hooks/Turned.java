package dev.semel.server.hooks;

import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;

/** What a provider is told whose delivery is turned away. Nothing in it helps somebody who guesses. */
final class Turned {
    private Turned() {}

    static SemelException unknown() {
        return new SemelException(
                ErrorCode.NOT_FOUND,
                "There is no such source of webhooks. Nothing was started.",
                "Post to the path that `semel hooks list` shows.");
    }

    static SemelException forged() {
        return new SemelException(
                ErrorCode.WEBHOOK_SIGNATURE_INVALID,
                "The signature of this delivery is missing, or no secret of its hook made it. Nothing was started.",
                "Check that the hook names the secret that the provider shows, and that nothing on the way changes"
                        + " the body.");
    }

    static SemelException stale() {
        return new SemelException(
                ErrorCode.WEBHOOK_TIMESTAMP_OUT_OF_TOLERANCE,
                "This delivery is correctly signed, and its time is too far from now. Nothing was started.",
                "Set both clocks right; a delivery that was held back must be sent anew by its provider.");
    }

    static SemelException reused() {
        return new SemelException(
                ErrorCode.WEBHOOK_SIGNATURE_REUSED,
                "The signature of this delivery came before under another id, and ids are not signed here."
                        + " Nothing was started.",
                "If the provider does send one body under two ids, say signature_reuse: flag in the hook.");
    }

    static SemelException old() {
        return new SemelException(
                ErrorCode.NOT_FOUND,
                "This delivery came more than seven days ago. What it started is not remembered any more, so it"
                        + " would start again. Nothing was started.",
                "Let the provider send it again, if it is really to start again.");
    }

    static SemelException notReady() {
        return new SemelException(
                ErrorCode.WEBHOOK_NOT_READY,
                "A secret of this hook is missing or cannot be used, so that nobody can say who sent this."
                        + " Nothing was started.",
                "Store the secrets that the hook names with `semel secret set`; the provider may send it again.");
    }
}
