package dev.semel.workflow;

import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The specification of a step: its name, earlier names, retry policy and timeout.
 *
 * @param formerly names of this step in earlier versions of the code; records under these names belong to it
 * @param timeout maximum duration of one attempt; null for none
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
