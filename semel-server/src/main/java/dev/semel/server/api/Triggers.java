package dev.semel.server.api;

import dev.semel.Semel;
import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.json.Json;
import dev.semel.key.ChosenRunId;
import dev.semel.key.IdempotencyKey;
import dev.semel.run.RunState;
import dev.semel.server.auth.Quotas;
import dev.semel.server.definition.Definition;
import dev.semel.server.doors.Depth;
import dev.semel.server.http.Principal;
import dev.semel.server.http.Request;
import dev.semel.store.Rows;
import dev.semel.trigger.Answer;
import dev.semel.trigger.Door;
import dev.semel.trigger.Trigger;
import dev.semel.workflow.Current;
import dev.semel.workflow.Published;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * Serves `POST /v1/workflows/{id}/trigger` and `PUT /v1/workflows/{id}/runs/{run_id}`, in the order of CONTRACT
 * section 2.
 */
final class Triggers {
    private final Semel semel;
    private final Spaces spaces;
    private final Quotas quotas;
    private volatile Bounds bounds = Bounds.USUAL;

    Triggers(Semel semel, Spaces spaces, Quotas quotas) {
        this.semel = semel;
        this.spaces = spaces;
        this.quotas = quotas;
    }

    void within(Bounds value) {
        bounds = value;
    }

    Bounds bounds() {
        return bounds;
    }

    /** Checks the key before the size and type of the body, as CONTRACT section 2 orders. */
    static void checkKey(Function<String, List<String>> headers) {
        IdempotencyKey.fromHeader(headers.apply("Idempotency-Key"));
    }

    dev.semel.server.http.Answer trigger(Request request) {
        IdempotencyKey key = IdempotencyKey.fromHeader(request.headerLines("Idempotency-Key"));
        return answer(request, key, null);
    }

    dev.semel.server.http.Answer put(Request request) {
        IdempotencyKey key = IdempotencyKey.fromHeader(request.headerLines("Idempotency-Key"));
        return answer(request, key, new ChosenRunId(request.parameter("run_id")));
    }

    private dev.semel.server.http.Answer answer(
            Request request, @Nullable IdempotencyKey key, @Nullable ChosenRunId fromPath) {
        Preferences wishes = Preferences.of(request);
        Ask ask = Ask.of(request, fromPath);
        Answer answer = admit(
                request.principal(),
                request.parameter("id"),
                ask,
                new Terms(key, wishes.strict(), request::header, Depth.of(request.header(Depth.HEADER))));
        ObjectNode body = Answers.body(answer, ask.warnings());
        superseded(body, request.principal(), answer);
        Duration wait = wishes.longest();
        if (wait != null) {
            Rows.Run run = semel.await(request.principal().workspace(), answer.run(), wait);
            if (run != null) {
                Answers.live(body, run);
            }
        }
        var out = Answers.headers(Views.ok(body), answer, key != null ? key : ask.derived());
        return wishes.applied(out);
    }

    /** A repeat returns its original run; `superseded_by` names a later safe replay. */
    private void superseded(ObjectNode body, Principal who, Answer answer) {
        boolean undone = answer.state() == RunState.FAILED || answer.state() == RunState.CANCELLED;
        String by = answer.replayed() && undone ? Superseded.by(semel, who.workspace(), answer.run()) : null;
        if (by != null) {
            body.put("superseded_by", by);
        }
    }

    /**
     * The parts of a trigger outside its body: key, strict mode, headers for the key expression, and the depth in the
     * chain of runs.
     */
    record Terms(@Nullable IdempotencyKey key, boolean strict, Headers headers, int depth) {}

    /** Returns the value of a header, or null. */
    interface Headers {
        Headers NONE = _ -> null;

        @Nullable
        String line(String name);
    }

