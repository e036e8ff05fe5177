package dev.semel.server.auth;

import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.util.Arrays;
import java.util.HexFormat;
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
 * How often a password may be tried: a few times for one name from one address, more for a name and for an address
 * alone, so that neither many addresses nor many names help. After that one more is looked at now and then: whoever
 * guesses is slow, and nobody is locked out. A browser from which its owner has logged in before is counted by itself
 * ({@link KnownBrowsers}), so that nothing that strangers do keeps it waiting. Counted per worker, and forgotten after
 * five minutes without another failure.
 */
final class Attempts {
    private static final long WINDOW = TimeUnit.MINUTES.toNanos(5);
    private static final int REMEMBERED_AT_MOST = 20_000;
    private static final int BYTES_OF_A_NETWORK = 8;

    private final LongSupplier nanos;

    /** The one that failed longest ago comes first, and is forgotten first where there are too many. */
    private final Map<String, Failures> failures = new LinkedHashMap<>();

    /** Names with addresses from where they were logged in; the one that came longest ago is first. */
    private final Set<String> atHome = new LinkedHashSet<>();

    private record Failures(int count, long lastAt) {}

    /** So many may fail; then one is looked at each time that so many seconds have passed. */
    private enum Bound {
        FROM_THERE(10, 30),
        OF_NAME(50, 10),
        OF_ADDRESS(100, 3);

        private final int most;
        private final long pause;

        Bound(int most, int pauseSeconds) {
            this.most = most;
            this.pause = TimeUnit.SECONDS.toNanos(pauseSeconds);
        }
    }

    private record Limit(String who, Bound bound) {}

    Attempts(LongSupplier nanos) {
        this.nanos = nanos;
    }

    /**
     * One try of a password.
     *
     * @param name with its workspace
     * @param browser the mark of a browser from which its owner has logged in before; null for any other
     */
    record Try(String name, String address, @Nullable String browser) {
        Try(String name, String address) {
            this(name, address, null);
        }

        private String lower() {
            return name.toLowerCase(Locale.ROOT);
        }

        private String pair() {
            return "both " + network(address) + " " + lower();
        }

        private List<Limit> limits() {
            return browser != null
                    ? List.of(new Limit("browser " + browser, Bound.FROM_THERE))
                    : List.of(
                            new Limit(pair(), Bound.FROM_THERE),
                            new Limit("name " + lower(), Bound.OF_NAME),
                            new Limit("address " + network(address), Bound.OF_ADDRESS));
        }
    }

    /** Refuses a try that is one too many. Others count as failed until they succeed, so that a thousand at once are not one. */
    synchronized void begin(Try one) {
        long now = nanos.getAsLong();
        for (Limit limit : one.limits()) {
            Failures known = failures.get(limit.who());
            boolean spared = limit.bound() == Bound.OF_NAME && atHome.contains(one.pair());
            long left = known == null ? 0 : limit.bound().pause - (now - known.lastAt());
            if (!spared && known != null && known.count() >= limit.bound().most && left > 0) {
                throw tooMany(1 + TimeUnit.NANOSECONDS.toSeconds(left - 1));
            }
        }
        for (Limit limit : one.limits()) {
            Failures known = failures.remove(limit.who());
            int count = known == null || now - known.lastAt() >= WINDOW ? 1 : known.count() + 1;
            failures.put(limit.who(), new Failures(count, now));
        }
        while (failures.size() > REMEMBERED_AT_MOST) {
            failures.remove(failures.keySet().iterator().next());
        }
    }

    synchronized void succeeded(Try one) {
        for (Limit limit : one.limits()) {
            if (limit.bound() == Bound.FROM_THERE) {
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
                        "There were too many log-ins that failed. This one was not looked at.",
                        "Try again in " + seconds + (seconds == 1 ? " second." : " seconds."))
                .with("retry_after", seconds);
    }

    /** Whoever has one address of IPv6 has all of its network, and would have as many tries. */
    private static String network(String address) {
        if (address.indexOf(':') < 0) {
            return address;
        }
        try {
            InetAddress known = InetAddress.ofLiteral(address);
            return known instanceof Inet6Address
                    ? HexFormat.of().formatHex(Arrays.copyOf(known.getAddress(), BYTES_OF_A_NETWORK))
                    : known.getHostAddress();
        } catch (IllegalArgumentException e) {
            return address;
        }
    }
}
