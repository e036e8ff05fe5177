package dev.semel.server.access.oidc;

import dev.semel.error.SemelException;
import java.time.Duration;
import java.util.concurrent.Semaphore;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A value of the identity provider that callers share. There is one fetch at a time, few callers wait for it, and all
 * of them get its result or its failure. A provider that hangs therefore holds only a few request threads.
 */
final class SharedFetch<T> {
    static final int MOST_WAITING = 16;
    static final long FAILURE_KEPT = Duration.ofSeconds(3).toNanos();

    private final Supplier<T> fetch;
    private final LongSupplier nanos;
    private final Semaphore waiting = new Semaphore(MOST_WAITING);
    private final ReentrantLock fetching = new ReentrantLock();
    private volatile @Nullable FetchedValue<T> last;
    private volatile @Nullable FailedFetch failed;

    private record FetchedValue<T>(T value, long at) {}

    private record FailedFetch(SemelException reason, long at) {}

    /** @param nanos monotonic clock */
    SharedFetch(Supplier<T> fetch, LongSupplier nanos) {
        this.fetch = fetch;
        this.nanos = nanos;
    }

    /** A value that was fetched at this time of the clock or later. */
    T fetchedSince(long time) {
        FetchedValue<T> known = last;
        if (known != null && known.at() - time >= 0) {
            return known.value();
        }
        throwRecentFailure();
        if (!waiting.tryAcquire()) {
            throw OidcProviderClient.unavailable("is slow, and " + MOST_WAITING + " logins already wait for it");
        }
        fetching.lock();
        try {
            known = last;
            if (known != null && known.at() - time >= 0) {
                return known.value();
            }
            throwRecentFailure();
            return fetch();
        } finally {
            fetching.unlock();
            waiting.release();
        }
    }

    private T fetch() {
        long start = nanos.getAsLong();
        try {
            T value = fetch.get();
            last = new FetchedValue<>(value, start);
            failed = null;
            return value;
        } catch (SemelException e) {
            failed = new FailedFetch(e, nanos.getAsLong());
            throw e;
        }
    }

    private void throwRecentFailure() {
        FailedFetch recent = failed;
        if (recent != null && nanos.getAsLong() - recent.at() < FAILURE_KEPT) {
            throw new SemelException(
                    recent.reason().code(),
                    recent.reason().detail(),
                    recent.reason().fix());
        }
    }
}