    Answer admit(Principal who, String nameOrId, Ask ask, Terms terms) {
        Runnable quota = chargeOnce(quotas.fresh(who));
        return semel.trigger(who.workspace(), workflow(who, nameOrId), workflow -> {
            Runnable fresh = freshOnly(quota, workflow.published(), ask.data(), terms.depth());
            Trigger.Checks checks = new Trigger.Checks(fresh, () -> quotas.replayed(who));
            return trigger(who, workflow, ask, new Attempt(terms, checks));
        });
    }

    /** Charges the quota once, even if admission retries because the workflow changed. */
    private static @Nullable Runnable chargeOnce(@Nullable Runnable quota) {
        AtomicBoolean charged = new AtomicBoolean();
        return quota == null
                ? null
                : () -> {
                    if (!charged.get()) {
                        quota.run();
                        charged.set(true);
                    }
                };
    }

    private record Attempt(Terms terms, Trigger.Checks checks) {}

    /** Builds what depends on the workflow version: the derived key, whether a key is required, and the input. */
    private Trigger trigger(Principal who, Current workflow, Ask ask, Attempt attempt) {
        Terms terms = attempt.terms();
        Definition definition = FileWorkflow.of(workflow.published());
        IdempotencyKey derived = terms.key() == null && definition.derivesKey()
                ? IdempotencyKey.of(definition.deriveKey(ask.data(), keyHeaders(definition, terms.headers())))
                : null;
        ask.derive(derived);
        IdempotencyKey key = terms.key() != null ? terms.key() : derived;
        if (key == null && workflow.published().policy().requireKey()) {
            throw new SemelException(
                            ErrorCode.IDEMPOTENCY_KEY_REQUIRED,
                            "Workflow \"" + definition.name()
                                    + "\" requires an idempotency key and the request has none. "
                                    + "No run was started.",
                            "Add the header Idempotency-Key with the id of the event or action, the same on every"
                                    + " retry.")
                    .with(
                            "spec",
                            "https://datatracker.ietf.org/doc/html/draft-ietf-httpapi-idempotency-key-header-07#section-2.1");
        }
        return new Trigger(
                        spaces.of(who.workspace()),
                        workflow,
                        ask.data(),
                        Json.write(ask.data()),
                        new Trigger.Names(key, ask.runId()),
                        new Trigger.Sender(Door.HTTP, who.tokenId(), ask.correlationId()),
                        terms.strict(),
                        attempt.checks(),
                        Trigger.Ties.atDepth(terms.depth()))
                .later(ask.later().micros(this::now));
    }

    /** The store's clock, in microseconds. */
    private long now() {
        return java.util.Objects.requireNonNull(semel.view(reads -> reads.now()));
    }

    /** Reads only the headers that the key expression uses. */
    private static Map<String, String> keyHeaders(Definition definition, Headers headers) {
        Map<String, String> found = new HashMap<>();
        for (String name : definition.keyHeaders()) {
            String line = headers.line(name);
            if (line != null) {
                found.put(name, line);
            }
        }
        return found;
    }

    /** Quota and input schema apply only to a fresh trigger, so they never reject a duplicate. */
    private @Nullable Runnable freshOnly(@Nullable Runnable quota, Published workflow, JsonNode data, int depth) {
        SemelException bad = null;
        try {
            Depth.refuse(depth, bounds.depth(), workflow.name());
            FileWorkflow.of(workflow).checkInput(data);
        } catch (SemelException e) {
            bad = e;
        }
        if (quota == null && bad == null) {
            return null;
        }
        SemelException rejection = bad;
        return () -> {
            if (quota != null) {
                quota.run();
            }
            if (rejection != null) {
                throw rejection;
            }
        };
    }

    Current workflow(Principal who, String nameOrId) {
        Current workflow = semel.workflow(who.workspace(), nameOrId);
        if (workflow == null) {
            throw unknownWorkflow();
        }
        return workflow;
    }

    /** The same text for a missing workflow and for one of another workspace. */
    static SemelException unknownWorkflow() {
        return new SemelException(
                ErrorCode.NOT_FOUND,
                "No workflow with this name or id exists in this workspace. Nothing was started or changed.",
                "Check the name or id. GET /v1/workflows lists the workflows.");
    }
}
