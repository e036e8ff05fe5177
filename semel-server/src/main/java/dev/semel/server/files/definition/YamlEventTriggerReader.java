package dev.semel.server.files.definition;

import dev.cel.common.types.CelKind;
import dev.semel.definition.WorkflowTriggers;
import dev.semel.definition.WorkflowTriggers.EventSubscription;
import dev.semel.definition.WorkflowTriggers.MappedEvent;
import dev.semel.server.files.expressions.ExpressionCompileContext;
import dev.semel.server.files.expressions.ExpressionEvaluationException;
import dev.semel.server.files.expressions.ExpressionScope;
import dev.semel.server.files.expressions.StepResultSizeLimit;
import dev.semel.server.files.expressions.YamlValueTemplate;
import dev.semel.server.files.expressions.YamlValueTemplateCompiler;
import dev.semel.server.files.yaml.YamlFileErrorCollector;
import dev.semel.server.files.yaml.YamlMapReader;
import dev.semel.server.files.yaml.YamlNode;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;

/** Reads `trigger.events`: which events start a run, and with which input. */
record YamlEventTriggerReader(YamlFileErrorCollector problems, YamlValueTemplateCompiler templates) {
    private static final int MOST = 50;
    private static final Pattern TYPE = Pattern.compile("[\\x21-\\x7E&&[^*]]{0,254}\\*?");

    List<EventSubscription> read(YamlMapReader trigger) {
        YamlNode tree = trigger.get("events");
        if (tree == null) {
            return List.of();
        }
        if (!(tree instanceof YamlNode.ListNode items)) {
            problems.add(tree.range(), "trigger.events must be a list of events, not %s.".formatted(tree.typeName()));
            return List.of();
        }
        if (items.items().isEmpty() || items.items().size() > MOST) {
            problems.add(tree.range(), "trigger.events must have 1 to %d entries.".formatted(MOST));
        }
        List<EventSubscription> all = new ArrayList<>();
        for (YamlNode item : items.items()) {
            YamlMapReader fields = YamlMapReader.of(item, "trigger.events[]", problems);
            EventSubscription one = fields == null ? null : one(fields);
            if (one != null) {
                all.add(one);
            }
        }
        return all;
    }

    private @Nullable EventSubscription one(YamlMapReader fields) {
        fields.allowOnly(Set.of("type", "source", "when", "data"));
        String type = fields.text("type");
        if (fields.get("type") == null) {
            problems.add(
                    fields.nameRange("type"),
                    "type is missing in an entry of trigger.events, e.g. type: payment.succeeded.");
        } else if (type != null && (type.isEmpty() || !TYPE.matcher(type).matches())) {
            problems.add(
                    fields.valueRange("type"),
                    "type must have 1 to 255 visible ASCII characters; * is allowed only at the end, as a wildcard.");
        }
        String source = fields.text("source");
        if (source != null && source.isBlank()) {
            problems.add(fields.valueRange("source"), "source is empty; remove it to accept events of any source.");
        }
        int before = problems.count();
        YamlValueTemplate when = when(fields.get("when"));
        YamlNode mapping = fields.get("data");
        YamlValueTemplate data = mapping == null
                ? null
                : templates.compile(mapping, ExpressionCompileContext.of(ExpressionCompileContext.ContextKind.EVENT));
        if (mapping instanceof YamlNode.ListNode) {
            problems.add(mapping.range(), "data must be a map, because it is the input of the run.");
        }
        return problems.count() > before || type == null
                ? null
                : new EventSubscription(type, source, reading(when, data));
    }

    private @Nullable YamlValueTemplate when(@Nullable YamlNode tree) {
        if (tree == null) {
            return null;
        }
        int before = problems.count();
        YamlValueTemplate when = templates.compile(
                tree, ExpressionCompileContext.of(ExpressionCompileContext.ContextKind.EVENT), Set.of(CelKind.BOOL));
        boolean condition = when instanceof YamlValueTemplate.SingleExpression
                || (when instanceof YamlValueTemplate.Literal(JsonNode value) && value.isBoolean());
        if (problems.count() == before && !condition) {
            problems.add(tree.range(), "`when` must return true or false, e.g. ${ event.data.amount > 0 }.");
        }
        return when;
    }

    private static WorkflowTriggers.EventMapper reading(
            @Nullable YamlValueTemplate when, @Nullable YamlValueTemplate data) {
        return event -> {
            ExpressionScope scope = ExpressionScope.ofInput(JsonNodeFactory.instance.objectNode())
                    .with("event", event);
            try {
                if (when != null) {
                    JsonNode fits = when.evaluate(scope, new StepResultSizeLimit());
                    if (!fits.isBoolean()) {
                        return new MappedEvent.Failed("`when` returned neither true nor false");
                    }
                    if (!fits.booleanValue()) {
                        return new MappedEvent.NoMatch();
                    }
                }
                return data == null
                        ? WorkflowTriggers.EventMapper.DATA_AS_INPUT.map(event)
                        : new MappedEvent.Input(data.evaluate(scope, new StepResultSizeLimit()));
            } catch (ExpressionEvaluationException failure) {
                return new MappedEvent.Failed("its expressions could not be evaluated, because " + failure.reason());
            }
        };
    }
}
