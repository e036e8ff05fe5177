package dev.semel.server.operations.event;

import dev.semel.admission.RunDeduplicationKey;
import dev.semel.admission.TriggerSource;
import dev.semel.error.SemelException;
import dev.semel.runtime.SemelRuntime;
import dev.semel.server.connectors.ingress.InboundEvent;
import dev.semel.server.connectors.ingress.InboundEventOrigin;
import dev.semel.server.connectors.ingress.InboundEventProcessor;
import dev.semel.server.connectors.ingress.InboundEventResult;
import dev.semel.server.connectors.ingress.ParallelTaskRunner;
import dev.semel.server.connectors.webhooks.WebhookReceiver;
import dev.semel.server.http.Principal;
import dev.semel.server.http.ServerHttpRequest;
import dev.semel.server.http.ServerHttpResponse;
import dev.semel.server.operations.AuditNote;
import dev.semel.server.operations.IdempotentInboundRequestExecutor;
import dev.semel.server.operations.InboundJsonRequestBody;
import dev.semel.server.operations.ViewJson;
import dev.semel.server.query.ApiErrors;
import dev.semel.server.query.InboundEventJsonRenderer;
import dev.semel.server.query.InboundEventPiiMasker;
import dev.semel.server.query.PagingParameters;
import dev.semel.server.query.RunJsonRenderer;
import dev.semel.server.query.RunListFilter;
import dev.semel.server.query.StoreReader;
import dev.semel.store.DatabaseRows;
import dev.semel.store.StoreQueries;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** Lists stored inbound events, shows their runs, and processes events again (`/v1/events`). */
public final class StoredInboundEventRoutes {
    private static final int MOST_RUNS = 1_000;
    private static final int MOST_AT_ONCE = 200;
    private static final Set<String> MEMBERS =
            Set.of("type", "source", "unmatched", "since", "after", "limit", "dry_run");

    private final SemelRuntime semel;
    private final InboundEventProcessor ingress;
    private final RunJsonRenderer views;
    private final IdempotentInboundRequestExecutor actions;
    private final InboundEventPiiMasker masks;
    private @Nullable WebhookReceiver webhooks;

    public StoredInboundEventRoutes(
            SemelRuntime semel,
            InboundEventProcessor ingress,
            RunJsonRenderer views,
            IdempotentInboundRequestExecutor actions) {
        this.semel = semel;
        this.actions = actions;
        this.ingress = ingress;
        this.masks = new InboundEventPiiMasker(ingress, views);
        this.views = views;
    }

    /** Sets the webhook receiver, which stores the payloads of webhook events. */
    public void setWebhookReceiver(WebhookReceiver value) {
        webhooks = value;
    }

    /** The event filter, from a query or from the body of a reprocess request. */
    private record EventQuery(
            @Nullable String type,
            @Nullable String source,
            @Nullable String unmatched,
            @Nullable String since,
            PagingParameters paging) {
        /** @param terms the value of a filter term; null if it is missing */
        static EventQuery of(UnaryOperator<@Nullable String> terms, PagingParameters paging) {
            return new EventQuery(
                    terms.apply("type"), terms.apply("source"), terms.apply("unmatched"), terms.apply("since"), paging);
        }
    }

    public ServerHttpResponse list(ServerHttpRequest request) {
        String id = request.query("id");
        if (id != null) {
            return pageJson(findBySource(request.principal(), request.query("source"), id));
        }
        return pageJson(page(request.principal(), EventQuery.of(request::query, PagingParameters.parse(request))));
    }

    private ServerHttpResponse pageJson(StoreQueries.EventPage page) {
        String next = page.next() == null ? null : PagingParameters.cursor(page.next());
        return RunJsonRenderer.ok(RunJsonRenderer.pageJson(page.found(), this::eventJson, next));
    }

    private ObjectNode eventJson(DatabaseRows.EventRow event) {
        return InboundEventJsonRenderer.storedEventJson(event, masks.mask(event));
    }

