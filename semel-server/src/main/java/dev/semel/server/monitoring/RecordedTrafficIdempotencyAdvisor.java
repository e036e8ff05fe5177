package dev.semel.server.monitoring;

import dev.semel.store.MetricQueries;
import dev.semel.store.MetricUpdateCollector;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;

/** Advises on key windows that are too short, and on callers that create a new key for each retry. */
public final class RecordedTrafficIdempotencyAdvisor {
    /** Two requests with equal data and different keys within this time look like a request and its retry. */
    public static final Duration RETRY = Duration.ofMinutes(10);

    private static final int FEWEST_PAIRS = 3;
    private static final int EXAMPLES = 3;
    private static final long MICROS_OF_AN_HOUR = 3_600_000_000L;

    private static final List<Duration> WINDOWS = LongStream.of(
                    1, 2, 6, 12, 24, 48, 72, 7 * 24, 14 * 24, 30 * 24, 90 * 24, 365 * 24)
            .mapToObj(Duration::ofHours)
            .toList();

    private RecordedTrafficIdempotencyAdvisor() {}

    /**
     * @param window a window that would have caught all of them; null if none is long enough
     * @param message text for users
     */
    public record WindowAdvice(long retries, @Nullable Duration window, String message) {}

    /** Null if no retry came after its key expired. */
    public static @Nullable WindowAdvice adviseWindow(
            List<MetricUpdateCollector.MetricFact> expired, Duration current) {
        if (expired.isEmpty()) {
            return null;
        }
        long least = Long.MAX_VALUE;
        long most = 0;
        for (MetricUpdateCollector.MetricFact fact : expired) {
            least = Math.min(least, fact.at() - fact.keyFirstUsedAt());
            most = Math.max(most, fact.at() - fact.keyFirstUsedAt());
        }
        long longest = most;
        Duration enough = WINDOWS.stream()
                .filter(window -> window.toNanos() / 1_000 > longest)
                .findFirst()
                .orElse(null);
        int n = expired.size();
        String came = (n == 1 ? "1 retry came " : n + " retries came ") + formatSpan(least, most)
                + " after the first request. The window of " + formatDuration(current) + " had ended, so "
                + (n == 1 ? "the retry started a new run." : "the retries started new runs.");
        String fix = enough == null
                ? " No window is long enough: store the key in your own database, with the record it belongs to."
                : " A window of " + formatDuration(enough) + " would have caught "
                        + (n == 1 ? "it." : "all " + n + ".");
        return new WindowAdvice(n, enough, came + fix);
    }

    private static String formatSpan(long least, long most) {
        long from = least / MICROS_OF_AN_HOUR;
        long to = (most + MICROS_OF_AN_HOUR - 1) / MICROS_OF_AN_HOUR;
        if (to <= 1) {
            return range(Math.max(1, least / 60_000_000), most / 60_000_000 + 1) + " m";
        }
        return range(from, to) + " h";
    }

    private static String range(long from, long to) {
        return from == to ? "about " + to : from + "–" + to;
    }

    /** As written in workflow files. */
    public static String formatDuration(Duration duration) {
        long seconds = duration.toSeconds();
        if (seconds % 86_400 == 0 && seconds > 3 * 86_400) {
            return seconds / 86_400 + "d";
        }
        return seconds % 3_600 == 0 ? seconds / 3_600 + "h" : seconds % 60 == 0 ? seconds / 60 + "m" : seconds + "s";
    }

    /**
     * A caller that sent equal data under different keys.
     *
     * @param pairs number of such pairs within {@link #RETRY}
     * @param runs some runs of the second requests
     */
    public record CallerAdvice(String actor, long pairs, long seconds, List<String> runs, String message) {}

    /** @param arrivals requests of one workflow in the period, in any order */
    public static List<CallerAdvice> adviseCallers(String workflow, List<MetricQueries.AdmittedTrigger> arrivals) {
        record Same(String actor, String fields) {}
        List<MetricQueries.AdmittedTrigger> inOrder = new ArrayList<>(arrivals);
        inOrder.sort(java.util.Comparator.comparingLong(MetricQueries.AdmittedTrigger::at));
        Map<Same, MetricQueries.AdmittedTrigger> last = new HashMap<>();
        Map<String, List<Pair>> pairs = new TreeMap<>();
        for (MetricQueries.AdmittedTrigger one : inOrder) {
            if (one.key() == null || one.fields().length == 0) {
                continue;
            }
            Same same = new Same(one.actor(), HexFormat.of().formatHex(one.fields()));
            MetricQueries.AdmittedTrigger before = last.put(same, one);
            if (before != null
                    && !one.key().equals(before.key())
                    && one.at() - before.at() <= RETRY.toNanos() / 1_000) {
                pairs.computeIfAbsent(one.actor(), _ -> new ArrayList<>())
                        .add(new Pair(one.run().text(), (one.at() - before.at()) / 1_000_000));
            }
        }
        List<CallerAdvice> callers = new ArrayList<>();
        pairs.forEach((actor, found) -> {
            if (found.size() >= FEWEST_PAIRS) {
                callers.add(caller(workflow, actor, found));
            }
        });
        return callers;
    }

    private record Pair(String run, long seconds) {}

    private static CallerAdvice caller(String workflow, String actor, List<Pair> pairs) {
        long slowest = pairs.stream().mapToLong(Pair::seconds).max().orElse(0);
        List<String> runs = pairs.stream().map(Pair::run).limit(EXAMPLES).toList();
        String says = "Caller " + actor + " sent " + pairs.size()
                + " pairs of requests with the same data but different keys to "
                + workflow + ", at most " + Math.max(1, slowest) + " s apart. It probably creates a new key for each"
                + " retry, so Semel cannot recognise its retries."
                + " Create the key once, before the first attempt,"
                + " from an id such as the order number. Send the"
                + " same key with every retry.";
        return new CallerAdvice(actor, pairs.size(), slowest, runs, says);
    }
}
