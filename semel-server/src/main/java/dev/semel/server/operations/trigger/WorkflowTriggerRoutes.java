package dev.semel.server.operations.trigger;

import dev.semel.admission.Trigger;
import dev.semel.admission.TriggerResult;
import dev.semel.admission.TriggerSource;
import dev.semel.definition.WorkflowCatalogEntry;
import dev.semel.definition.WorkflowVersion;
import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.idempotency.ChosenRunId;
import dev.semel.idempotency.IdempotencyKey;
import dev.semel.json.StrictJsonCodec;
import dev.semel.run.RunState;
import dev.semel.runtime.SemelRuntime;
import dev.semel.server.access.ApiTokenRateLimiter;
import dev.semel.server.connectors.ingress.InboundEventProcessor;
import dev.semel.server.connectors.ingress.RunTriggerChainDepthLimit;
import dev.semel.server.files.definition.WorkflowDefinition;
import dev.semel.server.http.Principal;
import dev.semel.server.http.ServerHttpRequest;
import dev.semel.server.http.ServerHttpResponse;
import dev.semel.server.http.SharedLimit;
import dev.semel.server.operations.ApiLimits;
import dev.semel.server.operations.PublishedYamlWorkflow;
import dev.semel.server.operations.WorkspaceIdAndSecretCache;
import dev.semel.server.query.RunJsonRenderer;
import dev.semel.server.query.StoreReader;
import dev.semel.server.query.SupersedingReplayRunFinder;
import dev.semel.store.DatabaseRows;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** Serves the routes that start runs, in the order of CONTRACT section 2. */
public final class WorkflowTriggerRoutes {
    private static final int MAX_WAITS = 2_048;
    private static final int MAX_WAITS_OF_TOKEN = 512;

    private final SemelRuntime semel;
    private final WorkspaceIdAndSecretCache spaces;
    private final ApiTokenRateLimiter quotas;
    private final SharedLimit waits = new SharedLimit();
    private volatile ApiLimits limits = ApiLimits.DEFAULTS;

    public WorkflowTriggerRoutes(SemelRuntime semel, WorkspaceIdAndSecretCache spaces, ApiTokenRateLimiter quotas) {
        this.semel = semel;
        this.spaces = spaces;
        this.quotas = quotas;
    }

    WorkflowCatalogEntry workflow(ServerHttpRequest request) {
        return StoreReader.workflow(semel, request.principal().workspace(), request.parameter("id"));
    }

    public void setLimits(ApiLimits value) {
        limits = value;
    }

    public ApiLimits limits() {
        return limits;
    }

    public ServerHttpResponse trigger(ServerHttpRequest request) {
        IdempotencyKey key = IdempotencyKey.fromHeader(request.headerLines("Idempotency-Key"));
        return answer(request, key, null);
    }

    public ServerHttpResponse startWithRunId(ServerHttpRequest request) {
        IdempotencyKey key = IdempotencyKey.fromHeader(request.headerLines("Idempotency-Key"));
        return answer(request, key, new ChosenRunId(request.parameter("run_id")));
    }

    private ServerHttpResponse answer(
            ServerHttpRequest request, @Nullable IdempotencyKey key, @Nullable ChosenRunId fromPath) {
        TriggerRequestPreferences triggerPreferences = TriggerRequestPreferences.parse(request);
        Admitted admitted = admit(request, key, fromPath, triggerPreferences.strict());
        ObjectNode body = admitted.body();
        Duration wait = triggerPreferences.maxWait();
        if (wait != null) {
            request.releaseBody();
            if (!awaitEnd(request.principal(), admitted, wait)) {
                triggerPreferences = triggerPreferences.withoutWait();
            }
        }
        var out = TriggerResponseBuilder.addHeaders(
                RunJsonRenderer.ok(body, admitted.answer().replayed()), admitted.answer(), admitted.key());
        return triggerPreferences.addAppliedHeader(out);
    }

