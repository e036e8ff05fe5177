package dev.semel.runtime;

import dev.semel.IdempotentResult;
import dev.semel.admission.RunDeduplicationKey;
import dev.semel.admission.RunDeduplicationKeyRecord;
import dev.semel.admission.TriggerDeduplicationKeyDerivation;
import dev.semel.definition.ResultNotRecordable;
import dev.semel.definition.WorkflowCatalogEntry;
import dev.semel.error.EffectInDoubt;
import dev.semel.error.ErrorCode;
import dev.semel.error.JsonConversionFailed;
import dev.semel.error.KeyConflict;
import dev.semel.error.RequestRejected;
import dev.semel.error.SemelException;
import dev.semel.error.StepFailed;
import dev.semel.idempotency.IdempotencyKey;
import dev.semel.json.JsonCodec;
import dev.semel.policy.SameKeyDifferentPayloadPolicy;
import dev.semel.workflow.Context;
import dev.semel.workflow.Retry;
import dev.semel.workflow.Start;
import dev.semel.workflow.TypeRef;
import dev.semel.workflow.Workflow;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** Each operation is a workflow with one effect: trigger rules apply, and a crash in the code leaves it in doubt. */
final class IdempotentCallExecutor {
    private static final String STEP = "do";
    private static final String RESULT = "result";
    private static final String UNFIT = "unfit";
    private static final int TRIES = 5;

    private final SemelRuntime semel;
    private final ConcurrentHashMap<String, Workflow<JsonNode, JsonNode>> operations = new ConcurrentHashMap<>();
    private final ConcurrentHashMap<String, CallerCode> waiting = new ConcurrentHashMap<>();

    IdempotentCallExecutor(SemelRuntime semel) {
        this.semel = semel;
    }

    /**
     * @param key the caller and the caller's key, joined
     * @param request the data that define the action; null for none
     */
    record OperationCall(
            String name,
            String caller,
            String key,
            @Nullable Object request) {}

    /** The caller's code and the exception it threw, kept while its run is admitted and executed. */
    private static final class CallerCode {
        final String operation;
        final Callable<?> body;
        volatile @Nullable Throwable failure;

        CallerCode(String operation, Callable<?> body) {
            this.operation = operation;
            this.body = body;
        }
    }

    <T> IdempotentResult<T> call(OperationCall operation, TypeRef<T> type, Callable<? extends @Nullable T> body) {
        Workflow<JsonNode, JsonNode> workflow = operations.computeIfAbsent(operation.name(), this::workflow);
        CallerCode code = new CallerCode(operation.name(), body);
        String call = semel.newId().text();
        waiting.put(call, code);
        try {
            JsonNode data = JsonNodeFactory.instance
                    .objectNode()
                    .put("call", call)
                    .put("caller", operation.caller())
                    .set("request", JsonCodec.STANDARD.write(operation.request(), "the request"));
            for (int tries = 1; ; tries++) {
                RunHandle<JsonNode> run = start(workflow, data, operation);
                try {
                    return new IdempotentResult<>(result(run, operation, type, code), run.replayed());
                } catch (StepFailed e) {
                    // An earlier caller ended before its code began, or another worker without our code claimed the
                    // run: nothing was executed and the key is free again.
                    if (tries == TRIES || code.failure != null || !e.reason().equals(CallerGone.NAME)) {
                        throw e;
                    }
                }
            }
        } finally {
            waiting.remove(call);
        }
    }

    private RunHandle<JsonNode> start(Workflow<JsonNode, JsonNode> workflow, JsonNode data, OperationCall operation) {
        try {
            return semel.start(workflow, data, Start.withKey(operation.key()));
        } catch (KeyConflict _) {
            KeyConflict conflict = new KeyConflict(
                    "Operation \"" + operation.name()
                            + "\" was called before under this key with a different request. It was not executed.",
                    "Pass the original request to get the original result, or use a new key.");
            conflict.with("changed", List.of("request"));
            throw conflict;
        }
    }

    /** The run that represents the call in the API and the dashboard; null if there is no call under this key. */
    @Nullable
    RunHandle<JsonNode> find(OperationCall operation) {
        Workflow<JsonNode, JsonNode> workflow = operations.computeIfAbsent(operation.name(), this::workflow);
        int workspace = semel.javaWorkflows().defaultWorkspace().id();
        WorkflowCatalogEntry current =
                Objects.requireNonNull(semel.workflow(workspace, operation.name()), "it was just registered");
        RunDeduplicationKey name = TriggerDeduplicationKeyDerivation.workflowKey(
                workspace,
                IdempotencyKey.of(operation.key()),
                current.published().workflowId());
        RunDeduplicationKeyRecord keyRecord =
                semel.view(reads -> reads.findKeys(List.of(name)).keyRecords().getFirst());
        return keyRecord == null ? null : semel.run(workflow, keyRecord.run().text());
    }

