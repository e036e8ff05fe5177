package dev.semel.server;

import dev.semel.definition.WorkflowVersion;
import dev.semel.json.SizeLimits;
import dev.semel.runtime.SemelRuntime;
import dev.semel.server.access.ApiTokenRateLimiter;
import dev.semel.server.access.ApiTokenStore;
import dev.semel.server.access.UserAccountStore;
import dev.semel.server.api.ApiDescription;
import dev.semel.server.connectors.ingress.InboundEventProcessor;
import dev.semel.server.connectors.notification.UnsubscribeLinks;
import dev.semel.server.connectors.webhooks.WebhookReceiver;
import dev.semel.server.files.definition.WorkflowDefinition;
import dev.semel.server.http.CpuWorkPool;
import dev.semel.server.http.HttpRouter;
import dev.semel.server.http.TokenScope;
import dev.semel.server.operations.ApiLimits;
import dev.semel.server.operations.ApiRouter;
import dev.semel.server.operations.IdempotentInboundRequestExecutor;
import dev.semel.server.operations.OperationRouter;
import dev.semel.server.operations.PublishedYamlWorkflow;
import dev.semel.server.operations.WorkspaceIdAndSecretCache;
import dev.semel.server.operations.access.ApiTokenRoutes;
import dev.semel.server.operations.access.AuditRoutes;
import dev.semel.server.operations.access.PasswordChangeRoutes;
import dev.semel.server.operations.access.UserRoutes;
import dev.semel.server.operations.event.EventIngestionRoutes;
import dev.semel.server.operations.event.InboundWebhookDeliveryRoutes;
import dev.semel.server.operations.event.InboundWebhookRoutes;
import dev.semel.server.operations.event.StoredInboundEventRoutes;
import dev.semel.server.operations.idempotency.DuplicateRequestRoutes;
import dev.semel.server.operations.idempotency.EffectLedgerRoutes;
import dev.semel.server.operations.idempotency.IdempotencyKeyRoutes;
import dev.semel.server.operations.incident.IncidentReportRoutes;
import dev.semel.server.operations.monitoring.IdempotencyMetricsRoutes;
import dev.semel.server.operations.replay.RecoveryRoutes;
import dev.semel.server.operations.replay.RunReplayRoutes;
import dev.semel.server.operations.replay.RunResumeRoutes;
import dev.semel.server.operations.review.HumanReviewRoutes;
import dev.semel.server.operations.run.KeyedSignalRoutes;
import dev.semel.server.operations.run.NotificationLogRoutes;
import dev.semel.server.operations.run.RunCancelAndSignalRoutes;
import dev.semel.server.operations.run.RunPiiRevealRoutes;
import dev.semel.server.operations.run.RunRoutes;
import dev.semel.server.operations.run.RunUpdateStreamRoutes;
import dev.semel.server.operations.setting.UnsubscribeRoutes;
import dev.semel.server.operations.setting.WorkspaceSettingRouteRegistrar;
import dev.semel.server.operations.setting.WorkspaceSettingUpdater;
import dev.semel.server.operations.system.ClockRoutes;
import dev.semel.server.operations.system.DocumentationRoutes;
import dev.semel.server.operations.system.HealthRoutes;
import dev.semel.server.operations.system.PrometheusMetrics;
import dev.semel.server.operations.system.WorkerRoutes;
import dev.semel.server.operations.system.WorkspaceRoutes;
import dev.semel.server.operations.trigger.WorkflowTriggerBatchRoutes;
import dev.semel.server.operations.trigger.WorkflowTriggerRoutes;
import dev.semel.server.operations.workflow.ScheduleRoutes;
import dev.semel.server.operations.workflow.WorkflowDraftRoutes;
import dev.semel.server.operations.workflow.WorkflowIdempotencyExplanationRoutes;
import dev.semel.server.operations.workflow.WorkflowPublishValidator;
import dev.semel.server.operations.workflow.WorkflowRoutes;
import dev.semel.server.operations.workflow.WorkflowVersionRoutes;
import dev.semel.server.query.RunJsonRenderer;
import dev.semel.server.query.RunPiiMaskFactory;
import dev.semel.server.settings.WorkspaceSettingRepositories;
import dev.semel.store.DatabaseRows;
import java.time.Duration;
import java.time.InstantSource;
import tools.jackson.databind.JsonNode;

public final class ApiRoutes {
    private static final int LARGEST_BATCH = SizeLimits.DEFAULT.batchRequestBody();
    private static final int LARGEST_DEFINITION = 256 << 10;
    private static final CpuWorkPool.WorkLimits TEXT_CHECKS =
            CpuWorkPool.WorkLimits.of("checks of workflow texts and keys", 64, 8, Duration.ofSeconds(20));

