package dev.semel.server.api;

import dev.semel.runtime.SemelRuntime;
import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.json.StrictJson;
import dev.semel.admission.ChosenRunId;
import dev.semel.admission.IdempotencyKey;
import dev.semel.workflow.RunState;
import dev.semel.server.access.TriggerQuotas;
import dev.semel.server.definition.WorkflowDefinition;
import dev.semel.server.ingress.RunDepthLimit;
import dev.semel.server.http.Principal;
import dev.semel.server.http.HttpRequest;
import dev.semel.store.StoredRows;
import dev.semel.trigger.TriggerResult;
import dev.semel.trigger.TriggerSource;
import dev.semel.trigger.Trigger;
import dev.semel.definition.CurrentWorkflow;
import dev.semel.definition.WorkflowVersion;
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
final class TriggerRoutes {
    private final SemelRuntime semel;
    private final WorkspaceCache spaces;
    private final TriggerQuotas quotas;
    private volatile ApiLimits limits = ApiLimits.DEFAULTS;

    TriggerRoutes(SemelRuntime semel, WorkspaceCache spaces, TriggerQuotas quotas) {
        this.semel = semel;
        this.spaces = spaces;
        this.quotas = quotas;
    }

    void setLimits(ApiLimits value) {
        limits = value;
    }

    ApiLimits limits() {
        return limits;
    }

    /** Checks the key before the size and type of the body, as CONTRACT section 2 orders. */
    static void checkKey(Function<String, List<String>> headers) {
        IdempotencyKey.fromHeader(headers.apply("Idempotency-Key"));
    }

    dev.semel.server.http.HttpResponse trigger(HttpRequest request) {
        IdempotencyKey key = IdempotencyKey.fromHeader(request.headerLines("Idempotency-Key"));
        return answer(request, key, null);
    }

    dev.semel.server.http.HttpResponse startWithRunId(HttpRequest request) {
        IdempotencyKey key = IdempotencyKey.fromHeader(request.headerLines("Idempotency-Key"));
        return answer(request, key, new ChosenRunId(request.parameter("run_id")));
    }

    private dev.semel.server.http.HttpResponse answer(
            HttpRequest request, @Nullable IdempotencyKey key, @Nullable ChosenRunId fromPath) {
        TriggerPreferences wishes = TriggerPreferences.parse(request);
        TriggerRequestBody ask = TriggerRequestBody.of(request, fromPath);
        TriggerResult answer = admit(
                request.principal(),
                request.parameter("id"),
                ask,
                new TriggerOptions(key, wishes.strict(), request::header, RunDepthLimit.parse(request.header(RunDepthLimit.HEADER))));
        ObjectNode body = TriggerResponses.body(answer, ask.warnings());
        superseded(body, request.principal(), answer);
        Duration wait = wishes.maxWait();
        if (wait != null) {
            StoredRows.RunRow run = semel.await(request.principal().workspace(), answer.run(), wait);
            if (run != null) {
                TriggerResponses.addRunState(body, run);
            }
        }
        var out = TriggerResponses.addHeaders(JsonViews.ok(body), answer, key != null ? key : ask.derivedKey());
        return wishes.addAppliedHeader(out);
    }

    /** A repeat returns its original run; `superseded_by` names a later safe replay. */
    private void superseded(ObjectNode body, Principal who, TriggerResult answer) {
        boolean undone = answer.state() == RunState.FAILED || answer.state() == RunState.CANCELLED;
        String by = answer.replayed() && undone ? SupersedingRun.findNewest(semel, who.workspace(), answer.run()) : null;
        if (by != null) {
            body.put("superseded_by", by);
        }
    }

    /**
     * The parts of a trigger outside its body: key, strict mode, headers for the key expression, and the depth in the
     * chain of runs.
     */
    record TriggerOptions(@Nullable IdempotencyKey key, boolean strict, HeaderLookup headers, int depth) {}

    /** Returns the value of a header, or null. */
    interface HeaderLookup {
        HeaderLookup NONE = _ -> null;

        @Nullable
        String headerValue(String name);
    }

    TriggerResult admit(Principal who, String nameOrId, TriggerRequestBody ask, TriggerOptions terms) {
        Runnable quota = chargeOnce(quotas.freshCheck(who));
        return semel.trigger(who.workspace(), findWorkflow(who, nameOrId), workflow -> {
            Runnable fresh = freshOnly(quota, workflow.published(), ask.data(), terms.depth());
            Trigger.AdmissionChecks checks = new Trigger.AdmissionChecks(fresh, () -> quotas.countReplay(who));
            return trigger(who, workflow, ask, new AdmissionAttempt(terms, checks));
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

    private record AdmissionAttempt(TriggerOptions terms, Trigger.AdmissionChecks checks) {}

    /** Builds what depends on the workflow version: the derived key, whether a key is required, and the input. */
    private Trigger trigger(Principal who, CurrentWorkflow workflow, TriggerRequestBody ask, AdmissionAttempt attempt) {
        TriggerOptions terms = attempt.terms();
        WorkflowDefinition definition = FileWorkflow.definitionOf(workflow.published());
        IdempotencyKey derived = terms.key() == null && definition.derivesKey()
                ? IdempotencyKey.of(definition.deriveKey(ask.data(), keyHeaders(definition, terms.headers())))
                : null;
        ask.setDerivedKey(derived);
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
                        spaces.get(who.workspace()),
                        workflow,
                        ask.data(),
                        StrictJson.write(ask.data()),
                        new Trigger.Identifiers(key, ask.runId()),
                        new Trigger.Sender(TriggerSource.HTTP, who.tokenId(), ask.correlationId()),
                        terms.strict(),
                        attempt.checks(),
                        Trigger.RunLinks.atDepth(terms.depth()))
                .withDelay(ask.startDelay().delayMicros(this::now));
    }

    /** The store's clock, in microseconds. */
    private long now() {
        return java.util.Objects.requireNonNull(semel.view(reads -> reads.now()));
    }

    /** Reads only the headers that the key expression uses. */
    private static Map<String, String> keyHeaders(WorkflowDefinition definition, HeaderLookup headers) {
        Map<String, String> found = new HashMap<>();
        for (String name : definition.keyHeaders()) {
            String line = headers.headerValue(name);
            if (line != null) {
                found.put(name, line);
            }
        }
        return found;
    }

    /** Quota and input schema apply only to a fresh trigger, so they never reject a duplicate. */
    private @Nullable Runnable freshOnly(@Nullable Runnable quota, WorkflowVersion workflow, JsonNode data, int depth) {
        SemelException bad = null;
        try {
            RunDepthLimit.rejectIfTooDeep(depth, limits.maxRunDepth(), workflow.name());
            FileWorkflow.definitionOf(workflow).checkInput(data);
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

    CurrentWorkflow findWorkflow(Principal who, String nameOrId) {
        CurrentWorkflow workflow = semel.workflow(who.workspace(), nameOrId);
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
