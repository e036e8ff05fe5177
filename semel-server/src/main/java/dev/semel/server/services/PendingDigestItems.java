package dev.semel.server.services;

import dev.semel.error.SemelException;
import dev.semel.server.files.steps.NotificationDigestCollector.DigestItem;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * Items of one digest that arrive while this process stores others are stored together: a burst of items would otherwise
 * write the same document once for each item, and most writes would find it changed.
 */
final class PendingDigestItems {
    /** Limits the size and the nesting of one write. */
    private static final int MOST_TOGETHER = 100;

    private final ConcurrentHashMap<String, DigestQueue> queues = new ConcurrentHashMap<>();
    private final Consumer<List<PendingItem>> store;

    /** @param store sets the place or the failure of each item; called for one thread and key at a time */
    PendingDigestItems(Consumer<List<PendingItem>> store) {
        this.store = store;
    }

    /** Returns the place of the item after this thread or another one stored it. */
    JsonNode add(DigestItem item) {
        PendingItem own = new PendingItem(item);
        DigestQueue queue = queues.compute(item.key(), (_, known) -> {
            DigestQueue joined = known == null ? new DigestQueue() : known;
            joined.waiting.add(own);
            return joined;
        });
        queue.writing.lock();
        try {
            while (!own.isDone()) {
                store.accept(next(item.key(), queue));
            }
        } finally {
            queue.writing.unlock();
            queues.compute(item.key(), (_, _) -> {
                queue.waiting.remove(own);
                return queue.waiting.isEmpty() ? null : queue;
            });
        }
        return own.place();
    }

    /** The oldest items that are not stored. */
    private List<PendingItem> next(String key, DigestQueue queue) {
        List<PendingItem> oldest = new ArrayList<>();
        queues.compute(key, (_, _) -> {
            queue.waiting.stream()
                    .filter(one -> !one.isDone())
                    .limit(MOST_TOGETHER)
                    .forEach(oldest::add);
            return queue;
        });
        return oldest;
    }

    /** Each item stays in its queue until its own thread returns, so the queue is the same for all threads of a key. */
    private static final class DigestQueue {
        final ReentrantLock writing = new ReentrantLock();
        /** Changes only inside {@link ConcurrentHashMap#compute} of its key. */
        final Set<PendingItem> waiting = new LinkedHashSet<>();
    }

    /** An item and, once it is stored or rejected, the result. Changes only under the lock of its queue. */
    static final class PendingItem {
        private final DigestItem item;
        private @Nullable JsonNode place;
        private @Nullable SemelException failure;

        PendingItem(DigestItem item) {
            this.item = item;
        }

        DigestItem item() {
            return item;
        }

        boolean isDone() {
            return place != null || failure != null;
        }

        void setPlace(JsonNode stored) {
            place = stored;
        }

        void fail(SemelException reason) {
            failure = reason;
        }

        private JsonNode place() {
            JsonNode stored = place;
            if (stored == null) {
                throw failure == null ? new IllegalStateException("a digest item has no result") : failure;
            }
            return stored;
        }
    }
}
