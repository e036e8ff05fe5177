package dev.semel.server.operations.idempotency;

import dev.semel.admission.RunDeduplicationKeyRecord;
import dev.semel.admission.Trigger;
import dev.semel.admission.TriggerAdmissionDecision;
import dev.semel.admission.TriggerAdmissionRules.KeyStatus;
import dev.semel.admission.TriggerPreview;
import dev.semel.admission.TriggerSource;
import dev.semel.definition.WorkflowCatalogEntry;
import dev.semel.error.SemelException;
import dev.semel.idempotency.IdempotencyKey;
import dev.semel.json.StrictJsonCodec;
import dev.semel.runtime.SemelRuntime;
import dev.semel.server.files.yaml.DurationFormat;
import dev.semel.server.http.ServerHttpRequest;
import dev.semel.server.operations.InboundJsonRequestBody;
import dev.semel.server.operations.PublishedYamlWorkflow;
import dev.semel.server.operations.WorkspaceIdAndSecretCache;
import dev.semel.server.query.ApiErrors;
import dev.semel.server.query.RunJsonRenderer;
import dev.semel.server.query.StoreReader;
import dev.semel.server.query.view.KeySimulationView;
import dev.semel.server.query.view.StoreTime;
import dev.semel.store.DatabaseRows;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;

/** Now, at a later time or with other data. It runs the real admission and changes nothing. */
record IdempotentTriggerSimulator(SemelRuntime semel, WorkspaceIdAndSecretCache spaces) {
    private static final Duration LONGEST = Duration.ofDays(3_650);

    KeySimulationView simulate(ServerHttpRequest request) {
        InboundJsonRequestBody body =
                InboundJsonRequestBody.parse(request, Set.of("at", "after", "data", "workflow", "strict"));
        IdempotencyKey key = IdempotencyKey.of(request.parameter("key"));
        int ws = request.principal().workspace();
        List<DatabaseRows.KeyRow> keyRows = StoreReader.read(semel, reads -> reads.keyRecords(ws, key.text()));
        WorkflowCatalogEntry workflow = workflow(request, body, keyRows);
        JsonNode data = data(ws, body, workflow, keyRows);
        boolean strict = body.value("strict") instanceof JsonNode flag && flag.asBoolean(false);
        Trigger trigger = new Trigger(
                spaces.get(ws),
                workflow,
                data,
                StrictJsonCodec.write(data),
                new Trigger.Identifiers(key, null),
                new Trigger.Sender(TriggerSource.HTTP, request.principal().tokenId(), null),
                strict,
                null);
        return outcome(key, workflow, data, semel.predictTrigger(trigger, at(body)));
    }

    /** Simulates a repeat of the key's first request now; null if its run or workflow is no longer stored. */
    @Nullable
    KeySimulationView simulateNow(DatabaseRows.KeyRow held) {
        int ws = held.key().workspace();
        WorkflowCatalogEntry workflow = semel.workflow(ws, held.keyRecord().workflowId());
        DatabaseRows.RunRow run =
                semel.view(reads -> reads.run(ws, held.keyRecord().run()));
        if (workflow == null || run == null) {
            return null;
        }
        IdempotencyKey key = IdempotencyKey.of(RunJsonRenderer.keyText(held));
        JsonNode data = StrictJsonCodec.parse(run.input());
        Trigger trigger = new Trigger(
                spaces.get(ws),
                workflow,
                data,
                run.input(),
                new Trigger.Identifiers(key, null),
                new Trigger.Sender(TriggerSource.HTTP, "", null),
                false,
                null);
        return outcome(key, workflow, data, semel.predictTrigger(trigger, 0));
    }

    private WorkflowCatalogEntry workflow(
            ServerHttpRequest request, InboundJsonRequestBody body, List<DatabaseRows.KeyRow> keyRows) {
        String named = body.text("workflow").isEmpty() ? request.query("workflow") : body.text("workflow");
        if (named == null && keyRows.isEmpty()) {
            throw ApiErrors.invalidRequest(
                    "the server has no record of this key, so the request must name the workflow");
        }
        String idOrName = named == null ? keyRows.getFirst().keyRecord().workflowId() : named;
        return StoreReader.workflow(semel, request.principal().workspace(), idOrName);
    }

    /** The data of the request, or else of the first request with the key. */
    private JsonNode data(
            int ws, InboundJsonRequestBody body, WorkflowCatalogEntry workflow, List<DatabaseRows.KeyRow> keyRows) {
        JsonNode given = body.value("data");
        if (given != null && !given.isNull()) {
            if (!given.isObject()) {
                throw ApiErrors.invalidRequest("data must be an object");
            }
            return given;
        }
        for (DatabaseRows.KeyRow held : keyRows) {
            boolean same =
                    held.keyRecord().workflowId().equals(workflow.published().workflowId()) || keyRows.size() == 1;
            DatabaseRows.RunRow run =
                    same ? semel.view(reads -> reads.run(ws, held.keyRecord().run())) : null;
            if (run != null) {
                return StrictJsonCodec.parse(run.input());
            }
        }
        return JsonNodeFactory.instance.objectNode();
    }

    private long at(InboundJsonRequestBody body) {
        String at = body.text("at");
        String after = body.text("after");
        if (!at.isEmpty() && !after.isEmpty()) {
            throw ApiErrors.invalidRequest("send either `at` or `after`, not both");
        }
        if (!at.isEmpty()) {
            return TimeParser.parseTime(at);
        }
        return after.isEmpty() ? 0 : StoreReader.now(semel) + TimeParser.parseDuration(after);
    }