    boolean isInDoubt(OperationCall operation) {
        RunHandle<JsonNode> run = find(operation);
        return run != null && run.stepsInDoubt().contains(STEP);
    }

    boolean confirmDone(OperationCall operation, @Nullable Object result, String by) {
        RunHandle<JsonNode> run = find(operation);
        return run != null && run.confirmDone(STEP, result, by);
    }

    boolean confirmNotDone(OperationCall operation, String by) {
        RunHandle<JsonNode> run = find(operation);
        return run != null && run.confirmNotDone(STEP, by);
    }

    /** Rejects a workflow with the name of an operation: each would claim the runs of the other. */
    void rejectUsedName(String name) {
        if (operations.containsKey(name)) {
            throw nameTaken(name, "an operation of idempotent(…)");
        }
    }

    private static SemelException nameTaken(String name, String by) {
        return new SemelException(
                ErrorCode.INVALID_DEFINITION,
                "The name \"" + name + "\" is already used by " + by + ". Nothing was registered or executed.",
                "Use different names for workflows and operations.");
    }

    /** The caller's process ended before its code began. */
    private static final class CallerGone extends RuntimeException {
        static final String NAME = StepFailed.simpleName(CallerGone.class.getName());

        CallerGone() {
            super("the process that called this operation has ended; the operation was not executed");
        }
    }

    private static <T> @Nullable T result(
            RunHandle<JsonNode> run, OperationCall operation, TypeRef<T> type, CallerCode code) {
        try {
            JsonNode kept = run.result();
            if (kept.has(UNFIT)) {
                throw new JsonConversionFailed(
                        "Operation \"" + operation.name()
                                + "\" was executed under this key, but its result could not be stored: "
                                + kept.path(UNFIT).asString(),
                        "Return a smaller value that can be written as JSON. Semel does not execute the operation"
                                + " again under this key.");
            }
            return JsonCodec.STANDARD.read(kept.path(RESULT), type.type(), "The result of " + operation.name());
        } catch (StepFailed e) {
            Throwable own = code.failure;
            if (own instanceof RuntimeException unchecked) {
                throw unchecked;
            }
            if (own instanceof Error error) {
                throw error;
            }
            throw own == null ? e : new CompletionException(own);
        } catch (EffectInDoubt e) {
            throw EffectInDoubt.ofOperation(operation.name());
        }
    }

    private Workflow<JsonNode, JsonNode> workflow(String name) {
        if (semel.javaWorkflows().isRegistered(name)) {
            throw nameTaken(name, "a workflow");
        }
        Workflow<JsonNode, JsonNode> workflow = Workflow.define(name, JsonNode.class, JsonNode.class)
                .fingerprintFields("request")
                .keysPerWorkflow()
                .onMismatch(SameKeyDifferentPayloadPolicy.REJECT)
                .runAgainAfterFailure()
                .body((ctx, data) -> execute(ctx, data.path("call").asString()));
        semel.javaWorkflows().register(workflow);
        return workflow;
    }

    /** Completes also if the result cannot be stored: a failed run would free the key, and the code would run again. */
    private JsonNode execute(Context ctx, String call) {
        ObjectNode output = JsonNodeFactory.instance.objectNode();
        try {
            return output.set(
                    RESULT,
                    ctx.effect(STEP)
                            .retry(Retry.none().notOn(CallerGone.class))
                            .askOnDoubt("owner")
                            .call(JsonNode.class, _ -> call(call)));
        } catch (StepFailed e) {
            if (e.is(RequestRejected.class) || e.is(CallerGone.class)) {
                throw e;
            }
            return output.put(UNFIT, e.failureMessage());
        }
    }

    /** An exception is a known outcome. The result is written outside of that try block: the action is done by then. */
    private JsonNode call(String id) {
        CallerCode code = waiting.get(id);
        if (code == null) {
            // Recovered after a crash before anything was sent, or after a user confirmed that it was not done.
            throw new CallerGone();
        }
        Object result;
        try {
            result = code.body.call();
        } catch (Throwable e) {
            code.failure = e;
            throw new RequestRejected(String.valueOf(e.getMessage()));
        }
        try {
            return JsonCodec.STANDARD.write(result, "the result of " + code.operation);
        } catch (JsonConversionFailed e) {
            throw new ResultNotRecordable(e);
        }
    }
}