    private final SemelRuntime semel;
    private final WorkflowRoutes workflows;
    private final WorkflowPublishValidator publishChecks = new WorkflowPublishValidator();
    private final IdempotentInboundRequestExecutor actions;
    private final WorkflowTriggerRoutes triggers;
    private final InboundEventProcessor eventIngress;
    private final StoredInboundEventRoutes storedEvents;
    private final RunUpdateStreamRoutes tail;
    private final CpuWorkPool cpu = new CpuWorkPool(TEXT_CHECKS);
    private final ApiRouter router = new ApiRouter(new HttpRouter(), cpu);
    private final OperationRouter operations = new OperationRouter(router.router(), cpu);

    public ApiRoutes(SemelRuntime semel, ApiTokenStore tokens, PrometheusMetrics metrics, boolean openMetrics) {
        this.semel = semel;
        WorkspaceIdAndSecretCache spaces = new WorkspaceIdAndSecretCache(semel);
        RunJsonRenderer views = new RunJsonRenderer(semel);
        ApiTokenRateLimiter quotas = new ApiTokenRateLimiter(semel::nanos);
        this.triggers = new WorkflowTriggerRoutes(semel, spaces, quotas);
        this.eventIngress = new InboundEventProcessor(semel, ports(spaces));
        this.actions = new IdempotentInboundRequestExecutor(semel);
        WorkflowVersionRoutes rollouts = new WorkflowVersionRoutes(semel, actions);
        this.workflows = new WorkflowRoutes(
                semel,
                actions,
                rollouts,
                publishChecks,
                cpu,
                () -> triggers.limits().maxSchedules());
        RunRoutes runs = new RunRoutes(semel, views);
        IdempotencyKeyRoutes keys = new IdempotencyKeyRoutes(semel, views, actions, spaces);
        RunCancelAndSignalRoutes acts = new RunCancelAndSignalRoutes(semel, views, actions);
        ApiTokenRoutes tokenRoutes = new ApiTokenRoutes(semel, tokens, actions);
        HealthRoutes health = new HealthRoutes(semel, metrics, ApiDescription::openApi);
        WorkflowTriggerBatchRoutes batches = new WorkflowTriggerBatchRoutes(triggers);
        router.post("/v1/workflows/{id}/trigger", TokenScope.TRIGGER, triggers::trigger)
                .put("/v1/workflows/{id}/runs/{run_id}", TokenScope.TRIGGER, triggers::startWithRunId)
                .change("POST", "/v1/workflows/{id}/trigger-batch", TokenScope.TRIGGER, batches::trigger, LARGEST_BATCH)
                .get("/v1/workflows", TokenScope.READ, workflows::list)
                .get("/v1/workflows/{id}", TokenScope.READ, workflows::get)
                .change("PUT", "/v1/workflows/{id}", TokenScope.ADMIN, workflows::publish, LARGEST_DEFINITION)
                .post("/v1/workflows/{id}/pause", TokenScope.OPERATE, workflows::pause)
                .post("/v1/workflows/{id}/resume", TokenScope.OPERATE, workflows::resume)
                .get("/v1/workflows/{id}/versions", TokenScope.READ, rollouts::list)
                .get("/v1/workflows/{id}/versions/{version}", TokenScope.READ, rollouts::get)
                .get("/v1/workflows/{id}/diff", TokenScope.READ, router.cpuBound(rollouts::diff))
                .post("/v1/workflows/{id}/promote", TokenScope.OPERATE, rollouts::promote)
                .post("/v1/workflows/{id}/rollback", TokenScope.OPERATE, rollouts::rollback)
                .post("/v1/runs/{run_id}/cancel", TokenScope.OPERATE, acts::cancel)
                .post("/v1/runs/{run_id}/signals/{name}", TokenScope.TRIGGER, acts::signal)
                .post("/v1/signals/{name}", TokenScope.TRIGGER, new KeyedSignalRoutes(semel)::send)
                .post("/v1/runs/{run_id}/decide", TokenScope.REVIEW, acts::decide)
                .post("/v1/tokens", TokenScope.ADMIN, tokenRoutes::create)
                .get("/v1/tokens", TokenScope.ADMIN, tokenRoutes::list)
                .delete("/v1/tokens/{token_id}", TokenScope.ADMIN, tokenRoutes::revoke)
                .get("/v1/openapi.json", TokenScope.READ, health::openApi)
                .get("/metrics", openMetrics ? TokenScope.OPEN : TokenScope.READ, health::metrics);
        addOpen(new DocumentationRoutes(), health);
        this.storedEvents = new StoredInboundEventRoutes(semel, eventIngress, views, actions);
        addEvents(new EventIngestionRoutes(eventIngress, quotas), storedEvents);
        keys.addTo(operations, router);
        this.tail = addStreams(new WorkflowIdempotencyExplanationRoutes(semel), views);
        addLists(runs, views);
        addOthers(views, tail);
        new EffectLedgerRoutes(semel).addTo(operations);
        new AuditRoutes(semel).addTo(operations);
        new RecoveryRoutes(semel).addTo(operations);
        new WorkerRoutes(semel).addTo(operations);
        new WorkspaceRoutes(semel).addTo(operations);
        new ClockRoutes(semel, actions).addTo(operations);
    }