    static final class TimeParser {
        private TimeParser() {}

        static long parseTime(String text) {
            try {
                var at = OffsetDateTime.parse(text).toInstant();
                return Math.addExact(Math.multiplyExact(at.getEpochSecond(), 1_000_000L), at.getNano() / 1_000);
            } catch (DateTimeException | ArithmeticException e) {
                throw ApiErrors.invalidRequest("a time must be written like 2026-03-01T09:00:00Z");
            }
        }

        static long parseDuration(String text) {
            Duration length = DurationFormat.parse(text).orElse(null);
            if (length == null || length.compareTo(LONGEST) > 0) {
                throw ApiErrors.invalidRequest("a duration must be written like 500ms, 30s, 15m, 24h or 7d");
            }
            return length.toNanos() / 1_000;
        }
    }

    private static KeySimulationView outcome(
            IdempotencyKey key, WorkflowCatalogEntry workflow, JsonNode data, TriggerPreview outcome) {
        SimulatedRequest simulated =
                new SimulatedRequest(key.text(), workflow.published().name(), StoreTime.instant(outcome.at()));
        return switch (outcome.admission()) {
            case TriggerAdmissionDecision.Fresh _ -> fresh(simulated, workflow, data, outcome);
            case TriggerAdmissionDecision.Repeat repeat ->
                simulated.of(
                        KeySimulationView.Outcome.REPLAYED,
                        200,
                        repeat.keyRecord().runIdText(),
                        null,
                        null,
                        repeat.mismatch(),
                        repeat.changed(),
                        Optional.ofNullable(
                                StoreTime.instantOrNull(repeat.keyRecord().expiresAt())),
                        "200: the server returns run " + repeat.keyRecord().runIdText()
                                + (repeat.mismatch()
                                        ? ", although the data differ in " + String.join(", ", repeat.changed())
                                        : "")
                                + condition(outcome) + ". No new run starts.");
            case TriggerAdmissionDecision.Conflict conflict ->
                simulated.of(
                        KeySimulationView.Outcome.CONFLICT,
                        422,
                        conflict.keyRecord().runIdText(),
                        null,
                        conflict.reason().name().toLowerCase(Locale.ROOT),
                        null,
                        conflict.changed(),
                        null,
                        "422: " + conflictReason(conflict) + " No new run starts.");
            case TriggerAdmissionDecision.SamePayload same ->
                simulated.of(
                        KeySimulationView.Outcome.DUPLICATE_PAYLOAD,
                        409,
                        same.keyRecord().runIdText(),
                        null,
                        null,
                        null,
                        null,
                        null,
                        "409: the same payload started " + same.keyRecord().runIdText()
                                + " under another key. No new run starts.");
        };
    }

    /** The members that every outcome has. */
    private record SimulatedRequest(String key, String workflow, Instant at) {
        KeySimulationView of(
                KeySimulationView.Outcome outcome,
                int status,
                @Nullable String runId,
                @Nullable Optional<String> previousRunId,
                @Nullable String reason,
                @Nullable Boolean mismatch,
                @Nullable List<String> changed,
                @Nullable Optional<Instant> expiresAt,
                String summary) {
            return new KeySimulationView(
                    key,
                    workflow,
                    at,
                    outcome,
                    status,
                    runId,
                    previousRunId,
                    reason,
                    mismatch,
                    changed,
                    expiresAt,
                    summary,
                    true);
        }
    }

    private static String conflictReason(TriggerAdmissionDecision.Conflict conflict) {
        return switch (conflict.reason()) {
            case PAYLOAD -> "the data differ in " + String.join(", ", conflict.changed()) + ".";
            case WORKFLOW -> "the key belongs to a run of another workflow.";
            case RUN_ID -> "the key belongs to another run_id.";
        };
    }

    private static String condition(TriggerPreview outcome) {
        return outcome.assumesRunUnfinished() ? ", if the run has not ended by then" : "";
    }

    private static KeySimulationView fresh(
            SimulatedRequest simulated, WorkflowCatalogEntry workflow, JsonNode data, TriggerPreview outcome) {
        try {
            PublishedYamlWorkflow.checkInput(workflow.published(), data);
        } catch (SemelException e) {
            return simulated.of(
                    KeySimulationView.Outcome.REJECTED,
                    e.code().status(),
                    null,
                    null,
                    e.code().slug(),
                    null,
                    null,
                    null,
                    "400: the data do not match the workflow's input. No run starts. The key stays unused.");
        }
        RunDeduplicationKeyRecord previous = outcome.previousKey();
        return simulated.of(
                KeySimulationView.Outcome.NEW_RUN,
                200,
                null,
                Optional.ofNullable(previous).map(RunDeduplicationKeyRecord::runIdText),
                outcome.keyStatus() == null ? "new" : outcome.keyStatus().name().toLowerCase(Locale.ROOT),
                null,
                null,
                Optional.ofNullable(StoreTime.instantOrNull(outcome.keyExpiresAt())),
                "200: a new run starts" + because(outcome.keyStatus()) + ".");
    }

    private static String because(@Nullable KeyStatus why) {
        return switch (why) {
            case null -> ", because no run has the key";
            case LIVE -> "";
            case EXPIRED -> ", because the window of the key has ended by then";
            case RELEASED -> ", because the key was released";
            case FAILED -> " in the lineage of the failed run, because the workflow has on_failed: run_again";
        };
    }
}
