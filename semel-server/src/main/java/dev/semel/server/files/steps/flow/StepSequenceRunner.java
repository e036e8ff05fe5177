package dev.semel.server.files.steps.flow;

import dev.semel.definition.RunDivergedFromJournal;
import dev.semel.definition.RunTimedOut;
import dev.semel.definition.RunTooLarge;
import dev.semel.error.EffectInDoubt;
import dev.semel.error.RunCancelled;
import dev.semel.error.SemelException;
import dev.semel.error.StepFailed;
import dev.semel.json.UnparsedJson;
import dev.semel.server.files.steps.YamlStep;
import dev.semel.server.files.steps.YamlStepExecutionContext;
import java.util.List;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/**
 * Runs a list of steps in order, with their conditions and `on_error`.
 *
 * <p>Each step records its own result. Conditions are not recorded, because they follow from the input and recorded
 * results and are the same after a crash.
 */
final class StepSequenceRunner {
    private StepSequenceRunner() {}

    static void run(List<YamlStep> steps, YamlStepExecutionContext context) throws Exception {
        for (YamlStep step : steps) {
            YamlStepExecutionContext here = context.forStep(step);
            if (step.when() == null || here.isTrue(step.when())) {
                JsonNode result = result(step, here);
                if (step.kind().equals("cohort")) {
                    context.cohortResults().put(step.id(), List.of(result));
                }
                // A run may have many large results. Those of a loop are kept as text one by one.
                boolean loop = step.action() instanceof ForEachStepAction;
                context.results().put(step.id(), loop ? result : UnparsedJson.compact(result));
            }
        }
    }

    private static JsonNode result(YamlStep step, YamlStepExecutionContext context) throws Exception {
        if (step.onError() == YamlStep.ErrorPolicy.FAIL) {
            return step.action().run(context);
        }
        try {
            return step.action().run(context);
        } catch (EffectInDoubt | RunCancelled | RunTimedOut | RunTooLarge | RunDivergedFromJournal e) {
            throw e; // these stop or end the run itself; on_error does not apply
        } catch (SemelException e) {
            if (e.code().retryable()) {
                throw e; // a temporary error: the next attempt may succeed
            }
            return error(e);
        }
    }

    /** Code and message of the failure; both are recorded, so that a recovered run reads the same. */
    private static ObjectNode error(SemelException e) {
        ObjectNode result = JsonNodeFactory.instance.objectNode();
        ObjectNode error = result.putObject("error");
        if (e instanceof StepFailed failed) {
            error.put("code", failed.reason()).put("message", failed.failureMessage());
        } else {
            error.put("code", e.code().slug()).put("message", e.detail());
        }
        return result;
    }
}
