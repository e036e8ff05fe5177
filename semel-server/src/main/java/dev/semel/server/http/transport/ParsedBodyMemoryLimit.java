package dev.semel.server.http.transport;

import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import java.time.Duration;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

/**
 * Limits the memory of request bodies that are parsed at the same time: a tree of small values uses about 20 times its
 * text. Further requests with a large body wait a moment.
 */
final class ParsedBodyMemoryLimit {
    private static final long BYTES_PER_PERMIT = 16 * 1024;
    private static final long TREE_BYTES_PER_BYTE = 20;

    /** Many of these fit into any heap, and they must not wait behind large ones. */
    private static final int SMALL_BODY = 4 * 1024;

    private final int permits;
    private final Duration longestWait;
    private final Semaphore free;

    ParsedBodyMemoryLimit(long bytes, Duration longestWait) {
        this.permits = Math.toIntExact(Math.clamp(bytes / BYTES_PER_PERMIT, 1, Integer.MAX_VALUE));
        this.longestWait = longestWait;
        this.free = new Semaphore(permits, true);
    }

    static ParsedBodyMemoryLimit ofHeap(int share) {
        return new ParsedBodyMemoryLimit(Runtime.getRuntime().maxMemory() / share, Duration.ofSeconds(5));
    }

    /**
     * Waits until the parsed body fits. A body that is larger than the whole limit is parsed alone.
     *
     * @return what to pass to {@link #release}
     * @throws SemelException `overloaded` if the wait was too long
     */
    int acquire(long bodyBytes) {
        if (bodyBytes <= SMALL_BODY) {
            return 0;
        }
        int needed = Math.toIntExact(Math.min(permits, bodyBytes * TREE_BYTES_PER_BYTE / BYTES_PER_PERMIT + 1));
        boolean acquired = false;
        try {
            acquired = free.tryAcquire(needed, longestWait.toNanos(), TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        if (!acquired) {
            throw new SemelException(
                    ErrorCode.OVERLOADED,
                    "Other requests with large bodies use all the memory that this server reserves for them. The server"
                            + " did not process this request.",
                    "Send the request again in a moment, with the same key. This is always safe.");
        }
        return needed;
    }

    void release(int acquired) {
        free.release(acquired);
    }
}
