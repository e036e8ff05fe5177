package dev.semel.definition;

import dev.semel.workflow.Retry;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * @param formerly names of this step in earlier versions of the code; records under these names belong to it
 * @param timeout maximum duration of one attempt; null for none
 * @param external it calls another system, so the journal has the start of each attempt
 */
public record StepSpec(
        String name,
        List<String> formerly,
        Retry retry,
        @Nullable Duration timeout,
        boolean external) {
    public StepSpec {
        formerly = List.copyOf(formerly);
    }

    public StepSpec(String name, List<String> formerly, Retry retry, @Nullable Duration timeout) {
        this(name, formerly, retry, timeout, false);
    }

    public static StepSpec named(String name) {
        return new StepSpec(name, List.of(), Retry.NONE, null);
    }

    public StepSpec retry(Retry value) {
        return new StepSpec(name, formerly, value, timeout, external);
    }

    public StepSpec timeout(Duration value) {
        return new StepSpec(name, formerly, retry, value, external);
    }

    public StepSpec formerly(String... names) {
        return new StepSpec(name, List.of(names), retry, timeout, external);
    }

    /** The same step, with the start of each attempt in the journal. */
    public StepSpec asExternal() {
        return new StepSpec(name, formerly, retry, timeout, true);
    }
}
