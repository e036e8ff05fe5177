package dev.semel.server.access;

import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.server.http.ClientNetwork;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Limits failed password attempts per name and address, per name, and per address. Above a limit it admits one attempt
 * per interval, so attackers are slow and nobody is locked out. Known browsers ({@link LoginThrottleBrowserCookies}) have their own
 * limit. Counts are per worker and expire after five minutes without a failure.
 */
final class LoginThrottle {
    private static final long WINDOW = TimeUnit.MINUTES.toNanos(5);
    private static final int REMEMBERED_AT_MOST = 20_000;

    private final LongSupplier nanos;

    /** Ordered by the last failure; the oldest is dropped first. */
    private final Map<String, Failures> failures = new LinkedHashMap<>();

    /** Pairs of name and address with a successful login, oldest first. */
    private final Set<String> atHome = new LinkedHashSet<>();

    private record Failures(int count, long lastAt) {}

    /** Failures allowed, then the seconds between further attempts. */
    private enum AttemptLimit {
        FROM_THERE(10, 30),
        OF_NAME(50, 10),
        OF_ADDRESS(100, 3);

        private final int most;
        private final long pause;

        AttemptLimit(int most, int pauseSeconds) {
            this.most = most;
            this.pause = TimeUnit.SECONDS.toNanos(pauseSeconds);
        }
    }

    private record CountedSubject(String who, AttemptLimit bound) {}

    LoginThrottle(LongSupplier nanos) {
        this.nanos = nanos;
    }

    /**
     * One password attempt.
     *
     * @param name user name with workspace
     * @param browser id of a browser from which the user logged in before; null for any other
     */
    record LoginAttempt(
            String name, String address, @Nullable String browser) {
        LoginAttempt(String name, String address) {
            this(name, address, null);
        }

        private String lower() {
            return name.toLowerCase(Locale.ROOT);
        }

        private String pair() {
            return "both " + ClientNetwork.of(address) + " " + lower();
        }

        private List<CountedSubject> limits() {
            return browser != null
                    ? List.of(new CountedSubject("browser " + browser, AttemptLimit.FROM_THERE))
                    : List.of(
                            new CountedSubject(pair(), AttemptLimit.FROM_THERE),
                            new CountedSubject("name " + lower(), AttemptLimit.OF_NAME),
                            new CountedSubject("address " + ClientNetwork.of(address), AttemptLimit.OF_ADDRESS));
        }
    }

    /**
     * Rejects an attempt above the limit. An admitted one counts as failed until it succeeds, so that parallel attempts
     * all count.
     */
    synchronized void admit(LoginAttempt one) {
        long now = nanos.getAsLong();
        for (CountedSubject limit : one.limits()) {
            Failures known = failures.get(limit.who());
            boolean spared = limit.bound() == AttemptLimit.OF_NAME && atHome.contains(one.pair());
            long left = known == null ? 0 : limit.bound().pause - (now - known.lastAt());
            if (!spared && known != null && known.count() >= limit.bound().most && left > 0) {
                throw tooMany(1 + TimeUnit.NANOSECONDS.toSeconds(left - 1));
            }
        }
        for (CountedSubject limit : one.limits()) {
            Failures known = failures.remove(limit.who());
            int count = known == null || now - known.lastAt() >= WINDOW ? 1 : known.count() + 1;
            failures.put(limit.who(), new Failures(count, now));
        }
        while (failures.size() > REMEMBERED_AT_MOST) {
            failures.remove(failures.keySet().iterator().next());
        }
    }

    synchronized void recordSuccess(LoginAttempt one) {
        for (CountedSubject limit : one.limits()) {
            if (limit.bound() == AttemptLimit.FROM_THERE) {
                failures.remove(limit.who());
            } else {
                failures.computeIfPresent(
                        limit.who(),
                        (_, known) -> known.count() == 1 ? null : new Failures(known.count() - 1, known.lastAt()));
            }
        }
        atHome.remove(one.pair());
        atHome.add(one.pair());
        if (atHome.size() > REMEMBERED_AT_MOST) {
            atHome.remove(atHome.iterator().next());
        }
    }

    private static SemelException tooMany(long seconds) {
        return new SemelException(
                        ErrorCode.OVER_QUOTA,
                        "Too many logins failed. The server did not check this login.",
                        "Try again in " + seconds + (seconds == 1 ? " second." : " seconds."))
                .with("retry_after", seconds);
    }
}
