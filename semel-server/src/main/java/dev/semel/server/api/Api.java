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

/** Every route of the API, in one list. */
public final class Api {
    private static final int LARGEST_BATCH = 16 << 20;
    private static final int LARGEST_DEFINITION = 256 << 10;

    private final Semel semel;
    private final Workflows workflows;
    private final Promises promises = new Promises();
    private final Deeds deeds;
    private final Triggers triggers;
    private final EventDoor eventDoor;
    private final EventShelf shelf;
    private final Tail tail;
    private final Router router;

    public Api(Semel semel, Tokens tokens, Metrics metrics, boolean openMetrics) {
        this.semel = semel;
        Spaces spaces = new Spaces(semel);
        Views views = new Views(semel);
        Quotas quotas = new Quotas(semel::nanos);
        this.triggers = new Triggers(semel, spaces, quotas);
        this.eventDoor = new EventDoor(semel, ports(spaces));
        this.deeds = new Deeds(semel);
        Rollouts rollouts = new Rollouts(semel, triggers, deeds);
        this.workflows = new Workflows(semel, deeds, rollouts, promises);
        Runs runs = new Runs(semel, views, triggers);
        Keys keys = new Keys(semel, views, deeds, spaces);
        RunActs acts = new RunActs(semel, views, deeds);
        TokenRoutes tokenRoutes = new TokenRoutes(semel, tokens, deeds);
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
        this.shelf = new EventShelf(semel, eventDoor, views, deeds);
        addEvents(new EventRoutes(eventDoor, quotas), shelf);
        keys.addTo(router);
        this.tail = watching(new Explanations(triggers), views);
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
        new ScheduleRoutes(semel, deeds).addTo(router);
        new ReplayRoutes(semel, views, triggers, deeds).addTo(router, streams);
        new ResumeRoutes(semel, views, deeds).addTo(router);
        new SignalRoutes(semel, views).addTo(router);
        new ReviewRoutes(semel, deeds).addTo(router);
        new WorkspaceRoutes(semel).addTo(router);
        new RevealRoutes(views, new Masks(semel), deeds).addTo(router);
    }

    private Tail watching(Explanations explanations, Views views) {
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

    private void addEvents(EventRoutes events, EventShelf shelf) {
        router.add(post("/v1/events", Scope.TRIGGER, events::post).withMaxBody(LARGEST_BATCH))
                .add("GET", "/v1/events", Scope.READ, shelf::list)
                .add(post("/v1/events/reprocess", Scope.OPERATE, shelf::reprocessMany))
                .add("GET", "/v1/events/{event_id}", Scope.READ, shelf::get)
                .add(post("/v1/events/{event_id}/reprocess", Scope.OPERATE, shelf::reprocess));
    }

    private static Route post(String pattern, Scope scope, Handler handler) {
        return changing("POST", pattern, scope, handler);
    }

    /** Whatever changes something accepts a key, and a malformed one is refused before anything else is read. */
    static Route changing(String method, String pattern, Scope scope, Handler handler) {
        return new Route(method, pattern, scope, handler).withHead(Triggers::checkKey);
    }

    /** Adds the routes to what a workspace keeps beside its workflows. */
    public Api with(Settings settings) {
        promises.with(settings);
        new SettingsApi(settings).addTo(router, deeds);
        new IncidentRoutes(semel, settings.incidents(), new SettingDeeds(deeds), triggers).addTo(router);
        return this;
    }

    private void check(Published workflow, JsonNode input) {
        FileWorkflow.check(workflow, input);
        semel.events().check(workflow.name(), input);
    }

    /** What nobody may go beyond here. */
    public Api within(Bounds bounds) {
        triggers.within(bounds);
        return this;
    }

    /** Through which other doors hand in what they were told. */
    public EventDoor eventDoor() {
        return eventDoor;
    }

    /** Adds the door for providers, and the routes to its hooks. */
    public Api receiving(Settings settings, InstantSource clock) {
        new HookRoutes(semel, settings, new SettingDeeds(deeds), clock).addTo(router);
        HookDoor hooks = new HookDoor(semel, settings, eventDoor, clock);
        new Deliveries(semel, hooks, deeds).addTo(router);
        shelf.with(hooks);
        return this;
    }

    /** Adds the routes to the people who log in. */
    public Api with(People people) {
        new PeopleRoutes(semel, people, deeds).addTo(router);
        new PasswordRoutes(semel, people, deeds).addTo(router);
        return this;
    }

    /** Ends the streams that are open: a server that stops need not wait for those who listen. */
    public void endStreams() {
        tail.end();
    }

    public Router router() {
        return router;
    }

    /** Publishes a file that lies on this machine. */
    public Rows.Workflow publish(int workspace, Definition definition) {
        return workflows.publish(workspace, definition, "file");
    }
}
