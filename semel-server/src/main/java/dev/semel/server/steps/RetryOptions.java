package dev.semel.server.steps;

import dev.semel.definition.StepSpec;
import dev.semel.server.expressions.YamlMapReader;
import dev.semel.server.expressions.YamlNode;
import dev.semel.server.expressions.YamlSourceRange;
import dev.semel.workflow.Retry;
import java.time.Duration;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Retry policy and timeout of a step: `retry: {attempts, first, factor, max}` and `timeout`. */
record RetryOptions(Retry retry, @Nullable Duration timeout) {
    static final Set<String> FIELDS = Set.of("retry", "timeout");

    private static final int MOST_ATTEMPTS = 1_000;

    static RetryOptions read(YamlStepReadContext draft) {
        return new RetryOptions(retry(draft), draft.fields().duration("timeout"));
    }

    private static Retry retry(YamlStepReadContext draft) {
        Retry base = Retry.STANDARD;
        YamlMapReader fields = draft.section("retry");
        if (fields == null) {
            return base;
        }
        fields.allowOnly(Set.of("attempts", "first", "factor", "max"));
        Integer attempts = fields.number("attempts", 1, MOST_ATTEMPTS);
        Duration first = fields.duration("first");
        Duration longest = fields.duration("max");
        Duration begin = first == null ? base.first() : first;
        Duration end = longest == null ? max(begin, base.longest()) : longest;
        if (end.compareTo(begin) < 0) {
            draft.addError(fields.valueRange("max"), "retry.max must not be shorter than retry.first.");
            return base;
        }
        return new Retry(
                attempts == null ? base.attempts() : attempts, begin, factor(draft, fields), end, base.notOn());
    }

    private static Duration max(Duration a, Duration b) {
        return a.compareTo(b) > 0 ? a : b;
    }

    private static double factor(YamlStepReadContext draft, YamlMapReader fields) {
        YamlNode tree = fields.get("factor");
        if (tree == null) {
            return Retry.STANDARD.factor();
        }
        if (tree instanceof YamlNode.ScalarNode(YamlSourceRange _, var value)
                && value.isNumber()
                && value.doubleValue() >= 1
                && value.doubleValue() <= 100) {
            return value.doubleValue();
        }
        draft.addError(tree.range(), "retry.factor must be a number between 1 and 100.");
        return Retry.STANDARD.factor();
    }

    StepSpec spec(String name) {
        StepSpec plan = StepSpec.named(name).retry(retry);
        return timeout == null ? plan : plan.timeout(timeout);
    }

    /** The total time of the pauses between all attempts. */
    Duration totalPause() {
        Duration total = Duration.ZERO;
        for (int made = 1; made < retry.attempts(); made++) {
            total = total.plus(retry.delayAfter(made));
        }
        return total;
    }
}
