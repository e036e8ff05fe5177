package dev.semel.server.api;

import dev.semel.Semel;
import dev.semel.server.auth.People;
import dev.semel.server.auth.Quotas;
import dev.semel.server.auth.Tokens;
import dev.semel.server.definition.Definition;
import dev.semel.server.doors.EventDoor;
import dev.semel.server.hooks.HookDoor;
import dev.semel.server.http.Handler;
import dev.semel.server.http.Route;
import dev.semel.server.http.Router;
import dev.semel.server.http.Scope;
import dev.semel.server.settings.Settings;
import dev.semel.store.Rows;
import dev.semel.workflow.Published;
import java.time.InstantSource;
import tools.jackson.databind.JsonNode;

/** Registers all routes of the REST API with the router. */
public final class Api {
    private static final int LARGEST_BATCH = 16 << 20;
    private static final int LARGEST_DEFINITION = 256 << 10;

    private final Semel semel;
    private final Workflows workflows;
    private final Promises publishChecks = new Promises();
    private final Deeds actions;
    private final Triggers triggers;
    private final EventDoor eventDoor;
    private final EventShelf storedEvents;
    private final Tail tail;
    private final Router router;

    public Api(Semel semel, Tokens tokens, Metrics metrics, boolean openMetrics) {
        this.semel = semel;
        Spaces spaces = new Spaces(semel);
        Views views = new Views(semel);
        Quotas quotas = new Quotas(semel::nanos);
        this.triggers = new Triggers(semel, spaces, quotas);
        this.eventDoor = new EventDoor(semel, ports(spaces));
        this.actions = new Deeds(semel);
        Rollouts rollouts = new Rollouts(semel, triggers, actions);
        this.workflows = new Workflows(semel, actions, rollouts, publishChecks);
        Runs runs = new Runs(semel, views, triggers);
        Keys keys = new Keys(semel, views, actions, spaces);
        RunActs acts = new RunActs(semel, views, actions);
        TokenRoutes tokenRoutes = new TokenRoutes(semel, tokens, actions);
        Health health = new Health(semel, metrics);
        Batches batches = new Batches(triggers);
        this.router = new Router()
                .add(post("/v1/workflows/{id}/trigger", Scope.TRIGGER, triggers::trigger))
                .add(new Route("PUT", "/v1/workflows/{id}/runs/{run_id}", Scope.TRIGGER, triggers::put)
                        .withHead(Triggers::checkKey))
                .add(post("/v1/workflows/{id}/trigger-batch", Scope.TRIGGER, batches::trigger)
                        .withMaxBody(LARGEST_BATCH))
                .add("GET", "/v1/workflows", Scope.READ, workflows::list)
                .add("GET", "/v1/workflows/{id}", Scope.READ, workflows::get)
                .add(new Route("PUT", "/v1/workflows/{id}", Scope.ADMIN, workflows::publish)
                        .withMaxBody(LARGEST_DEFINITION)
                        .withHead(Triggers::checkKey))
                .add(post("/v1/workflows/{id}/pause", Scope.OPERATE, workflows::pause))
                .add(post("/v1/workflows/{id}/resume", Scope.OPERATE, workflows::resume))
                .add("GET", "/v1/workflows/{id}/versions", Scope.READ, rollouts::list)
                .add("GET", "/v1/workflows/{id}/versions/{version}", Scope.READ, rollouts::get)
                .add("GET", "/v1/workflows/{id}/diff", Scope.READ, rollouts::diff)
                .add(post("/v1/workflows/{id}/promote", Scope.OPERATE, rollouts::promote))
                .add(post("/v1/workflows/{id}/rollback", Scope.OPERATE, rollouts::rollback))
                .add("GET", "/v1/workflows/{id}/runs", Scope.READ, runs::ofWorkflow)
                .add("GET", "/v1/runs", Scope.READ, runs::list)
                .add("GET", "/v1/runs/{run_id}", Scope.READ, runs::get)
                .add("GET", "/v1/runs/{run_id}/timeline", Scope.READ, runs::timeline)
                .add("GET", "/v1/runs/{run_id}/requests", Scope.READ, runs::requests)
                .add(post("/v1/runs/{run_id}/cancel", Scope.OPERATE, acts::cancel))
                .add(post("/v1/runs/{run_id}/signals/{name}", Scope.TRIGGER, acts::signal))
                .add(post("/v1/signals/{name}", Scope.TRIGGER, new LetterRoutes(semel)::send))
                .add(post("/v1/runs/{run_id}/decide", Scope.REVIEW, acts::decide))
                .add("GET", "/v1/effects", Scope.READ, new EffectRoutes(semel)::list)
                .add(post("/v1/tokens", Scope.ADMIN, tokenRoutes::create))
                .add("GET", "/v1/tokens", Scope.ADMIN, tokenRoutes::list)
                .add(new Route("DELETE", "/v1/tokens/{token_id}", Scope.ADMIN, tokenRoutes::revoke)
                        .withHead(Triggers::checkKey))
                .add("GET", "/v1/workers", Scope.READ, new Workers(semel)::list)
                .add("GET", "/v1/audit", Scope.READ, new AuditRoutes(semel)::list)
                .add("GET", "/v1/openapi.json", Scope.READ, health::openApi)
                .add("GET", "/metrics", openMetrics ? Scope.OPEN : Scope.READ, health::metrics);
        addOpen(new Manual(), health);
        this.storedEvents = new EventShelf(semel, eventDoor, views, actions);
        addEvents(new EventRoutes(eventDoor, quotas), storedEvents);
        keys.addTo(router);
        this.tail = addStreams(new Explanations(triggers), views);
        addLists(runs, views);
        addOthers(views, tail);
    }

