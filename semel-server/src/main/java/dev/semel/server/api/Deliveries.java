package dev.semel.server.api;

import dev.semel.Semel;
import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.run.RunId;
import dev.semel.server.doors.Delivered;
import dev.semel.server.hooks.HookDoor;
import dev.semel.server.hooks.HookDoor.Outcome;
import dev.semel.server.hooks.Letter;
import dev.semel.server.http.Answer;
import dev.semel.server.http.Request;
import dev.semel.server.http.Route;
import dev.semel.server.http.Router;
import dev.semel.server.http.Scope;
import dev.semel.store.Delivery;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** Receives webhook deliveries from providers, lists them, and processes stored deliveries again. */
final class Deliveries {
    private static final String PREFIX = "dlv_";

    private final Semel semel;
    private final HookDoor receiver;
    private final Deeds actions;

    Deliveries(Semel semel, HookDoor receiver, Deeds actions) {
        this.semel = semel;
        this.actions = actions;
        this.receiver = receiver;
    }

    void addTo(Router router) {
        // Open: a provider has no token and authenticates with its signature. An Idempotency-Key has no effect here.
        router.add(new Route("POST", "/v1/hooks/{name}", Scope.OPEN, this::receive))
                .add("GET", "/v1/hooks/{name}/deliveries", Scope.READ, this::list)
                .add(Api.changing(
                        "POST", "/v1/hooks/{name}/deliveries/{delivery_id}/reprocess", Scope.OPERATE, this::again));
    }

    /** The response does not contain workflow names, which the provider must not learn. */
    Answer receive(Request request) {
        Letter delivery = new Letter(request::headerLines, request.body(), request.headersLike("ce-"));
        return switch (receiver.receive(request.parameter("name"), delivery)) {
            case Outcome.Challenge(String text) -> Views.ok(Views.object().put("challenge", text));
            case Outcome.Received received -> replayed(Views.ok(toJson(received)), received.replayed());
            case Outcome.Batch(List<Outcome> items) -> batch(items, request);
            case Outcome.Refused(SemelException problem) -> throw problem;
        };
    }

    private static ObjectNode toJson(Outcome.Received received) {
        ObjectNode out = Views.object().put("delivery_id", id(received.delivery()));
        out.put("event_id", received.delivery().eventId()).put("idempotent_replayed", received.replayed());
        addRuns(out, received.delivered());
        if (!received.answered().isEmpty()) {
            ArrayNode answered = out.putArray("answered");
            received.answered().forEach(answered::add);
        }
        return out;
    }

    private static Answer batch(List<Outcome> items, Request request) {
        ObjectNode out = Views.object();
        ArrayNode list = out.putArray("items");
        boolean replayed = true;
        for (Outcome item : items) {
            if (item instanceof Outcome.Received received) {
                list.add(Views.object().put("status_code", 200).setAll(toJson(received)));
                replayed &= received.replayed();
            } else if (item instanceof Outcome.Refused(SemelException problem)) {
                list.add(EventViews.problem(problem, request.id()));
                replayed = false;
            }
        }
        return replayed(Views.ok(out), replayed);
    }

    private static Answer replayed(Answer answer, boolean replayed) {
        return replayed ? answer.with("X-Idempotent-Replayed", "true").with("Idempotent-Replayed", "true") : answer;
    }

    private static void addRuns(ObjectNode out, Delivered delivered) {
        ArrayNode runs = out.putArray("run_ids");
        delivered.runs().stream().filter(run -> run.refused() == null).forEach(run -> runs.add(run.runId()));
        long rejected =
                delivered.runs().stream().filter(run -> run.refused() != null).count();
        if (rejected > 0) {
            out.put("refused", rejected);
        }
    }

    private static String id(Delivery delivery) {
        return PREFIX + Paging.cursor(delivery.id());
    }

    Answer list(Request request) {
        Paging paging = Paging.of(request);
        int workspace = request.principal().workspace();
        String webhook = request.parameter("name");
        List<Delivery> rows =
                semel.view(reads -> reads.deliveries(workspace, webhook, paging.afterId(), paging.limit()));
        return Views.page(
                rows == null ? List.of() : rows, paging.limit(), Deliveries::toJson, row -> Paging.cursor(row.id()));
    }

    private static ObjectNode toJson(Delivery row) {
        ObjectNode out = Views.object()
                .put("delivery_id", id(row))
                .put("at", Views.time(row.at()))
                .put("verdict", row.verdict().name().toLowerCase(Locale.ROOT));
        if (!row.eventId().isEmpty()) {
            out.put("event_id", row.eventId()).put("type", row.type());
        }
        return row.note().isEmpty() ? out : out.put("note", row.note());
    }

    /** Safe to repeat: existing runs are replayed and only missing runs start. */
    Answer again(Request request) {
        int workspace = request.principal().workspace();
        RunId id = parseId(request.parameter("delivery_id"));
        Delivery row =
                id == null ? null : semel.view(reads -> reads.delivery(workspace, request.parameter("name"), id));
        if (row == null) {
            throw new SemelException(
                    ErrorCode.NOT_FOUND,
                    "This webhook has no delivery with this id. No run was started.",
                    "List the deliveries with GET /v1/hooks/{name}/deliveries.");
        }
        var entry = new Deeds.Entry("delivery.reprocess", id(row), request.parameter("name"));
        Delivered delivered = receiver.again(row, () -> actions.note(request, entry));
        if (delivered == null) {
            throw new SemelException(
                    ErrorCode.NOT_FOUND,
                    "Semel has no payload for this delivery: it was rejected, was a duplicate, or its retention ended."
                            + " No run was started.",
                    "Reprocess the first accepted delivery, or let the provider send it again.");
        }
        ObjectNode out = Views.object().put("delivery_id", id(row)).put("idempotent_replayed", delivered.replayed());
        addRuns(out, delivered);
        return replayed(Views.ok(out), delivered.replayed());
    }

    private static @Nullable RunId parseId(String text) {
        return text.startsWith(PREFIX) ? RunId.parse("run_" + text.substring(PREFIX.length())) : null;
    }
}
