package dev.semel.server.api;

import dev.semel.runtime.SemelRuntime;
import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.json.StrictJson;
import dev.semel.server.ingress.EventDeliveryResult;
import dev.semel.server.ingress.EventOrigin;
import dev.semel.server.ingress.InboundEvent;
import dev.semel.server.ingress.EventIngress;
import dev.semel.server.ingress.StoredEventReader;
import dev.semel.server.ingress.ParallelTasks;
import dev.semel.server.webhooks.WebhookReceiver;
import dev.semel.server.http.HttpResponse;
import dev.semel.server.http.Principal;
import dev.semel.server.http.HttpRequest;
import dev.semel.store.UniqueKey;
import dev.semel.store.StoreQueries;
import dev.semel.store.StoredRows;
import dev.semel.trigger.TriggerSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** Lists stored inbound events, shows their runs, and processes events again (`/v1/events`). */
final class StoredEventRoutes {
    private static final int MOST_RUNS = 1_000;
    private static final int MOST_AT_ONCE = 200;
    private static final Set<String> MEMBERS =
            Set.of("type", "source", "unmatched", "since", "after", "limit", "dry_run");

    private final SemelRuntime semel;
    private final EventIngress ingress;
    private final JsonViews views;
    private final IdempotentActions actions;
    private final EventMasks masks;
    private @Nullable WebhookReceiver webhooks;

    StoredEventRoutes(SemelRuntime semel, EventIngress ingress, JsonViews views, IdempotentActions actions) {
        this.semel = semel;
        this.actions = actions;
        this.ingress = ingress;
        this.masks = new EventMasks(ingress);
        this.views = views;
    }

    /** Sets the webhook receiver, which stores the payloads of webhook events. */
    void setWebhookReceiver(WebhookReceiver value) {
        webhooks = value;
    }

    /** The event filter, from a query or from the body of a reprocess request. */
    private record EventQuery(
            @Nullable String type,
            @Nullable String source,
            @Nullable String unmatched,
            @Nullable String since,
            PagingParameters paging) {}

    HttpResponse list(HttpRequest request) {
        String id = request.query("id");
        if (id != null) {
            return pageJson(findBySource(request.principal(), request.query("source"), id));
        }
        StoreQueries.EventPage page = page(
                request.principal(),
                new EventQuery(
                        request.query("type"),
                        request.query("source"),
                        request.query("unmatched"),
                        request.query("since"),
                        PagingParameters.parse(request)));
        return pageJson(page);
    }

    private HttpResponse pageJson(StoreQueries.EventPage page) {
        ObjectNode out = JsonViews.newObject();
        ArrayNode items = out.putArray("items");
        page.found().forEach(event -> items.add(eventJson(event)));
        out.put("next", page.next() == null ? null : PagingParameters.cursor(page.next()));
        return JsonViews.ok(out);
    }

    private ObjectNode eventJson(StoredRows.EventRow event) {
        return EventViews.storedEventJson(event, masks.mask(event));
    }

    /** Finds an event by its sender's source and id, received directly or by webhook. */
    private StoreQueries.EventPage findBySource(Principal who, @Nullable String source, String id) {
        if (source == null) {
            throw PagingParameters.invalidQuery("id needs source as well: both together identify an event");
        }
        List<StoredRows.EventRow> found = new ArrayList<>();
        for (TriggerSource each : List.of(TriggerSource.EVENT, TriggerSource.HOOK)) {
            String eventId = EventIngress.eventIdOf(each, source, id);
            StoredRows.EventRow event = semel.view(reads -> reads.event(who.workspace(), eventId));
            if (event != null) {
                found.add(event);
            }
        }
        return new StoreQueries.EventPage(found, null);
    }

    private StoreQueries.EventPage page(Principal who, EventQuery query) {
        long now = now();
        StoreQueries.EventFilter filter = new StoreQueries.EventFilter(
                who.workspace(),
                query.type(),
                query.source(),
                flag("unmatched", query.unmatched()),
                query.since() == null ? 0 : now - RunRoutes.RunListFilter.parseAge(query.since()),
                query.paging().afterId(),
                query.paging().limit());
        StoreQueries.EventPage page = semel.view(reads -> reads.events(filter));
        return page == null ? new StoreQueries.EventPage(List.of(), null) : page;
    }

    private long now() {
        Long now = semel.view(reads -> reads.now());
        return now == null ? 0 : now;
    }

    private static boolean flag(String name, @Nullable String text) {
        if (text != null && !text.equals("true") && !text.equals("false")) {
            throw PagingParameters.invalidQuery(name + " must be true or false");
        }
        return "true".equals(text);
    }

    HttpResponse get(HttpRequest request) {
        StoredRows.EventRow event = find(request);
        ObjectNode out = eventJson(event);
        ArrayNode runs = out.putArray("runs");
        UniqueKey.KeyKind kind = event.triggerSource() == TriggerSource.HOOK ? UniqueKey.KeyKind.HOOK : UniqueKey.KeyKind.EVENT;
        List<StoredRows.KeyRow> names =
                semel.view(reads -> reads.keysStartingWith(event.ws(), kind, event.eventId() + "/", MOST_RUNS));
        for (StoredRows.KeyRow held : names == null ? List.<StoredRows.KeyRow>of() : names) {
            StoredRows.RunRow run =
                    semel.view(reads -> reads.run(event.ws(), held.keyRecord().run()));
            if (run != null) {
                runs.add(views.runWithRequests(run));
            }
        }
        return JsonViews.ok(out);
    }

