package dev.semel;

import dev.semel.error.InDoubt;
import dev.semel.error.StepFailed;
import dev.semel.json.Codec;
import dev.semel.key.KeyPolicy;
import dev.semel.workflow.Failures;
import dev.semel.workflow.Retry;
import dev.semel.workflow.Start;
import dev.semel.workflow.Workflow;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;

/**
 * Makes any operation idempotent, on the tables and by the rules of triggers: the operation is a workflow with one
 * effect, and its code is in the hands of the caller. A process that died half-way leaves that effect in doubt.
 */
public final class Guard {
    private static final String STEP = "do";

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
        final Callable<JsonNode> body;
        volatile @Nullable Throwable failure;

        Code(Callable<JsonNode> body) {
            this.body = body;
        }
    }

    <T> T once(Operation operation, Class<T> type, Callable<T> body) {
        Workflow<JsonNode, JsonNode> workflow = operations.computeIfAbsent(operation.name(), this::workflow);
        Code code = new Code(() -> Codec.STANDARD.write(body.call(), "the result of " + operation.name()));
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
            return Codec.STANDARD.read(run.result(), type, "The result of " + operation.name());
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
                .body((ctx, data) -> ctx.effect(STEP)
                        .retry(Retry.none())
                        .askOnDoubt("operator")
                        .call(JsonNode.class, _ -> call(data.path("call").asString())));
        semel.register(workflow);
        return workflow;
    }

    /** Runs the caller's code, which may throw what it likes: a failure that reached us is no doubt. */
    private JsonNode call(String id) {
        Code code = waiting.get(id);
        if (code == null) {
            // Taken up after a crash, before anything was sent: the caller is gone, and nothing was done.
            throw new Failures.Refused("the caller of this operation is gone; it was not begun");
        }
        try {
            return code.body.call();
        } catch (Throwable e) {
            code.failure = e;
            throw new Failures.Refused(String.valueOf(e.getMessage()));
        }
    }
}
