package dev.semel.server.channel;

import dev.semel.error.SemelException;
import dev.semel.workflow.Failures;
import java.util.function.Supplier;

/**
 * Runs work that happens before a send and reports its failures as "not sent". Any other exception would mean an
 * unknown outcome to the engine.
 */
final class Preparing {
    private Preparing() {}

    static <T> T of(Supplier<T> work) {
        try {
            return work.get();
        } catch (SemelException e) {
            String why = e.detail() + " " + e.fix();
            if (e.code().retryable()) {
                throw new Failures.NotSent(why, null);
            }
            throw new Failures.Refused(why);
        }
    }
}