    /** Finds an event by its sender's source and id, received directly or by webhook. */
    private StoreQueries.EventPage findBySource(Principal who, @Nullable String source, String id) {
        if (source == null) {
            throw ApiErrors.invalidQuery("`id` requires `source`: only both together identify an event");
        }
        List<DatabaseRows.EventRow> found = new ArrayList<>();
        for (TriggerSource each : List.of(TriggerSource.EVENT, TriggerSource.WEBHOOK)) {
            String eventId = InboundEventProcessor.eventIdOf(each, source, id);
            DatabaseRows.EventRow event = semel.view(reads -> reads.event(who.workspace(), eventId));
            if (event != null) {
                found.add(event);
            }
        }
        return new StoreQueries.EventPage(found, null);
    }

    private StoreQueries.EventPage page(Principal who, EventQuery query) {
        long now = StoreReader.now(semel);
        StoreQueries.EventFilter filter = new StoreQueries.EventFilter(
                who.workspace(),
                query.type(),
                query.source(),
                flag("unmatched", query.unmatched()),
                query.since() == null ? 0 : now - RunListFilter.parseAge(query.since()),
                query.paging().afterId(),
                query.paging().limit());
        return StoreReader.read(semel, reads -> reads.events(filter));
    }

    private static boolean flag(String name, @Nullable String text) {
        if (text != null && !text.equals("true") && !text.equals("false")) {
            throw ApiErrors.invalidQuery(name + " must be true or false");
        }
        return "true".equals(text);
    }

    public ServerHttpResponse get(ServerHttpRequest request) {
        DatabaseRows.EventRow event = find(request);
        ObjectNode out = eventJson(event);
        ArrayNode runs = out.putArray("runs");
        RunDeduplicationKey.KeyKind kind = event.triggerSource() == TriggerSource.WEBHOOK
                ? RunDeduplicationKey.KeyKind.WEBHOOK
                : RunDeduplicationKey.KeyKind.EVENT;
        List<DatabaseRows.KeyRow> names = StoreReader.read(
                semel, reads -> reads.keysStartingWith(event.ws(), kind, event.eventId() + "/", MOST_RUNS));
        for (DatabaseRows.KeyRow held : names) {
            DatabaseRows.RunRow run =
                    semel.view(reads -> reads.run(event.ws(), held.keyRecord().run()));
            if (run != null) {
                runs.add(ViewJson.of(views.view(run)));
            }
        }
        return RunJsonRenderer.ok(out);
    }

    private DatabaseRows.EventRow find(ServerHttpRequest request) {
        String id = request.parameter("event_id");
        return ApiErrors.orNotFound(
                semel.view(reads -> reads.event(request.principal().workspace(), id)),
                "This workspace has no event with this id. Semel stores events for seven days. No run was started.",
                "Check the id (evt_…), or list the events with GET /v1/events.");
    }

    public ServerHttpResponse reprocess(ServerHttpRequest request) {
        boolean dry = flag("dry_run", request.query("dry_run"));
        DatabaseRows.EventRow event = find(request);
        var entry = new AuditNote("event.reprocess", event.eventId(), "");
        ObjectNode out = reprocessEvent(event, request, dry, () -> actions.recordAudit(request, entry));
        return RunJsonRenderer.ok(out.put("dry_run", dry));
    }