    private EventDoor.Ports ports(Spaces spaces) {
        return new EventDoor.Ports(
                spaces::of, this::check, () -> triggers.bounds().depth());
    }

    private void addLists(Runs runs, Views views) {
        router.add("GET", "/v1/requests", Scope.READ, new RequestRoutes(semel, views, triggers)::list)
                .add("GET", "/v1/workflows/{id}/log", Scope.READ, new MessageLog(semel, runs, triggers)::list);
    }

    private void addOthers(Views views, Tail streams) {
        new ScheduleRoutes(semel, actions).addTo(router);
        new ReplayRoutes(semel, views, triggers, actions).addTo(router, streams);
        new ResumeRoutes(semel, views, actions).addTo(router);
        new SignalRoutes(semel, views).addTo(router);
        new ReviewRoutes(semel, actions).addTo(router);
        new WorkspaceRoutes(semel).addTo(router);
        new RevealRoutes(views, new Masks(semel), actions).addTo(router);
    }

    private Tail addStreams(Explanations explanations, Views views) {
        explanations.addTo(router);
        new Drafts(semel, workflows).addTo(router);
        Tail streams = new Tail(semel, views);
        streams.addTo(router);
        return streams;
    }

    private void addOpen(Manual manual, Health health) {
        router.add("GET", "/schema/workflow-1.json", Scope.OPEN, manual::schema)
                .add("GET", "/docs/{page}", Scope.OPEN, manual::page)
                .add("GET", "/problems/{code}", Scope.OPEN, manual::problem)
                .add("GET", "/healthz", Scope.OPEN, health::alive)
                .add("GET", "/readyz", Scope.OPEN, health::ready);
    }

    private void addEvents(EventRoutes events, EventShelf storedEvents) {
        router.add(post("/v1/events", Scope.TRIGGER, events::post).withMaxBody(LARGEST_BATCH))
                .add("GET", "/v1/events", Scope.READ, storedEvents::list)
                .add(post("/v1/events/reprocess", Scope.OPERATE, storedEvents::reprocessMany))
                .add("GET", "/v1/events/{event_id}", Scope.READ, storedEvents::get)
                .add(post("/v1/events/{event_id}/reprocess", Scope.OPERATE, storedEvents::reprocess));
    }

    private static Route post(String pattern, Scope scope, Handler handler) {
        return changing("POST", pattern, scope, handler);
    }

    /** A route that changes state. It rejects a malformed `Idempotency-Key` before it reads the body. */
    static Route changing(String method, String pattern, Scope scope, Handler handler) {
        return new Route(method, pattern, scope, handler).withHead(Triggers::checkKey);
    }

    /** Adds the routes for workspace settings and incident reports. */
    public Api with(Settings settings) {
        publishChecks.with(settings);
        new SettingsApi(settings).addTo(router, actions);
        new IncidentRoutes(semel, settings.incidents(), new SettingDeeds(actions), triggers).addTo(router);
        return this;
    }

    private void check(Published workflow, JsonNode input) {
        FileWorkflow.check(workflow, input);
        semel.events().check(workflow.name(), input);
    }

    /** Sets the limits on run depth and schedules. */
    public Api within(Bounds bounds) {
        triggers.within(bounds);
        return this;
    }

    /** The event ingress that other trigger sources deliver their events to. */
    public EventDoor eventDoor() {
        return eventDoor;
    }

    /** Adds the webhook endpoint for providers and the routes that configure webhooks. */
    public Api receiving(Settings settings, InstantSource clock) {
        new HookRoutes(semel, settings, new SettingDeeds(actions), clock).addTo(router);
        HookDoor hooks = new HookDoor(semel, settings, eventDoor, clock);
        new Deliveries(semel, hooks, actions).addTo(router);
        storedEvents.with(hooks);
        return this;
    }

    /** Adds the routes for users and their passwords. */
    public Api with(People people) {
        new PeopleRoutes(semel, people, actions).addTo(router);
        new PasswordRoutes(semel, people, actions).addTo(router);
        return this;
    }

    /** Closes the open event streams, so that a stopping server does not wait for their clients. */
    public void endStreams() {
        tail.end();
    }

    public Router router() {
        return router;
    }

    /** Publishes a workflow file from the local disk. */
    public Rows.Workflow publish(int workspace, Definition definition) {
        return workflows.publish(workspace, definition, "file");
    }
}
