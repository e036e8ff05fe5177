package dev.semel.server.connectors.channel;

import dev.semel.error.RequestNotSent;
import dev.semel.error.RequestRejected;
import dev.semel.error.SemelException;
import java.util.function.Supplier;

/** Reports failures before a send as "not sent". Any other exception would mean an unknown outcome to the engine. */
public final class NotificationPreSendFailureTranslator {
    private NotificationPreSendFailureTranslator() {}

    public static <T> T run(Supplier<T> work) {
        try {
            return work.get();
        } catch (SemelException e) {
            String why = e.detail() + " " + e.fix();
            if (e.code().retryable()) {
                throw new RequestNotSent(why, null);
            }
            throw new RequestRejected(why);
        }
    }
}
