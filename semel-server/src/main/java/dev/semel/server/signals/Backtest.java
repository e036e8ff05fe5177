package dev.semel.server.signals;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** What a window would have made of stored traffic. Counts only: it never says what anybody sent. */
public final class Backtest {
    private Backtest() {}

    /**
     * A request, or several in one second.
     *
     * @param name what they have in common: a key, the key of an effect
     * @param heldUntil a run that was not over kept its key so long; 0 where nothing is known of that
     * @param data digest of what was sent; null where it is not known, which counts as unchanged
     */
    public record Asked(
            String name,
            long at,
            long times,
            long heldUntil,
            @Nullable String data) {}

    /** How many would have got a run or been sent, and how many not. */
    public record Outcome(long fresh, long repeated) {}

    /** @param window microseconds */
    public static Outcome of(List<Asked> traffic, long window) {
        Map<String, List<Asked>> byName = new TreeMap<>();
        traffic.forEach(one ->
                byName.computeIfAbsent(one.name(), _ -> new ArrayList<>()).add(one));
        long fresh = 0;
        long repeated = 0;
        for (List<Asked> asked : byName.values()) {
            asked.sort(Comparator.comparingLong(Asked::at));
            long until = Long.MIN_VALUE;
            String data = null;
            for (Asked one : asked) {
                boolean changed = data != null && one.data() != null && !Objects.equals(data, one.data());
                if (one.at() >= until || changed) {
                    fresh++;
                    repeated += one.times() - 1;
                    until = Math.max(one.at() + window, one.heldUntil());
                    data = one.data();
                } else {
                    repeated += one.times();
                }
            }
        }
        return new Outcome(fresh, repeated);
    }
}
