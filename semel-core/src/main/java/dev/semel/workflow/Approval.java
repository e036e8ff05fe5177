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
 * @param urgency by when it should be decided; where it says nothing, until the wait is over
 */
public record Approval(
        String title,
        String to,
        Map<String, String> shown,
        @Nullable Duration timeout,
        Urgency urgency) {
    public Approval {
        shown = Collections.unmodifiableMap(new LinkedHashMap<>(shown));
    }

    /** One that nobody is reminded of. */
    public Approval(String title, String to, Map<String, String> shown, @Nullable Duration timeout) {
        this(title, to, shown, timeout, Urgency.NONE);
    }

    public static Approval of() {
        return new Approval("", "", Map.of(), null);
    }

    public Approval title(String value) {
        return new Approval(value, to, shown, timeout, urgency);
    }

    public Approval to(String value) {
        return new Approval(title, value, shown, timeout, urgency);
    }

    public Approval show(String name, Object value) {
        Map<String, String> more = new LinkedHashMap<>(shown);
        more.put(name, String.valueOf(value));
        return new Approval(title, to, more, timeout, urgency);
    }

    public Approval timeout(Duration value) {
        return new Approval(title, to, shown, value, urgency);
    }

    /** By when it should be decided, and who is told when it is not. */
    public Approval urgency(Urgency value) {
        return new Approval(title, to, shown, timeout, value);
    }
}
