package dev.semel.server.api;

import dev.semel.key.FieldPath;
import dev.semel.server.definition.Definition;
import dev.semel.server.steps.Outside;
import dev.semel.store.Rows;
import dev.semel.workflow.Body;
import dev.semel.workflow.Durable;
import dev.semel.workflow.Expected;
import dev.semel.workflow.Published;
import java.util.List;
import java.util.function.IntFunction;
import tools.jackson.databind.JsonNode;

/** The executable body of a workflow that was published as a YAML file. It keeps the file's definition. */
public record FileWorkflow(Definition definition, Outside outside) implements Body {
    /** @param outside returns the step services of a workspace */
    public static Published compile(Rows.Version version, IntFunction<Outside> outside) {
        Definition definition = Definition.compile(version.body());
        return new Published(
                version.workflowId(),
                version.name(),
                version.version(),
                definition.policy(),
                new FileWorkflow(definition, outside.apply(version.ws())),
                List.of(),
                definition.extras());
    }

    static Definition of(Published published) {
        if (published.body() instanceof FileWorkflow file) {
            return file.definition();
        }
        throw new IllegalStateException("workflow " + published.name() + " was not published as a file");
    }

    /** Validates an input against the schema of the file. Java workflows have none here. */
    static void check(Published published, JsonNode input) {
        if (published.body() instanceof FileWorkflow file) {
            file.definition().checkInput(input);
        }
    }

    /** Every effect, call and wait of the file. Those in conditions or loops may run any number of times. */
    @Override
    public List<Expected> expected() {
        return Declarations.of(definition);
    }

    @Override
    public List<FieldPath> pii() {
        return pii(definition);
    }

    static List<FieldPath> pii(Definition definition) {
        return definition.personalFields().stream()
                .sorted()
                .map(FieldPath::member)
                .toList();
    }

    @Override
    public JsonNode run(Durable durable, JsonNode input) throws Exception {
        return definition.body(outside).run(durable, input);
    }
}
