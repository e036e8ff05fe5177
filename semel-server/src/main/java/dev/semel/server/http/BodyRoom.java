package dev.semel.server.http;

import java.util.concurrent.atomic.AtomicLong;

/**
 * How many bytes of bodies may be in work at once. A body becomes several times its size as a tree, so without a bound
 * on their sum a few hundred callers with large bodies could fill the heap, each within its own limit.
 */
final class BodyRoom {
    private static final int SHARE_OF_HEAP = 16;

    private final long size;
    private final AtomicLong used = new AtomicLong();

    BodyRoom(long size) {
        this.size = size;
    }

    static BodyRoom ofHeap() {
        return new BodyRoom(Runtime.getRuntime().maxMemory() / SHARE_OF_HEAP);
    }

    /** Takes room for a body. One that is larger than all the room gets it when nobody else is in. */
    boolean take(long bytes) {
        long before = used.getAndAdd(bytes);
        if (before == 0 || before + bytes <= size) {
            return true;
        }
        used.addAndGet(-bytes);
        return false;
    }

    void give(long bytes) {
        used.addAndGet(-bytes);
    }
}
