package dev.semel.server.auth;

import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * How often a wrong password may be tried: a few times for one name from one address, more for a name and for an
 * address alone, so that neither many addresses nor many names help. Strangers cannot lock somebody out for ever: where
 * a name was logged in from an address before, what others try elsewhere does not count there. Counted per worker, and
 * forgotten after five minutes without another failure.
 */
final class Attempts {
    private static final long WINDOW = TimeUnit.MINUTES.toNanos(5);
    private static final int FROM_THERE = 10;
    private static final int OF_NAME = 50;
    private static final int OF_ADDRESS = 100;
    private static final int REMEMBERED_AT_MOST = 20_000;

    private final LongSupplier nanos;

    /** The one that failed longest ago comes first, and is forgotten first where there are too many. */
    private final Map<String, Failures> failures = new LinkedHashMap<>();

    /** Names with addresses from where they were logged in; the one that came longest ago is first. */
    private final Set<String> atHome = new LinkedHashSet<>();

    private record Failures(int count, long lastAt) {}

    private record Limit(String who, int most) {}

    Attempts(LongSupplier nanos) {
        this.nanos = nanos;
    }

    /** Refuses a try that is one too many. */
    synchronized void check(String name, String address) {
        long now = nanos.getAsLong();
        for (Limit limit : limits(name, address)) {
            Failures known = failures.get(limit.who());
            boolean spared = limit.most() == OF_NAME && atHome.contains(pair(name, address));
            if (!spared && known != null && now - known.lastAt() < WINDOW && known.count() >= limit.most()) {
                throw new SemelException(
                                ErrorCode.OVER_QUOTA,
                                "There were too many log-ins that failed. This one was not looked at.",
                                "Try again in five minutes.")
                        .with("retry_after", TimeUnit.NANOSECONDS.toSeconds(WINDOW));
            }
        }
    }

    synchronized void failed(String name, String address) {
        long now = nanos.getAsLong();
        for (Limit limit : limits(name, address)) {
            Failures known = failures.remove(limit.who());
            int count = known == null || now - known.lastAt() >= WINDOW ? 1 : known.count() + 1;
            failures.put(limit.who(), new Failures(count, now));
        }
        while (failures.size() > REMEMBERED_AT_MOST) {
            failures.remove(failures.keySet().iterator().next());
        }
    }

    synchronized void succeeded(String name, String address) {
        failures.remove(pair(name, address));
        atHome.remove(pair(name, address));
        atHome.add(pair(name, address));
        if (atHome.size() > REMEMBERED_AT_MOST) {
            atHome.remove(atHome.iterator().next());
        }
    }

    private static String pair(String name, String address) {
        return "both " + address + " " + name.toLowerCase(Locale.ROOT);
    }

    private static List<Limit> limits(String name, String address) {
        String lower = name.toLowerCase(Locale.ROOT);
        return List.of(
                new Limit(pair(name, address), FROM_THERE),
                new Limit("name " + lower, OF_NAME),
                new Limit("address " + address, OF_ADDRESS));
    }
}
