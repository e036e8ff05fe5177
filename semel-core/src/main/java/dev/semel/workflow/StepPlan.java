package dev.semel.workflow;

import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A step as the workflow asks for it.
 *
 * @param formerly names this step had in earlier versions of the code; a record under one of them is taken as its own
 * @param timeout longest time of one attempt; null for none
 */
public record StepPlan(
        String name,
        List<String> formerly,
        Retry retry,
        @Nullable Duration timeout) {
    public StepPlan {
        formerly = List.copyOf(formerly);
    }

    public static StepPlan named(String name) {
        return new StepPlan(name, List.of(), Retry.NONE, null);
    }

    public StepPlan retry(Retry value) {
        return new StepPlan(name, formerly, value, timeout);
    }

    public StepPlan timeout(Duration value) {
        return new StepPlan(name, formerly, retry, value);
    }

    public StepPlan formerly(String... names) {
        return new StepPlan(name, List.of(names), retry, timeout);
    }
}
