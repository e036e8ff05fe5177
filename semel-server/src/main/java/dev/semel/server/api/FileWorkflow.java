package dev.semel.server.api;

import dev.semel.admission.FieldPath;
import dev.semel.server.definition.WorkflowDefinition;
import dev.semel.server.steps.StepServices;
import dev.semel.store.StoredRows;
import dev.semel.definition.WorkflowBody;
import dev.semel.definition.DurableOperations;
import dev.semel.definition.DeclaredStep;
import dev.semel.definition.WorkflowVersion;
import java.util.List;
import java.util.function.IntFunction;
import tools.jackson.databind.JsonNode;

/** The executable body of a workflow that was published as a YAML file. It keeps the file's definition. */
public record FileWorkflow(WorkflowDefinition definition, StepServices services) implements WorkflowBody {
    /** @param outside returns the step services of a workspace */
    public static WorkflowVersion compile(StoredRows.VersionRow version, IntFunction<StepServices> outside) {
        WorkflowDefinition definition = WorkflowDefinition.compile(version.body());
        return new WorkflowVersion(
                version.workflowId(),
                version.name(),
                version.version(),
                definition.policy(),
                new FileWorkflow(definition, outside.apply(version.ws())),
                List.of(),
                definition.versionOptions());
    }

    static WorkflowDefinition definitionOf(WorkflowVersion published) {
        if (published.body() instanceof FileWorkflow file) {
            return file.definition();
        }
        throw new IllegalStateException("workflow " + published.name() + " was not published as a file");
    }

    /** Validates an input against the schema of the file. Java workflows have none here. */
    static void checkInput(WorkflowVersion published, JsonNode input) {
        if (published.body() instanceof FileWorkflow file) {
            file.definition().checkInput(input);
        }
    }

    /** Every effect, call and wait of the file. Those in conditions or loops may run any number of times. */
    @Override
    public List<DeclaredStep> declaredSteps() {
        return DeclaredStepCollector.of(definition);
    }

    @Override
    public List<FieldPath> piiPaths() {
        return pii(definition);
    }

    static List<FieldPath> pii(WorkflowDefinition definition) {
        return definition.piiFields().stream()
                .sorted()
                .map(FieldPath::member)
                .toList();
    }

    @Override
    public JsonNode run(DurableOperations durable, JsonNode input) throws Exception {
        return definition.body(services).run(durable, input);
    }
}
