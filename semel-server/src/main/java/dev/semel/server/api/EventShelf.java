package dev.semel.server.api;

import dev.semel.Semel;
import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.json.Json;
import dev.semel.server.doors.Delivered;
import dev.semel.server.doors.Entrance;
import dev.semel.server.doors.Event;
import dev.semel.server.doors.EventDoor;
import dev.semel.server.doors.KeptEvent;
import dev.semel.server.doors.SideBySide;
import dev.semel.server.hooks.HookDoor;
import dev.semel.server.http.Answer;
import dev.semel.server.http.Principal;
import dev.semel.server.http.Request;
import dev.semel.store.Name;
import dev.semel.store.Reads;
import dev.semel.store.Rows;
import dev.semel.trigger.Door;
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
final class EventShelf {
    private static final int MOST_RUNS = 1_000;
    private static final int MOST_AT_ONCE = 200;
    private static final Set<String> MEMBERS =
            Set.of("type", "source", "unmatched", "since", "after", "limit", "dry_run");

    private final Semel semel;
    private final EventDoor ingress;
    private final Views views;
    private final Deeds actions;
    private final EventMasks masks;
    private @Nullable HookDoor webhooks;

    EventShelf(Semel semel, EventDoor ingress, Views views, Deeds actions) {
        this.semel = semel;
        this.actions = actions;
        this.ingress = ingress;
        this.masks = new EventMasks(ingress);
        this.views = views;
    }

    /** Sets the webhook receiver, which stores the payloads of webhook events. */
    void with(HookDoor value) {
        webhooks = value;
    }

    /** The event filter, from a query or from the body of a reprocess request. */
    private record EventQuery(
            @Nullable String type,
            @Nullable String source,
            @Nullable String unmatched,
            @Nullable String since,
            Paging paging) {}

    Answer list(Request request) {
        String id = request.query("id");
        if (id != null) {
            return pageJson(findBySource(request.principal(), request.query("source"), id));
        }
        Reads.Events page = page(
                request.principal(),
                new EventQuery(
                        request.query("type"),
                        request.query("source"),
                        request.query("unmatched"),
                        request.query("since"),
                        Paging.of(request)));
        return pageJson(page);
    }

    private Answer pageJson(Reads.Events page) {
        ObjectNode out = Views.object();
        ArrayNode items = out.putArray("items");
        page.found().forEach(event -> items.add(eventJson(event)));
        out.put("next", page.next() == null ? null : Paging.cursor(page.next()));
        return Views.ok(out);
    }

    private ObjectNode eventJson(Rows.Event event) {
        return EventViews.kept(event, masks.shown(event));
    }

    /** Finds an event by its sender's source and id, received directly or by webhook. */
    private Reads.Events findBySource(Principal who, @Nullable String source, String id) {
        if (source == null) {
            throw Paging.refused("id needs source as well: both together identify an event");
        }
        List<Rows.Event> found = new ArrayList<>();
        for (Door each : List.of(Door.EVENT, Door.HOOK)) {
            String eventId = EventDoor.idOf(each, source, id);
            Rows.Event event = semel.view(reads -> reads.event(who.workspace(), eventId));
            if (event != null) {
                found.add(event);
            }
        }
        return new Reads.Events(found, null);
    }

    private Reads.Events page(Principal who, EventQuery query) {
        long now = now();
        Reads.EventFilter filter = new Reads.EventFilter(
                who.workspace(),
                query.type(),
                query.source(),
                flag("unmatched", query.unmatched()),
                query.since() == null ? 0 : now - Runs.Filter.age(query.since()),
                query.paging().afterId(),
                query.paging().limit());
        Reads.Events page = semel.view(reads -> reads.events(filter));
        return page == null ? new Reads.Events(List.of(), null) : page;
    }

    private long now() {
        Long now = semel.view(reads -> reads.now());
        return now == null ? 0 : now;
    }

    private static boolean flag(String name, @Nullable String text) {
        if (text != null && !text.equals("true") && !text.equals("false")) {
            throw Paging.refused(name + " must be true or false");
        }
        return "true".equals(text);
    }

    Answer get(Request request) {
        Rows.Event event = find(request);
        ObjectNode out = eventJson(event);
        ArrayNode runs = out.putArray("runs");
        Name.Kind kind = event.door() == Door.HOOK ? Name.Kind.HOOK : Name.Kind.EVENT;
        List<Rows.Held> names =
                semel.view(reads -> reads.namesLike(event.ws(), kind, event.eventId() + "/", MOST_RUNS));
        for (Rows.Held held : names == null ? List.<Rows.Held>of() : names) {
            Rows.Run run =
                    semel.view(reads -> reads.run(event.ws(), held.known().run()));
            if (run != null) {
                runs.add(views.runWithRequests(run));
            }
        }
        return Views.ok(out);
    }