    private StoredRows.EventRow find(HttpRequest request) {
        String id = request.parameter("event_id");
        StoredRows.EventRow event = semel.view(reads -> reads.event(request.principal().workspace(), id));
        if (event == null) {
            throw new SemelException(
                    ErrorCode.NOT_FOUND,
                    "This workspace has no event with this id. Semel stores events for seven days. No run was started.",
                    "Check the id (evt_…), or list the events with GET /v1/events.");
        }
        return event;
    }

    HttpResponse reprocess(HttpRequest request) {
        boolean dry = flag("dry_run", request.query("dry_run"));
        StoredRows.EventRow event = find(request);
        var entry = new IdempotentActions.AuditNote("event.reprocess", event.eventId(), "");
        ObjectNode out = reprocessEvent(event, request, dry, () -> actions.recordAudit(request, entry));
        return JsonViews.ok(out.put("dry_run", dry));
    }

    /** Reprocesses one page of matching events, newest first. The response has a cursor to continue from. */
    HttpResponse reprocessMany(HttpRequest request) {
        JsonNode body = JsonNodeFactory.instance.objectNode();
        if (request.body().length > 0) {
            ContentTypeCheck.requireJson(request);
            body = StrictJson.parse(request.body());
        }
        if (!body.isObject()) {
            throw TriggerRequestBody.invalidBody("", "the body must be a JSON object with a filter");
        }
        for (String name : body.propertyNames()) {
            if (!MEMBERS.contains(name)) {
                throw TriggerRequestBody.invalidBody(
                        "",
                        "the filter supports only "
                                + String.join(", ", MEMBERS.stream().sorted().toList()));
            }
        }
        boolean dry = flag("dry_run", text(body, "dry_run"));
        String limit = text(body, "limit");
        PagingParameters paging = new PagingParameters(limit == null ? MOST_AT_ONCE : PagingParameters.parseLimit(limit), text(body, "after"));
        StoreQueries.EventPage page = page(
                request.principal(),
                new EventQuery(
                        text(body, "type"),
                        text(body, "source"),
                        text(body, "unmatched"),
                        text(body, "since"),
                        paging));
        Runnable begin = noteOnce(request, page.found());
        AtomicReferenceArray<ObjectNode> answers =
                new AtomicReferenceArray<>(page.found().size());
        List<Integer> places =
                java.util.stream.IntStream.range(0, answers.length()).boxed().toList();
        ParallelTasks.runAll(places, at -> answers.set(at, reprocessItem(page.found().get(at), request, dry, begin)));
        ObjectNode out = JsonViews.newObject();
        ArrayNode items = out.putArray("items");
        for (int i = 0; i < answers.length(); i++) {
            items.add(answers.get(i));
        }
        out.put("next", page.next() == null ? null : PagingParameters.cursor(page.next()));
        return JsonViews.ok(out.put("dry_run", dry));
    }

    private static @Nullable String text(JsonNode body, String name) {
        JsonNode value = body.get(name);
        return value == null || value.isNull() ? null : value.asString();
    }

    /** Writes one audit entry for the whole page, before the first event that can be reprocessed. */
    private Runnable noteOnce(HttpRequest request, List<StoredRows.EventRow> found) {
        ReentrantLock lock = new ReentrantLock();
        AtomicBoolean noted = new AtomicBoolean();
        return () -> {
            lock.lock(); // the second thread continues when the entry is written
            try {
                if (!noted.get()) {
                    String first = found.getFirst().eventId();
                    String reason = found.size() + " events starting with this one";
                    actions.recordAudit(request, new IdempotentActions.AuditNote("event.reprocess", first, reason));
                    noted.set(true);
                }
            } finally {
                lock.unlock();
            }
        };
    }

    private ObjectNode reprocessItem(StoredRows.EventRow listed, HttpRequest request, boolean dry, Runnable begin) {
        try {
            StoredRows.EventRow whole = semel.view(reads -> reads.event(listed.ws(), listed.eventId()));
            ObjectNode out = JsonViews.newObject().put("status_code", 200);
            out.setAll(reprocessEvent(whole == null ? listed : whole, request, dry, begin));
            return out;
        } catch (SemelException e) {
            return EventViews.problemItem(e, request.id());
        }
    }

    /** @param begin called after all checks have passed, before anything starts */
    private ObjectNode reprocessEvent(StoredRows.EventRow stored, HttpRequest request, boolean dry, Runnable begin) {
        if (ingress.isTooOld(stored.at())) {
            throw new SemelException(
                    ErrorCode.NOT_FOUND,
                    "Semel received this event more than seven days ago and no longer knows its runs, so they would"
                            + " start again. No run was started.",
                    "To start the runs again, send it as a new event with a new id.");
        }
        InboundEvent event = event(stored);
        if (!dry) {
            begin.run();
        }
        EventOrigin origin = new EventOrigin(stored.triggerSource(), request.principal().tokenId(), stored.correlationId());
        EventDeliveryResult delivered =
                dry ? ingress.preview(stored.ws(), event, origin) : ingress.deliver(stored.ws(), event, origin);
        return EventViews.deliveryJson(event, delivered, request.id());
    }

    /** The payload of a webhook event is stored with its delivery, as long as the webhook's `keep` setting says. */
    private InboundEvent event(StoredRows.EventRow stored) {
        InboundEvent event = StoredEventReader.read(stored);
        if (event.envelope().has("data")) {
            return event;
        }
        InboundEvent whole = webhooks == null ? null : webhooks.eventOf(stored);
        if (whole == null) {
            throw new SemelException(
                    ErrorCode.NOT_FOUND,
                    "Semel no longer stores the payload of this event: the retention of its webhook (keep) ended. No"
                            + " run was started.",
                    "Let the provider send it again. For later events, set a longer retention in the webhook"
                            + " (keep: 7d).");
        }
        return whole;
    }
}
