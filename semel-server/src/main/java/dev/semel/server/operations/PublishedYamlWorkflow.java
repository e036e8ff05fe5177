package dev.semel.server.operations;

import dev.semel.definition.DeclaredStep;
import dev.semel.definition.DurableWorkflowOperations;
import dev.semel.definition.WorkflowBody;
import dev.semel.definition.WorkflowVersion;
import dev.semel.idempotency.JsonFieldPath;
import dev.semel.server.files.definition.WorkflowDefinition;
import dev.semel.server.files.steps.YamlStepDependencies;
import dev.semel.store.DatabaseRows;
import java.util.List;
import java.util.function.IntFunction;
import tools.jackson.databind.JsonNode;

/** The executable body of a workflow that was published as a YAML file. It keeps the file's definition. */
public record PublishedYamlWorkflow(WorkflowDefinition definition, YamlStepDependencies services)
        implements WorkflowBody {
    /** @param outside returns the step services of a workspace */
    public static WorkflowVersion compile(DatabaseRows.VersionRow version, IntFunction<YamlStepDependencies> outside) {
        WorkflowDefinition definition = WorkflowDefinition.compile(version.body());
        return new WorkflowVersion(
                version.workflowId(),
                version.name(),
                version.version(),
                definition.policy(),
                new PublishedYamlWorkflow(definition, outside.apply(version.ws())),
                List.of(),
                definition.versionOptions());
    }

    public static WorkflowDefinition definitionOf(WorkflowVersion published) {
        if (published.body() instanceof PublishedYamlWorkflow file) {
            return file.definition();
        }
        throw new IllegalStateException("workflow " + published.name() + " was not published as a file");
    }

    /** Validates an input against the schema of the file. Java workflows have none here. */
    public static void checkInput(WorkflowVersion published, JsonNode input) {
        if (published.body() instanceof PublishedYamlWorkflow file) {
            file.definition().checkInput(input);
        }
    }

    /** Every effect, call and wait of the file. Those in conditions or loops may run any number of times. */
    @Override
    public List<DeclaredStep> declaredSteps() {
        return YamlDeclaredStepCollector.of(definition);
    }

    @Override
    public List<JsonFieldPath> piiPaths() {
        return pii(definition);
    }

    public static List<JsonFieldPath> pii(WorkflowDefinition definition) {
        return definition.piiFields().stream()
                .sorted()
                .map(JsonFieldPath::member)
                .toList();
    }

    @Override
    public JsonNode run(DurableWorkflowOperations durable, JsonNode input) throws Exception {
        return definition.body(services).run(durable, input);
    }
}
