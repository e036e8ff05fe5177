package dev.semel.server.api;

import dev.semel.runtime.SemelRuntime;
import dev.semel.server.access.UserAccounts;
import dev.semel.server.access.TriggerQuotas;
import dev.semel.server.access.ApiTokens;
import dev.semel.server.definition.WorkflowDefinition;
import dev.semel.server.ingress.EventIngress;
import dev.semel.server.webhooks.WebhookReceiver;
import dev.semel.server.http.RouteHandler;
import dev.semel.server.http.Route;
import dev.semel.server.http.Router;
import dev.semel.server.http.TokenScope;
import dev.semel.server.settings.WorkspaceSettings;
import dev.semel.store.StoredRows;
import dev.semel.definition.WorkflowVersion;
import java.time.InstantSource;
import tools.jackson.databind.JsonNode;

/** Registers all routes of the REST API with the router. */
public final class ApiRoutes {
    private static final int LARGEST_BATCH = 16 << 20;
    private static final int LARGEST_DEFINITION = 256 << 10;

    private final SemelRuntime semel;
    private final WorkflowRoutes workflows;
    private final PublishChecks publishChecks = new PublishChecks();
    private final IdempotentActions actions;
    private final TriggerRoutes triggers;
    private final EventIngress eventIngress;
    private final StoredEventRoutes storedEvents;
    private final LiveUpdateStreams tail;
    private final Router router;

    public ApiRoutes(SemelRuntime semel, ApiTokens tokens, PrometheusMetrics metrics, boolean openMetrics) {
        this.semel = semel;
        WorkspaceCache spaces = new WorkspaceCache(semel);
        JsonViews views = new JsonViews(semel);
        TriggerQuotas quotas = new TriggerQuotas(semel::nanos);
        this.triggers = new TriggerRoutes(semel, spaces, quotas);
        this.eventIngress = new EventIngress(semel, ports(spaces));
        this.actions = new IdempotentActions(semel);
        WorkflowVersionRoutes rollouts = new WorkflowVersionRoutes(semel, triggers, actions);
        this.workflows = new WorkflowRoutes(semel, actions, rollouts, publishChecks);
        RunRoutes runs = new RunRoutes(semel, views, triggers);
        KeyRoutes keys = new KeyRoutes(semel, views, actions, spaces);
        RunActionRoutes acts = new RunActionRoutes(semel, views, actions);
        TokenRoutes tokenRoutes = new TokenRoutes(semel, tokens, actions);
        HealthRoutes health = new HealthRoutes(semel, metrics);
        TriggerBatchRoutes batches = new TriggerBatchRoutes(triggers);
        this.router = new Router()
                .add(post("/v1/workflows/{id}/trigger", TokenScope.TRIGGER, triggers::trigger))
                .add(new Route("PUT", "/v1/workflows/{id}/runs/{run_id}", TokenScope.TRIGGER, triggers::startWithRunId)
                        .withHeaderCheck(TriggerRoutes::checkKey))
                .add(post("/v1/workflows/{id}/trigger-batch", TokenScope.TRIGGER, batches::trigger)
                        .withMaxBody(LARGEST_BATCH))
                .add("GET", "/v1/workflows", TokenScope.READ, workflows::list)
                .add("GET", "/v1/workflows/{id}", TokenScope.READ, workflows::get)
                .add(new Route("PUT", "/v1/workflows/{id}", TokenScope.ADMIN, workflows::publish)
                        .withMaxBody(LARGEST_DEFINITION)
                        .withHeaderCheck(TriggerRoutes::checkKey))
                .add(post("/v1/workflows/{id}/pause", TokenScope.OPERATE, workflows::pause))
                .add(post("/v1/workflows/{id}/resume", TokenScope.OPERATE, workflows::resume))
                .add("GET", "/v1/workflows/{id}/versions", TokenScope.READ, rollouts::list)
                .add("GET", "/v1/workflows/{id}/versions/{version}", TokenScope.READ, rollouts::get)
                .add("GET", "/v1/workflows/{id}/diff", TokenScope.READ, rollouts::diff)
                .add(post("/v1/workflows/{id}/promote", TokenScope.OPERATE, rollouts::promote))
                .add(post("/v1/workflows/{id}/rollback", TokenScope.OPERATE, rollouts::rollback))
                .add("GET", "/v1/workflows/{id}/runs", TokenScope.READ, runs::listOfWorkflow)
                .add("GET", "/v1/runs", TokenScope.READ, runs::list)
                .add("GET", "/v1/runs/{run_id}", TokenScope.READ, runs::get)
                .add("GET", "/v1/runs/{run_id}/timeline", TokenScope.READ, runs::timeline)
                .add("GET", "/v1/runs/{run_id}/requests", TokenScope.READ, runs::requests)
                .add(post("/v1/runs/{run_id}/cancel", TokenScope.OPERATE, acts::cancel))
                .add(post("/v1/runs/{run_id}/signals/{name}", TokenScope.TRIGGER, acts::signal))
                .add(post("/v1/signals/{name}", TokenScope.TRIGGER, new KeyedSignalRoutes(semel)::send))
                .add(post("/v1/runs/{run_id}/decide", TokenScope.REVIEW, acts::decide))
                .add("GET", "/v1/effects", TokenScope.READ, new EffectRoutes(semel)::list)
                .add(post("/v1/tokens", TokenScope.ADMIN, tokenRoutes::create))
                .add("GET", "/v1/tokens", TokenScope.ADMIN, tokenRoutes::list)
                .add(new Route("DELETE", "/v1/tokens/{token_id}", TokenScope.ADMIN, tokenRoutes::revoke)
                        .withHeaderCheck(TriggerRoutes::checkKey))
                .add("GET", "/v1/workers", TokenScope.READ, new WorkerRoutes(semel)::list)
                .add("GET", "/v1/audit", TokenScope.READ, new AuditRoutes(semel)::list)
                .add("GET", "/v1/openapi.json", TokenScope.READ, health::openApi)
                .add("GET", "/metrics", openMetrics ? TokenScope.OPEN : TokenScope.READ, health::metrics);
        addOpen(new DocumentationRoutes(), health);
        this.storedEvents = new StoredEventRoutes(semel, eventIngress, views, actions);
        addEvents(new EventRoutes(eventIngress, quotas), storedEvents);
        keys.addTo(router);
        this.tail = addStreams(new ExplanationRoutes(triggers), views);
        addLists(runs, views);
        addOthers(views, tail);
    }