    private InboundEventProcessor.Dependencies ports(WorkspaceIdAndSecretCache spaces) {
        return new InboundEventProcessor.Dependencies(
                spaces::get, this::check, () -> triggers.limits().maxRunDepth());
    }

    private void addLists(RunRoutes runs, RunJsonRenderer views) {
        router.get("/v1/workflows/{id}/log", TokenScope.READ, new NotificationLogRoutes(semel, runs)::list);
        runs.addTo(operations);
        new DuplicateRequestRoutes(semel, views).addTo(operations);
    }

    private void addOthers(RunJsonRenderer views, RunUpdateStreamRoutes streams) {
        new ScheduleRoutes(semel, actions).addTo(router);
        new RunReplayRoutes(semel, views, actions).addTo(router, streams);
        new RunResumeRoutes(semel, views, actions).addTo(router);
        new IdempotencyMetricsRoutes(semel, views).addTo(router);
        new HumanReviewRoutes(semel, actions).addTo(router);
        new RunPiiRevealRoutes(views, new RunPiiMaskFactory(semel), actions).addTo(router);
    }

    private RunUpdateStreamRoutes addStreams(WorkflowIdempotencyExplanationRoutes explanations, RunJsonRenderer views) {
        explanations.addTo(router);
        new WorkflowDraftRoutes(semel, workflows).addTo(router);
        RunUpdateStreamRoutes streams = new RunUpdateStreamRoutes(semel, views);
        streams.addTo(router);
        return streams;
    }

    private void addOpen(DocumentationRoutes manual, HealthRoutes health) {
        router.get("/schema/workflow-1.json", TokenScope.OPEN, manual::schema)
                .get("/docs/{page}", TokenScope.OPEN, manual::page)
                .get("/llms.txt", TokenScope.OPEN, manual::index)
                .get("/llms-full.txt", TokenScope.OPEN, manual::allPages)
                .get("/problems/{code}", TokenScope.OPEN, manual::problem)
                .getAlways("/healthz", health::live)
                .getAlways("/readyz", health::ready);
    }

    private void addEvents(EventIngestionRoutes events, StoredInboundEventRoutes storedEvents) {
        router.change("POST", "/v1/events", TokenScope.TRIGGER, events::post, LARGEST_BATCH)
                .get("/v1/events", TokenScope.READ, storedEvents::list)
                .post("/v1/events/reprocess", TokenScope.OPERATE, storedEvents::reprocessMany)
                .get("/v1/events/{event_id}", TokenScope.READ, storedEvents::get)
                .post("/v1/events/{event_id}/reprocess", TokenScope.OPERATE, storedEvents::reprocess);
    }

    /** Adds the routes for workspace settings and incident reports. */
    public ApiRoutes addRoutesFor(WorkspaceSettingRepositories settings) {
        publishChecks.setSettings(settings);
        new WorkspaceSettingRouteRegistrar(settings).addTo(router, actions);
        new IncidentReportRoutes(semel, settings.incidents(), new WorkspaceSettingUpdater(actions)).addTo(router);
        return this;
    }

    private void check(WorkflowVersion workflow, JsonNode input) {
        PublishedYamlWorkflow.checkInput(workflow, input);
        semel.events().checkInput(workflow.name(), input);
    }

    public ApiRoutes setLimits(ApiLimits bounds) {
        triggers.setLimits(bounds);
        return this;
    }

    /** The event ingress that other trigger sources deliver their events to. */
    public InboundEventProcessor eventIngress() {
        return eventIngress;
    }

    /** @param publicUrl the URL of this server for providers; empty if it is not set */
    public ApiRoutes addWebhooks(WorkspaceSettingRepositories settings, InstantSource clock, String publicUrl) {
        new InboundWebhookRoutes(semel, settings, new WorkspaceSettingUpdater(actions), clock).addTo(router);
        WebhookReceiver webhookReceiver = new WebhookReceiver(semel, settings, eventIngress, clock);
        new InboundWebhookDeliveryRoutes(semel, webhookReceiver, actions, publicUrl).addTo(router);
        storedEvents.setWebhookReceiver(webhookReceiver);
        return this;
    }

    public ApiRoutes addUnsubscribeLinks(WorkspaceSettingRepositories settings, UnsubscribeLinks links) {
        new UnsubscribeRoutes(semel, settings, links).addTo(router);
        return this;
    }

    public ApiRoutes addRoutesFor(UserAccountStore users) {
        new UserRoutes(semel, users, actions).addTo(router);
        new PasswordChangeRoutes(semel, users, actions).addTo(router);
        return this;
    }

    /** Closes the open event streams, so that a stopping server does not wait for their clients. */
    public void endStreams() {
        tail.endAll();
    }

    public HttpRouter router() {
        return router.router();
    }

    /** Publishes a workflow file from the local disk. */
    public DatabaseRows.WorkflowRow publish(int workspace, WorkflowDefinition definition) {
        return workflows.publish(workspace, definition, "file");
    }
}
