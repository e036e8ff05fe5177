package dev.semel.server.access;

import dev.semel.admission.TriggerQuota;
import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.server.http.Principal;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;

/**
 * Rate limits per API token: one bucket for fresh triggers and a larger one for replays, so that retries never block
 * new work. Counted per worker.
 */
public final class ApiTokenRateLimiter {
    private static final String FRESH = "fresh";
    private static final String REPLAY = "replay";
    private static final int REPLAYS_PER_FRESH = 10;
    private static final int WINDOW_SECONDS = 60;
    private static final double NANOS_A_MINUTE = 60e9;

    private final LongSupplier nanos;
    private final ConcurrentHashMap<String, TokenBucket> buckets = new ConcurrentHashMap<>();

    public ApiTokenRateLimiter(LongSupplier nanos) {
        this.nanos = nanos;
    }

    public TriggerQuota quota(Principal principal) {
        int perMinute = principal.attachment() instanceof ApiTokenStore.Quota quota ? quota.perMinute() : 0;
        return perMinute == 0 ? TriggerQuota.NONE : new TokenQuota(principal, perMinute);
    }

    private final class TokenQuota implements TriggerQuota {
        private final Principal principal;
        private final int perMinute;

        TokenQuota(Principal principal, int perMinute) {
            this.principal = principal;
            this.perMinute = perMinute;
        }

        @Override
        public boolean limitsFresh() {
            return true;
        }

        @Override
        public void chargeFresh() {
            take(principal, FRESH, perMinute);
        }

        @Override
        public void chargeRepeat() {
            take(principal, REPLAY, perMinute * REPLAYS_PER_FRESH);
        }
    }

    private void take(Principal principal, String kind, int perMinute) {
        TokenBucket bucket = buckets.computeIfAbsent(
                principal.tokenId() + " " + kind, _ -> new TokenBucket(perMinute, nanos.getAsLong()));
        long wait = bucket.take(perMinute, nanos.getAsLong());
        if (wait > 0) {
            throw new SemelException(
                            ErrorCode.OVER_QUOTA,
                            "Token " + principal.tokenId() + " has used its quota of " + perMinute
                                    + (kind.equals(FRESH) ? " new" : " duplicate")
                                    + " triggers a minute. No run was started"
                                    + (kind.equals(FRESH)
                                            ? " and the key is still free."
                                            : "; the run of the key is not affected."),
                            "Send the request again with the same key after the time in Retry-After.")
                    .with("retry_after", wait)
                    .with("quota", kind)
                    .with("limit", perMinute)
                    .with("window", WINDOW_SECONDS);
        }
    }

    private static final class TokenBucket {
        private double left;
        private long at;

        TokenBucket(int size, long now) {
            this.left = size;
            this.at = now;
        }

        /** Returns the seconds to wait; 0 if a token was available. */
        synchronized long take(int perMinute, long now) {
            left = Math.min(perMinute, left + (now - at) / NANOS_A_MINUTE * perMinute);
            at = now;
            if (left >= 1) {
                left -= 1;
                return 0;
            }
            return Math.max(1, (long) Math.ceil((1 - left) * 60 / perMinute));
        }
    }
}