    /** Adds the state of the run at its end, or at once if too many requests wait already: then returns false. */
    private boolean awaitEnd(Principal caller, Admitted admitted, Duration wait) {
        List<SharedLimit.Owner> owners = List.of(
                new SharedLimit.Owner("This server", MAX_WAITS),
                new SharedLimit.Owner("The caller " + caller.tokenId(), MAX_WAITS_OF_TOKEN));
        SharedLimit.Owner full = waits.tryTake(owners);
        try {
            DatabaseRows.RunRow run =
                    semel.await(caller.workspace(), admitted.answer().run(), full == null ? wait : Duration.ZERO);
            if (run != null) {
                TriggerResponseBuilder.addRunState(admitted.body(), run);
            }
        } finally {
            if (full == null) {
                waits.release(owners);
            }
        }
        if (full != null) {
            admitted.body()
                    .withArray("warnings")
                    .add(full.name() + " has " + full.most()
                            + " requests that wait for the end of a run. The server did"
                            + " not wait. Read the run with GET /v1/runs/"
                            + admitted.answer().runId() + ".");
        }
        return full == null;
    }

    /** What remains of a request after its admission. The parsed body is not part of it: a client may wait for long. */
    private record Admitted(
            TriggerResult answer, ObjectNode body, @Nullable IdempotencyKey key) {}

    private Admitted admit(
            ServerHttpRequest request, @Nullable IdempotencyKey key, @Nullable ChosenRunId fromPath, boolean strict) {
        TriggerRequestBody ask = TriggerRequestBody.of(request, fromPath);
        TriggerResult answer = admit(
                request.principal(),
                request.parameter("id"),
                ask,
                new TriggerOptions(
                        key,
                        strict,
                        request::header,
                        RunTriggerChainDepthLimit.parse(request.header(RunTriggerChainDepthLimit.HEADER))));
        ObjectNode body = TriggerResponseBuilder.body(answer, ask.warnings());
        superseded(body, request.principal(), answer);
        return new Admitted(answer, body, key != null ? key : ask.derivedKey());
    }

    /** A repeat returns its original run; `superseded_by` names a later safe replay. */
    private void superseded(ObjectNode body, Principal who, TriggerResult answer) {
        boolean undone = answer.state() == RunState.FAILED || answer.state() == RunState.CANCELLED;
        String by = answer.replayed() && undone
                ? SupersedingReplayRunFinder.findNewest(semel, who.workspace(), answer.run())
                : null;
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

    /**
     * Whether the order in which items of a batch are admitted changes their results: they share a quota, a queue, a
     * debounce or a rate limit, or a derived key or payload can make one the duplicate of another.
     */
    boolean isOrderVisible(Principal who, WorkflowCatalogEntry workflow) {
        return quotas.quota(who).limitsFresh()
                || workflow.versions().stream()
                        .anyMatch(version -> InboundEventProcessor.isOrderVisible(version)
                                || PublishedYamlWorkflow.definitionOf(version).derivesKey());
    }

    TriggerResult admit(Principal who, String nameOrId, TriggerRequestBody ask, TriggerOptions terms) {
        return semel.trigger(
                who.workspace(),
                StoreReader.workflow(semel, who.workspace(), nameOrId),
                quotas.quota(who),
                workflow -> trigger(who, workflow, ask, terms));
    }

    /** Builds what depends on the workflow version: the derived key, whether a key is required, and the input. */
    private Trigger trigger(
            Principal who, WorkflowCatalogEntry workflow, TriggerRequestBody ask, TriggerOptions terms) {
        WorkflowDefinition definition = PublishedYamlWorkflow.definitionOf(workflow.published());
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
                    "Add the header Idempotency-Key with the id of the event or action. Send the same value"
                            + " with every retry.");
        }
        return new Trigger(
                        spaces.get(who.workspace()),
                        workflow,
                        ask.data(),
                        StrictJsonCodec.write(ask.data()),
                        new Trigger.Identifiers(key, ask.runId()),
                        new Trigger.Sender(TriggerSource.HTTP, who.tokenId(), ask.correlationId()),
                        terms.strict(),
                        rejection(workflow.published(), ask.data(), terms.depth()),
                        Trigger.RunLinks.atDepth(terms.depth()),
                        0)
                .withDelay(ask.startDelay().delayMicros(() -> StoreReader.now(semel)));
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

    /** Why a fresh trigger is rejected: depth and input schema. They never reject a duplicate. */
    private @Nullable SemelException rejection(WorkflowVersion workflow, JsonNode data, int depth) {
        return Trigger.rejectionOf(() -> {
            RunTriggerChainDepthLimit.rejectIfTooDeep(depth, limits.maxRunDepth(), workflow.name());
            PublishedYamlWorkflow.definitionOf(workflow).checkInput(data);
        });
    }
}