    private EventIngress.Dependencies ports(WorkspaceCache spaces) {
        return new EventIngress.Dependencies(
                spaces::get, this::check, () -> triggers.limits().maxRunDepth());
    }

    private void addLists(RunRoutes runs, JsonViews views) {
        router.add("GET", "/v1/requests", TokenScope.READ, new DuplicateRequestRoutes(semel, views, triggers)::list)
                .add("GET", "/v1/workflows/{id}/log", TokenScope.READ, new MessageLogRoutes(semel, runs, triggers)::list);
    }

    private void addOthers(JsonViews views, LiveUpdateStreams streams) {
        new ScheduleRoutes(semel, actions).addTo(router);
        new ReplayRoutes(semel, views, triggers, actions).addTo(router, streams);
        new RunResumeRoutes(semel, views, actions).addTo(router);
        new MonitoringRoutes(semel, views).addTo(router);
        new ReviewRoutes(semel, actions).addTo(router);
        new WorkspaceRoutes(semel).addTo(router);
        new RunRevealRoutes(views, new PiiMasks(semel), actions).addTo(router);
    }

    private LiveUpdateStreams addStreams(ExplanationRoutes explanations, JsonViews views) {
        explanations.addTo(router);
        new WorkflowDraftRoutes(semel, workflows).addTo(router);
        LiveUpdateStreams streams = new LiveUpdateStreams(semel, views);
        streams.addTo(router);
        return streams;
    }

    private void addOpen(DocumentationRoutes manual, HealthRoutes health) {
        router.add("GET", "/schema/workflow-1.json", TokenScope.OPEN, manual::schema)
                .add("GET", "/docs/{page}", TokenScope.OPEN, manual::page)
                .add("GET", "/problems/{code}", TokenScope.OPEN, manual::problem)
                .add("GET", "/healthz", TokenScope.OPEN, health::live)
                .add("GET", "/readyz", TokenScope.OPEN, health::ready);
    }

    private void addEvents(EventRoutes events, StoredEventRoutes storedEvents) {
        router.add(post("/v1/events", TokenScope.TRIGGER, events::post).withMaxBody(LARGEST_BATCH))
                .add("GET", "/v1/events", TokenScope.READ, storedEvents::list)
                .add(post("/v1/events/reprocess", TokenScope.OPERATE, storedEvents::reprocessMany))
                .add("GET", "/v1/events/{event_id}", TokenScope.READ, storedEvents::get)
                .add(post("/v1/events/{event_id}/reprocess", TokenScope.OPERATE, storedEvents::reprocess));
    }

    private static Route post(String pattern, TokenScope scope, RouteHandler handler) {
        return mutationRoute("POST", pattern, scope, handler);
    }

    /** A route that changes state. It rejects a malformed `Idempotency-Key` before it reads the body. */
    static Route mutationRoute(String method, String pattern, TokenScope scope, RouteHandler handler) {
        return new Route(method, pattern, scope, handler).withHeaderCheck(TriggerRoutes::checkKey);
    }

    /** Adds the routes for workspace settings and incident reports. */
    public ApiRoutes addRoutesFor(WorkspaceSettings settings) {
        publishChecks.setSettings(settings);
        new WorkspaceSettingRoutes(settings).addTo(router, actions);
        new IncidentRoutes(semel, settings.incidents(), new SettingActions(actions), triggers).addTo(router);
        return this;
    }

    private void check(WorkflowVersion workflow, JsonNode input) {
        FileWorkflow.checkInput(workflow, input);
        semel.events().checkInput(workflow.name(), input);
    }

    /** Sets the limits on run depth and schedules. */
    public ApiRoutes setLimits(ApiLimits bounds) {
        triggers.setLimits(bounds);
        return this;
    }

    /** The event ingress that other trigger sources deliver their events to. */
    public EventIngress eventIngress() {
        return eventIngress;
    }

    /** Adds the webhook endpoint for providers and the routes that configure webhooks. */
    public ApiRoutes addWebhooks(WorkspaceSettings settings, InstantSource clock) {
        new WebhookRoutes(semel, settings, new SettingActions(actions), clock).addTo(router);
        WebhookReceiver hooks = new WebhookReceiver(semel, settings, eventIngress, clock);
        new WebhookDeliveryRoutes(semel, hooks, actions).addTo(router);
        storedEvents.setWebhookReceiver(hooks);
        return this;
    }

    /** Adds the routes for users and their passwords. */
    public ApiRoutes addRoutesFor(UserAccounts people) {
        new UserRoutes(semel, people, actions).addTo(router);
        new PasswordRoutes(semel, people, actions).addTo(router);
        return this;
    }

    /** Closes the open event streams, so that a stopping server does not wait for their clients. */
    public void endStreams() {
        tail.endAll();
    }

    public Router router() {
        return router;
    }

    /** Publishes a workflow file from the local disk. */
    public StoredRows.WorkflowRow publish(int workspace, WorkflowDefinition definition) {
        return workflows.publish(workspace, definition, "file");
    }
}