    private Rows.Event find(Request request) {
        String id = request.parameter("event_id");
        Rows.Event event = semel.view(reads -> reads.event(request.principal().workspace(), id));
        if (event == null) {
            throw new SemelException(
                    ErrorCode.NOT_FOUND,
                    "This workspace has no event with this id. Semel stores events for seven days. No run was started.",
                    "Check the id (evt_…), or list the events with GET /v1/events.");
        }
        return event;
    }

    Answer reprocess(Request request) {
        boolean dry = flag("dry_run", request.query("dry_run"));
        Rows.Event event = find(request);
        var entry = new Deeds.Entry("event.reprocess", event.eventId(), "");
        ObjectNode out = reprocessEvent(event, request, dry, () -> actions.note(request, entry));
        return Views.ok(out.put("dry_run", dry));
    }

    /** Reprocesses one page of matching events, newest first. The response has a cursor to continue from. */
    Answer reprocessMany(Request request) {
        JsonNode body = JsonNodeFactory.instance.objectNode();
        if (request.body().length > 0) {
            MediaTypes.requireJson(request);
            body = Json.parse(request.body());
        }
        if (!body.isObject()) {
            throw Ask.invalid("", "the body must be a JSON object with a filter");
        }
        for (String name : body.propertyNames()) {
            if (!MEMBERS.contains(name)) {
                throw Ask.invalid(
                        "",
                        "the filter supports only "
                                + String.join(", ", MEMBERS.stream().sorted().toList()));
            }
        }
        boolean dry = flag("dry_run", text(body, "dry_run"));
        String limit = text(body, "limit");
        Paging paging = new Paging(limit == null ? MOST_AT_ONCE : Paging.number(limit), text(body, "after"));
        Reads.Events page = page(
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
        SideBySide.each(places, at -> answers.set(at, reprocessItem(page.found().get(at), request, dry, begin)));
        ObjectNode out = Views.object();
        ArrayNode items = out.putArray("items");
        for (int i = 0; i < answers.length(); i++) {
            items.add(answers.get(i));
        }
        out.put("next", page.next() == null ? null : Paging.cursor(page.next()));
        return Views.ok(out.put("dry_run", dry));
    }

    private static @Nullable String text(JsonNode body, String name) {
        JsonNode value = body.get(name);
        return value == null || value.isNull() ? null : value.asString();
    }

    /** Writes one audit entry for the whole page, before the first event that can be reprocessed. */
    private Runnable noteOnce(Request request, List<Rows.Event> found) {
        ReentrantLock lock = new ReentrantLock();
        AtomicBoolean noted = new AtomicBoolean();
        return () -> {
            lock.lock(); // the second thread continues when the entry is written
            try {
                if (!noted.get()) {
                    String first = found.getFirst().eventId();
                    String reason = found.size() + " events starting with this one";
                    actions.note(request, new Deeds.Entry("event.reprocess", first, reason));
                    noted.set(true);
                }
            } finally {
                lock.unlock();
            }
        };
    }

    private ObjectNode reprocessItem(Rows.Event listed, Request request, boolean dry, Runnable begin) {
        try {
            Rows.Event whole = semel.view(reads -> reads.event(listed.ws(), listed.eventId()));
            ObjectNode out = Views.object().put("status_code", 200);
            out.setAll(reprocessEvent(whole == null ? listed : whole, request, dry, begin));
            return out;
        } catch (SemelException e) {
            return EventViews.problem(e, request.id());
        }
    }

    /** @param begin called after all checks have passed, before anything starts */
    private ObjectNode reprocessEvent(Rows.Event stored, Request request, boolean dry, Runnable begin) {
        if (ingress.isTooOld(stored.at())) {
            throw new SemelException(
                    ErrorCode.NOT_FOUND,
                    "Semel received this event more than seven days ago and no longer knows its runs, so they would"
                            + " start again. No run was started.",
                    "To start the runs again, send it as a new event with a new id.");
        }
        Event event = event(stored);
        if (!dry) {
            begin.run();
        }
        Entrance origin = new Entrance(stored.door(), request.principal().tokenId(), stored.correlationId());
        Delivered delivered =
                dry ? ingress.preview(stored.ws(), event, origin) : ingress.deliver(stored.ws(), event, origin);
        return EventViews.delivered(event, delivered, request.id());
    }

    /** The payload of a webhook event is stored with its delivery, as long as the webhook's `keep` setting says. */
    private Event event(Rows.Event stored) {
        Event event = KeptEvent.of(stored);
        if (event.whole().has("data")) {
            return event;
        }
        Event whole = webhooks == null ? null : webhooks.eventOf(stored);
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
