package dev.semel.server.http;

import java.util.concurrent.atomic.AtomicLong;

/**
 * Limits the total memory of all request bodies that are processed at once. A parsed body needs several times its size,
 * so a few hundred large bodies could fill the heap although each is within its own limit.
 */
final class TotalRequestBodyMemoryLimit {
    private static final int SHARE_OF_HEAP = 16;

    private final long size;
    private final AtomicLong used = new AtomicLong();

    TotalRequestBodyMemoryLimit(long size) {
        this.size = size;
    }

    static TotalRequestBodyMemoryLimit ofHeap() {
        return new TotalRequestBodyMemoryLimit(Runtime.getRuntime().maxMemory() / SHARE_OF_HEAP);
    }

    /** Reserves memory for a body. A body larger than the whole limit is accepted only while no other is processed. */
    boolean tryReserve(long bytes) {
        long before = used.getAndAdd(bytes);
        if (before == 0 || before + bytes <= size) {
            return true;
        }
        used.addAndGet(-bytes);
        return false;
    }

    void release(long bytes) {
        used.addAndGet(-bytes);
    }
}
