package dev.semel.server.channel;

import dev.semel.error.SemelException;
import dev.semel.workflow.Failures;
import java.util.function.Supplier;

/**
 * Work before anything leaves. Whatever goes wrong in it is certain not to have been sent, and has to say so: to the
 * effect around it any other failure would mean that nobody knows.
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
