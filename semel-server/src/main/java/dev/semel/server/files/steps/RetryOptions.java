package dev.semel.server.files.steps;

import dev.semel.definition.EffectRetryDefaults;
import dev.semel.definition.StepSpec;
import dev.semel.effect.EffectDuplicateProtection;
import dev.semel.server.files.yaml.YamlMapReader;
import dev.semel.server.files.yaml.YamlNode;
import dev.semel.server.files.yaml.YamlSourceRange;
import dev.semel.workflow.Retry;
import java.time.Duration;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Retry policy and timeout of a step: `retry: {attempts, within, first, factor, max}` and `timeout`.
 *
 * @param declared the policy in the file; null if the file has none
 */
public record RetryOptions(
        @Nullable Retry declared, @Nullable Duration timeout) {
    public static final Set<String> FIELDS = Set.of("retry", "timeout");

    private static final int MOST_ATTEMPTS = 1_000;
    private static final Duration LONGEST = Duration.ofDays(365);

    public static RetryOptions read(YamlStepReadContext draft) {
        return new RetryOptions(retry(draft), draft.fields().duration("timeout"));
    }

    private static @Nullable Retry retry(YamlStepReadContext draft) {
        Retry base = Retry.STANDARD;
        YamlMapReader fields = draft.section("retry");
        if (fields == null) {
            return null;
        }
        fields.allowOnly(Set.of("attempts", "within", "first", "factor", "max"));
        Duration within = fields.duration("within");
        Integer attempts = fields.number("attempts", 1, MOST_ATTEMPTS);
        Duration first = fields.duration("first");
        Duration longest = fields.duration("max");
        Duration begin = first == null ? base.first() : first;
        Duration end = longest == null ? max(begin, base.longest()) : longest;
        if (end.compareTo(begin) < 0) {
            draft.addError(fields.valueRange("max"), "retry.max must not be shorter than retry.first.");
            return base;
        }
        if (within != null && within.compareTo(LONGEST) > 0) {
            draft.addError(fields.valueRange("within"), "retry.within must be at most 365d.");
            return base;
        }
        int most = within == null ? base.attempts() : Retry.UNLIMITED;
        return new Retry(
                attempts == null ? most : attempts, begin, factor(draft, fields), end, base.notOn(), within, 0);
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

    /** For a step without an external call. */
    public StepSpec spec(String name) {
        return spec(name, declared == null ? Retry.STANDARD : declared);
    }

    /** @param alternative whether the workflow has another way if the effect fails */
    StepSpec spec(String name, EffectDuplicateProtection protection, boolean alternative) {
        Retry usual =
                alternative ? EffectRetryDefaults.withAlternative(protection) : EffectRetryDefaults.of(protection);
        return spec(name, declared == null ? usual : declared);
    }

    private StepSpec spec(String name, Retry policy) {
        StepSpec plan = StepSpec.named(name).retry(policy);
        return timeout == null ? plan : plan.timeout(timeout);
    }

    /** The same options without the engine's timeout. */
    RetryOptions withoutTimeout() {
        return new RetryOptions(declared, null);
    }

    /** The total time of the pauses between all attempts of the declared policy; zero if the file has none. */
    Duration totalPause() {
        Retry retry = declared;
        if (retry == null) {
            return Duration.ZERO;
        }
        if (retry.within() != null && retry.attempts() == Retry.UNLIMITED) {
            return retry.within();
        }
        Duration total = Duration.ZERO;
        for (int made = 1; made < retry.attempts(); made++) {
            total = total.plus(retry.delayAfter(made));
        }
        return total;
    }
}
