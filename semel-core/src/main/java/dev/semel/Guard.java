package dev.semel;

import dev.semel.error.InDoubt;
import dev.semel.error.StepFailed;
import dev.semel.error.TypeMismatch;
import dev.semel.json.Codec;
import dev.semel.key.KeyPolicy;
import dev.semel.workflow.Context;
import dev.semel.workflow.Failures;
import dev.semel.workflow.Retry;
import dev.semel.workflow.Start;
import dev.semel.workflow.Workflow;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/**
 * Makes any operation idempotent, on the tables and by the rules of triggers: the operation is a workflow with one
 * effect, and its code is in the hands of the caller. A process that died half-way leaves that effect in doubt.
 */
public final class Guard {
    private static final String STEP = "do";
    private static final String RESULT = "result";
    private static final String UNFIT = "unfit";

    private final Semel semel;
    private final ConcurrentHashMap<String, Workflow<JsonNode, JsonNode>> operations = new ConcurrentHashMap<>();
    private final ConcurrentHashMap<String, Code> waiting = new ConcurrentHashMap<>();

    Guard(Semel semel) {
        this.semel = semel;
    }

    /**
     * What is to be done once.
     *
     * @param name of the operation, as a workflow is named
     * @param fingerprint what makes it the same action; any value that can be written as JSON
     */
    public record Operation(String name, String actor, String key, Object fingerprint) {}

    /** The caller's code and what it threw, while its run is being admitted and driven. */
    private static final class Code {
        final String operation;
        final Callable<?> body;
        volatile @Nullable Throwable failure;

        Code(String operation, Callable<?> body) {
            this.operation = operation;
            this.body = body;
        }
    }

    <T> T once(Operation operation, Class<T> type, Callable<T> body) {
        Workflow<JsonNode, JsonNode> workflow = operations.computeIfAbsent(operation.name(), this::workflow);
        Code code = new Code(operation.name(), body);
        String call = semel.newId().text();
        waiting.put(call, code);
        try {
            JsonNode data = JsonNodeFactory.instance
                    .objectNode()
                    .put("call", call)
                    .put("actor", operation.actor())
                    .set("fingerprint", Codec.STANDARD.write(operation.fingerprint(), "the fingerprint"));
            Run<JsonNode> run = semel.start(workflow, data, Start.withKey(operation.key()));
            return result(run, operation, type, code);
        } finally {
            waiting.remove(call);
        }
    }

    @SuppressWarnings("NullAway") // null is what the caller's own code returned
    private static <T> T result(Run<JsonNode> run, Operation operation, Class<T> type, Code code) {
        try {
            JsonNode kept = run.result();
            if (kept.has(UNFIT)) {
                throw new TypeMismatch(
                        operation.name() + " was done under this key and its result could not be kept: "
                                + kept.path(UNFIT).asString(),
                        "Return something smaller that can be written as JSON. It is not done again under this key.");
            }
            return Codec.STANDARD.read(kept.path(RESULT), type, "The result of " + operation.name());
        } catch (StepFailed e) {
            Throwable own = code.failure;
            if (own instanceof RuntimeException unchecked) {
                throw unchecked;
            }
            if (own instanceof Error error) {
                throw error;
            }
            throw own == null ? e : new IllegalStateException(own);
        } catch (InDoubt e) {
            throw new InDoubt(operation.name(), "the process that did it under this key ended half-way");
        }
    }

    private Workflow<JsonNode, JsonNode> workflow(String name) {
        Workflow<JsonNode, JsonNode> workflow = Workflow.define(name, JsonNode.class, JsonNode.class)
                .fingerprintFields("fingerprint")
                .scope(KeyPolicy.Scope.WORKFLOW)
                .onMismatch(KeyPolicy.OnMismatch.REJECT)
                .onFailed(KeyPolicy.OnFailed.RUN_AGAIN)
                .body((ctx, data) -> answer(ctx, data.path("call").asString()));
        semel.register(workflow);
        return workflow;
    }

    /** A failed run frees the key; what was done and only could not be kept must not, so that it is not done again. */
    private JsonNode answer(Context ctx, String call) {
        ObjectNode answer = JsonNodeFactory.instance.objectNode();
        try {
            return answer.set(
                    RESULT,
                    ctx.effect(STEP).retry(Retry.none()).askOnDoubt("operator").call(JsonNode.class, _ -> call(call)));
        } catch (StepFailed e) {
            if (e.is(Failures.Refused.class)) {
                throw e;
            }
            return answer.put(UNFIT, e.said());
        }
    }

    /**
     * Runs the caller's code, which may throw what it likes: a failure that reached us is no doubt. What it returned is
     * written outside of that: the deed is done by then.
     */
    private JsonNode call(String id) {
        Code code = waiting.get(id);
        if (code == null) {
            // Taken up after a crash, before anything was sent: the caller is gone, and nothing was done.
            throw new Failures.Refused("the caller of this operation is gone; it was not begun");
        }
        Object result;
        try {
            result = code.body.call();
        } catch (Throwable e) {
            code.failure = e;
            throw new Failures.Refused(String.valueOf(e.getMessage()));
        }
        return Codec.STANDARD.write(result, "the result of " + code.operation);
    }
}
