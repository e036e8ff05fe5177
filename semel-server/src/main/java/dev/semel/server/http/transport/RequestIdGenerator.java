package dev.semel.server.http.transport;

import java.security.SecureRandom;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicLong;

/** A random number per server plus a counter. A random number per request would cost more than the routing. */
final class RequestIdGenerator {
    private static final long VERSION_MASK = 0xFFFF_FFFF_FFFF_0FFFL;
    private static final long VERSION_8 = 0x8000L;
    private static final long VARIANT = 0x8000_0000_0000_0000L;

    private final long server = new SecureRandom().nextLong() & VERSION_MASK | VERSION_8;
    private final AtomicLong count = new AtomicLong();

    UUID next() {
        return new UUID(server, VARIANT | count.incrementAndGet());
    }
}
