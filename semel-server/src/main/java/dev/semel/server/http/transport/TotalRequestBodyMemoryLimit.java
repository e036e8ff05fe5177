package dev.semel.server.http.transport;

import dev.semel.server.http.ServerHttpRequest;
import java.util.HashMap;
import java.util.Map;

/**
 * Limits the total memory of all request bodies that are processed at once. Only bytes that arrived count: a client that
 * announces a body and does not send it uses nothing. The trees of parsed bodies have a limit of their own.
 */
final class TotalRequestBodyMemoryLimit {
    private static final int SHARE_OF_HEAP = 16;
    /** For requests without a credential, which anybody can send. */
    private static final int ANONYMOUS_SHARE_OF_HEAP = 64;

    private static final int ANONYMOUS_CALLERS = 4;
    /** Parsed bodies use more memory, but for a shorter time. */
    private static final int PARSED_SHARE_OF_HEAP = 4;

    private static final int ANONYMOUS_PARSED_SHARE_OF_HEAP = 16;

    private final long size;
    private final long perCaller;
    private final ParsedBodyMemoryLimit parsed;
    private final Map<String, Long> usedByCaller = new HashMap<>();
    private long used;

    /** @param perCaller what one caller may use, so that it does not use up the memory of others */
    TotalRequestBodyMemoryLimit(long size, long perCaller, ParsedBodyMemoryLimit parsed) {
        this.size = size;
        this.perCaller = perCaller;
        this.parsed = parsed;
    }

    /** For authenticated requests. A workspace may use three quarters. */
    static TotalRequestBodyMemoryLimit ofHeap() {
        long size = Runtime.getRuntime().maxMemory() / SHARE_OF_HEAP;
        return new TotalRequestBodyMemoryLimit(size, size / 4 * 3, ParsedBodyMemoryLimit.ofHeap(PARSED_SHARE_OF_HEAP));
    }

    /** For requests without a credential. An address may use a quarter. */
    static TotalRequestBodyMemoryLimit ofHeapForAnonymousCallers() {
        long size = Runtime.getRuntime().maxMemory() / ANONYMOUS_SHARE_OF_HEAP;
        return new TotalRequestBodyMemoryLimit(
                size, size / ANONYMOUS_CALLERS, ParsedBodyMemoryLimit.ofHeap(ANONYMOUS_PARSED_SHARE_OF_HEAP));
    }

    synchronized int callers() {
        return usedByCaller.size();
    }

    /** @param caller workspace or address */
    BodyMemory open(String caller) {
        return new BodyMemory(caller);
    }

    /** The memory of one body, which grows with every read. One thread uses it. */
    final class BodyMemory implements ServerHttpRequest.BodyMemory {
        private final String caller;
        private long held;
        private int parsedPermits;

        private BodyMemory(String caller) {
            this.caller = caller;
        }

        /**
         * Counts the bytes that arrived until now. A body may exceed a limit while there is no other body: otherwise a
         * body larger than the limit could never be processed.
         *
         * @return false when memory is used up; the body must then be rejected
         */
        boolean growTo(long bytes) {
            synchronized (TotalRequestBodyMemoryLimit.this) {
                long ofCaller = usedByCaller.getOrDefault(caller, 0L);
                boolean fits = used == held || used - held + bytes <= size;
                boolean callerFits = ofCaller == held || ofCaller - held + bytes <= perCaller;
                boolean granted = bytes <= held || fits && callerFits;
                if (granted) {
                    hold(bytes);
                }
                return granted;
            }
        }

        private void hold(long bytes) {
            long more = bytes - held;
            if (more != 0) { // a caller without bytes has no entry
                held = bytes;
                used += more;
                usedByCaller.merge(caller, more, (one, other) -> one + other == 0 ? null : one + other);
            }
        }

        @Override
        public void reserveParsed() {
            if (parsedPermits == 0) {
                parsedPermits = parsed.acquire(held);
            }
        }

        @Override
        public void close() {
            parsed.release(parsedPermits);
            parsedPermits = 0;
            synchronized (TotalRequestBodyMemoryLimit.this) {
                hold(0);
            }
        }
    }
}
