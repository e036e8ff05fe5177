package dev.semel.server.steps;

import dev.cel.common.types.CelKind;
import dev.semel.server.expressions.DurationFormat;
import dev.semel.server.expressions.ValueTemplate;
import dev.semel.server.expressions.YamlMapReader;
import dev.semel.server.expressions.YamlNode;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;

/**
 * Step kind `sleep: 15m`, `sleep: ${ input.pause }` or `sleep: {until: ${ input.at }}`: durable wait that occupies no
 * thread.
 */
final class SleepStepKind implements StepKind {
    @Override
    public String name() {
        return "sleep";
    }

    @Override
    public Set<String> fields() {
        return Set.of();
    }

    @Override
    public @Nullable YamlStepAction read(StepReadContext draft) {
        YamlNode tree = draft.fields().get("sleep");
        if (tree instanceof YamlNode.MapNode members) {
            YamlMapReader until =
                    new YamlMapReader(members, "sleep", draft.problems()).allowOnly(Set.of("until"), Set.of());
            ValueTemplate time = draft.requiredTemplate(until, "until", CelKind.STRING);
            return time == null ? null : new SleepUntilAction(time);
        }
        ValueTemplate length = draft.requiredTemplate(draft.fields(), "sleep", CelKind.STRING);
        if (length instanceof ValueTemplate.Literal(JsonNode text)
                && DurationFormat.parse(text.asString()).isEmpty()) {
            draft.addError(
                    draft.fields().valueRange("sleep"), "sleep must be a duration such as 500ms, 30s, 15m, 24h or 7d.");
            return null;
        }
        return length == null ? null : new SleepForAction(length);
    }

    /** Waits for a duration. */
    private record SleepForAction(ValueTemplate length) implements YamlStepAction {
        @Override
        public JsonNode run(StepContext context) {
            Duration duration = DurationFormat.parse(context.text(length, "sleep"))
                    .orElseThrow(() -> context.evaluationFailed(
                            "Step '" + context.id() + "'", "it is not a duration such as 15m"));
            context.durable().sleep(context.id(), duration);
            return JsonNodeFactory.instance.objectNode();
        }

        @Override
        public Stream<ValueTemplate> templates() {
            return Stream.of(length);
        }
    }

    /** Waits until a time. */
    private record SleepUntilAction(ValueTemplate time) implements YamlStepAction {
        @Override
        public JsonNode run(StepContext context) {
            context.durable().sleepUntil(context.id(), instant(context));
            return JsonNodeFactory.instance.objectNode();
        }

        private Instant instant(StepContext context) {
            try {
                return OffsetDateTime.parse(context.text(time, "sleep.until")).toInstant();
            } catch (DateTimeException e) {
                throw context.evaluationFailed(
                        "Step '" + context.id() + "'", "it is not a time such as 2026-05-01T09:00:00Z");
            }
        }

        @Override
        public Stream<ValueTemplate> templates() {
            return Stream.of(time);
        }
    }
}
