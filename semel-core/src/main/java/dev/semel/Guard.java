package dev.semel;

import dev.semel.engine.Naming;
import dev.semel.error.ErrorCode;
import dev.semel.error.InDoubt;
import dev.semel.error.SemelException;
import dev.semel.error.StepFailed;
import dev.semel.error.TypeMismatch;
import dev.semel.json.Codec;
import dev.semel.key.IdempotencyKey;
import dev.semel.key.KeyPolicy;
import dev.semel.key.Known;
import dev.semel.store.Name;
import dev.semel.workflow.Context;
import dev.semel.workflow.Current;
import dev.semel.workflow.Failures;
import dev.semel.workflow.Retry;
import dev.semel.workflow.Start;
import dev.semel.workflow.Workflow;
import java.util.List;
import java.util.Objects;
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
    private static final int TRIES = 5;

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
            for (int tries = 1; ; tries++) {
                Run<JsonNode> run = semel.start(workflow, data, Start.withKey(operation.key()));
                try {
                    return result(run, operation, type, code);
                } catch (StepFailed e) {
                    // Somebody before us went away before it was begun, or it came to a worker that has not our code:
                    // the key is free again and nothing was done.
                    if (tries == TRIES || code.failure != null || !e.reason().equals(CallerGone.NAME)) {
                        throw e;
                    }
                }
            }
        } finally {
            waiting.remove(call);
        }
    }

    /** What stands under a key; it need not be known to this process yet. */
    Guarded guarded(String operation, String key) {
        Workflow<JsonNode, JsonNode> workflow = operations.computeIfAbsent(operation, this::workflow);
        int workspace = semel.library().home().workspace();
        Current current = Objects.requireNonNull(semel.workflow(workspace, operation), "it was just registered");
        Name name = Naming.ofWorkflow(
                workspace, IdempotencyKey.of(key), current.published().workflowId());
        Known known = semel.view(reads -> reads.names(List.of(name)).known().getFirst());
        if (known == null) {
            throw new SemelException(
                    ErrorCode.NOT_FOUND,
                    "Operation \"" + operation
                            + "\" was not asked for under this key, or longer ago than keys are kept."
                            + " Nothing was decided.",
                    "Give the operation and the key that the call of once(…) had.");
        }
        return new Guarded(semel.run(workflow, known.run().text()), STEP);
    }

    /** A workflow under the name of an operation would take its runs, and the other way round. */
    void refuseName(String name) {
        if (operations.containsKey(name)) {
            throw nameTaken(name, "an operation that is done once");
        }
    }

    private static SemelException nameTaken(String name, String by) {
        return new SemelException(
                ErrorCode.INVALID_DEFINITION,
                "The name \"" + name + "\" is used by " + by + ". Nothing was registered and nothing was done.",
                "Give workflows and operations names of their own.");
    }

    /** Whoever wanted this is gone, and it was not begun. */
    private static final class CallerGone extends RuntimeException {
        static final String NAME = StepFailed.simpleName(CallerGone.class.getName());

        CallerGone() {
            super("the caller of this operation is gone; it was not begun");
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
            throw InDoubt.ofOperation(operation.name());
        }
    }

    private Workflow<JsonNode, JsonNode> workflow(String name) {
        if (semel.library().isKnown(name)) {
            throw nameTaken(name, "a workflow");
        }
        // Another actor's result is nobody else's business: under the same key that is a conflict.
        Workflow<JsonNode, JsonNode> workflow = Workflow.define(name, JsonNode.class, JsonNode.class)
                .fingerprintFields("actor", "fingerprint")
                .scope(KeyPolicy.Scope.WORKFLOW)
                .onMismatch(KeyPolicy.OnMismatch.REJECT)
                .onFailed(KeyPolicy.OnFailed.RUN_AGAIN)
                .body((ctx, data) -> answer(ctx, data.path("call").asString()));
        semel.library().register(workflow);
        return workflow;
    }

    /** A failed run frees the key; what was done and only could not be kept must not, so that it is not done again. */
    private JsonNode answer(Context ctx, String call) {
        ObjectNode answer = JsonNodeFactory.instance.objectNode();
        try {
            return answer.set(
                    RESULT,
                    ctx.effect(STEP)
                            .retry(Retry.none().notOn(CallerGone.class))
                            .askOnDoubt("owner")
                            .call(JsonNode.class, _ -> call(call)));
        } catch (StepFailed e) {
            if (e.is(Failures.Refused.class) || e.is(CallerGone.class)) {
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
            // Taken up after a crash, before anything was sent, or after a person said that it was not done.
            throw new CallerGone();
        }
        Object result;
        try {
            result = code.body.call();
        } catch (Throwable e) {
            code.failure = e;
            throw new Failures.Refused(String.valueOf(e.getMessage()));
        }
        try {
            return Codec.STANDARD.write(result, "the result of " + code.operation);
        } catch (TypeMismatch e) {
            throw new Failures.NotKept(e);
        }
    }
}