    /** Reprocesses one page of matching events, newest first. The response has a cursor to continue from. */
    public ServerHttpResponse reprocessMany(ServerHttpRequest request) {
        JsonNode body = JsonNodeFactory.instance.objectNode();
        if (request.body().length > 0) {
            body = InboundJsonRequestBody.parseAny(request);
        }
        if (!body.isObject()) {
            throw ApiErrors.invalidTrigger("", "the body must be a JSON object with a filter");
        }
        for (String name : body.propertyNames()) {
            if (!MEMBERS.contains(name)) {
                throw ApiErrors.invalidTrigger(
                        "",
                        "the filter supports only "
                                + String.join(", ", MEMBERS.stream().sorted().toList()));
            }
        }
        boolean dry = flag("dry_run", text(body, "dry_run"));
        String limit = text(body, "limit");
        PagingParameters paging = new PagingParameters(
                limit == null ? MOST_AT_ONCE : PagingParameters.parseLimit(limit), text(body, "after"));
        JsonNode filter = body;
        StoreQueries.EventPage page = page(request.principal(), EventQuery.of(member -> text(filter, member), paging));
        Runnable begin = noteOnce(request, page.found());
        AtomicReferenceArray<ObjectNode> answers =
                new AtomicReferenceArray<>(page.found().size());
        List<Integer> places = IntStream.range(0, answers.length()).boxed().toList();
        ParallelTaskRunner.runAll(
                places, at -> answers.set(at, reprocessItem(page.found().get(at), request, dry, begin)));
        ObjectNode out = InboundEventJsonRenderer.itemsJson(answers);
        out.put("next", page.next() == null ? null : PagingParameters.cursor(page.next()));
        return RunJsonRenderer.ok(out.put("dry_run", dry));
    }

    private static @Nullable String text(JsonNode body, String name) {
        JsonNode value = body.get(name);
        if (value != null && value.isContainer()) {
            throw ApiErrors.invalidTrigger("/" + name, name + " must be one value, not a list or an object");
        }
        return value == null || value.isNull() ? null : value.asString();
    }

    /** Writes one audit entry for the whole page, before the first event that can be reprocessed. */
    private Runnable noteOnce(ServerHttpRequest request, List<DatabaseRows.EventRow> found) {
        ReentrantLock lock = new ReentrantLock();
        AtomicBoolean noted = new AtomicBoolean();
        return () -> {
            lock.lock(); // the second thread continues when the entry is written
            try {
                if (!noted.get()) {
                    String first = found.getFirst().eventId();
                    String reason = found.size() + " events starting with this one";
                    actions.recordAudit(request, new AuditNote("event.reprocess", first, reason));
                    noted.set(true);
                }
            } finally {
                lock.unlock();
            }
        };
    }

    private ObjectNode reprocessItem(
            DatabaseRows.EventRow listed, ServerHttpRequest request, boolean dry, Runnable begin) {
        try {
            DatabaseRows.EventRow whole = semel.view(reads -> reads.event(listed.ws(), listed.eventId()));
            ObjectNode out = RunJsonRenderer.newObject().put("status_code", 200);
            out.setAll(reprocessEvent(whole == null ? listed : whole, request, dry, begin));
            return out;
        } catch (SemelException e) {
            return InboundEventJsonRenderer.problemItem(e, request.id());
        }
    }

    /** @param begin called after all checks have passed, before anything starts */
    private ObjectNode reprocessEvent(
            DatabaseRows.EventRow stored, ServerHttpRequest request, boolean dry, Runnable begin) {
        if (ingress.isTooOld(stored.at())) {
            throw ApiErrors.notFound(
                    "Semel received this event more than seven days ago and no longer knows which runs it started, so"
                            + " the same runs could start again. No run was started.",
                    "To start the runs again, send it as a new event with a new id.");
        }
        InboundEvent event = event(stored);
        if (!dry) {
            begin.run();
        }
        InboundEventOrigin origin = new InboundEventOrigin(
                stored.triggerSource(), request.principal().tokenId(), stored.correlationId());
        InboundEventResult delivered =
                dry ? ingress.preview(stored.ws(), event, origin) : ingress.deliver(stored.ws(), event, origin);
        return InboundEventJsonRenderer.deliveryJson(event, delivered, request.id());
    }

    /** The payload of a webhook event is stored with its delivery, as long as the webhook's `keep` setting says. */
    private InboundEvent event(DatabaseRows.EventRow stored) {
        if (stored.triggerSource() != TriggerSource.WEBHOOK) {
            return InboundEvent.ofStored(stored);
        }
        return ApiErrors.orNotFound(
                webhooks == null ? null : webhooks.eventOf(stored),
                "Semel no longer stores the payload of this event: the retention of its webhook (`keep`) has ended. No"
                        + " run was started.",
                "Let the provider send the event again. For later events, set a longer retention in the webhook"
                        + " (`keep: 7d`).");
    }
}
