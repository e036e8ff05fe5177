package dev.semel.workflow;

import java.time.Duration;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What people are asked to decide.
 *
 * @param to who may decide, e.g. `role:ops`
 * @param shown facts for the one who decides, in order
 * @param timeout how long to wait; null for ever
 */
public record Approval(
        String title,
        String to,
        Map<String, String> shown,
        @Nullable Duration timeout) {
    public Approval {
        shown = Collections.unmodifiableMap(new LinkedHashMap<>(shown));
    }

    public static Approval of() {
        return new Approval("", "", Map.of(), null);
    }

    public Approval title(String value) {
        return new Approval(value, to, shown, timeout);
    }

    public Approval to(String value) {
        return new Approval(title, value, shown, timeout);
    }

    public Approval show(String name, Object value) {
        Map<String, String> more = new LinkedHashMap<>(shown);
        more.put(name, String.valueOf(value));
        return new Approval(title, to, more, timeout);
    }

    public Approval timeout(Duration value) {
        return new Approval(title, to, shown, value);
    }
}
