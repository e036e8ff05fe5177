package dev.semel.server.channel;

import dev.semel.error.NotSent;
import dev.semel.error.Rejected;
import dev.semel.error.SemelException;
import java.util.function.Supplier;

/**
 * Runs work that happens before a send and reports its failures as "not sent". Any other exception would mean an
 * unknown outcome to the engine.
 */
final class PreSendGuard {
    private PreSendGuard() {}

    static <T> T run(Supplier<T> work) {
        try {
            return work.get();
        } catch (SemelException e) {
            String why = e.detail() + " " + e.fix();
            if (e.code().retryable()) {
                throw new NotSent(why, null);
            }
            throw new Rejected(why);
        }
    }
}
