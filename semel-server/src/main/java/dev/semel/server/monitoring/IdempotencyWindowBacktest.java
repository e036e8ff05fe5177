package dev.semel.server.monitoring;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** Simulates a key window on recorded traffic. Returns counts only, never payloads. */
public final class IdempotencyWindowBacktest {
    private IdempotencyWindowBacktest() {}

    /**
     * A recorded request, or several in one second.
     *
     * @param name the shared key or effect key
     * @param heldUntil end of the run that kept the key reserved; 0 if unknown
     * @param data digest of the payload; null if unknown, which counts as unchanged
     */
    public record RecordedRequest(
            String name,
            long at,
            long times,
            long heldUntil,
            @Nullable String data) {}

    public record Outcome(long fresh, long repeated) {}

    /** @param window in microseconds */
    public static Outcome simulate(List<RecordedRequest> traffic, long window) {
        Map<String, List<RecordedRequest>> byName = new TreeMap<>();
        traffic.forEach(one ->
                byName.computeIfAbsent(one.name(), _ -> new ArrayList<>()).add(one));
        long fresh = 0;
        long repeated = 0;
        for (List<RecordedRequest> recordedRequests : byName.values()) {
            recordedRequests.sort(Comparator.comparingLong(RecordedRequest::at));
            long until = Long.MIN_VALUE;
            String data = null;
            for (RecordedRequest one : recordedRequests) {
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
