package dev.semel.testing;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Records the crash points that the engines of a test pass, and decides at which one an engine crashes. */
final class CrashInjectionPointTracker {
    private final Map<String, Integer> passes = new HashMap<>();
    private final List<CrashInjectionPoint> recordedPoints = new ArrayList<>();
    private boolean counting;
    private @Nullable CrashInjectionPoint target;
    private boolean reached;

    /** Restarts counting; with a target the engine crashes there once. */
    synchronized void startCounting(@Nullable CrashInjectionPoint deadly) {
        passes.clear();
        recordedPoints.clear();
        counting = true;
        target = deadly;
        reached = false;
    }

    /** Records a pass; true if the engine must crash here. */
    synchronized boolean recordAndCheck(String label) {
        if (!counting) {
            return false;
        }
        CrashInjectionPoint point = new CrashInjectionPoint(label, passes.merge(label, 1, Integer::sum));
        recordedPoints.add(point);
        if (!point.equals(target)) {
            return false;
        }
        target = null;
        reached = true;
        return true;
    }

    synchronized List<CrashInjectionPoint> recordedPoints() {
        return List.copyOf(recordedPoints);
    }

    synchronized boolean isReached() {
        return reached;
    }
}
