package dev.semel.server.files.steps.flow;

import dev.cel.common.types.CelKind;
import dev.semel.server.files.expressions.YamlValueTemplate;
import dev.semel.server.files.steps.CompiledYamlStepAction;
import dev.semel.server.files.steps.YamlStepExecutionContext;
import dev.semel.server.files.steps.YamlStepReadContext;
import dev.semel.server.files.yaml.DurationFormat;
import dev.semel.server.files.yaml.YamlMapReader;
import dev.semel.server.files.yaml.YamlNode;
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
 *
 * @param until whether the value is the end of the wait instead of its length
 */
record SleepStepAction(YamlValueTemplate value, boolean until) implements CompiledYamlStepAction {
    static @Nullable CompiledYamlStepAction read(YamlStepReadContext draft) {
        YamlNode tree = draft.fields().get("sleep");
        if (tree instanceof YamlNode.MapNode members) {
            YamlMapReader until = new YamlMapReader(members, "sleep", draft.problems()).allowOnly(Set.of("until"));
            YamlValueTemplate time = draft.requiredTemplate(until, "until", CelKind.STRING);
            return time == null ? null : new SleepStepAction(time, true);
        }
        YamlValueTemplate length = draft.requiredTemplate(draft.fields(), "sleep", CelKind.STRING);
        if (length instanceof YamlValueTemplate.Literal(JsonNode text)
                && DurationFormat.parse(text.asString()).isEmpty()) {
            draft.addError(
                    draft.fields().valueRange("sleep"), "sleep must be a duration such as 500ms, 30s, 15m, 24h or 7d.");
            return null;
        }
        return length == null ? null : new SleepStepAction(length, false);
    }

    @Override
    public JsonNode run(YamlStepExecutionContext context) {
        if (until) {
            context.durable().sleepUntil(context.id(), instant(context));
        } else {
            context.durable().sleep(context.id(), duration(context));
        }
        return JsonNodeFactory.instance.objectNode();
    }

    private Duration duration(YamlStepExecutionContext context) {
        return DurationFormat.parse(context.text(value, "sleep"))
                .orElseThrow(() ->
                        context.evaluationFailed("Step '" + context.id() + "'", "it is not a duration such as 15m"));
    }

    private Instant instant(YamlStepExecutionContext context) {
        try {
            return OffsetDateTime.parse(context.text(value, "sleep.until")).toInstant();
        } catch (DateTimeException e) {
            throw context.evaluationFailed(
                    "Step '" + context.id() + "'", "it is not a time such as 2026-05-01T09:00:00Z");
        }
    }

    @Override
    public Stream<YamlValueTemplate> templates() {
        return Stream.of(value);
    }
}
