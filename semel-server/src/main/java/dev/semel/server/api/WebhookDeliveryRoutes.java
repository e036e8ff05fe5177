package dev.semel.server.api;

import dev.semel.runtime.SemelRuntime;
import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.run.RunId;
import dev.semel.server.ingress.EventDeliveryResult;
import dev.semel.server.webhooks.WebhookReceiver;
import dev.semel.server.webhooks.WebhookReceiver.Outcome;
import dev.semel.server.webhooks.WebhookRequest;
import dev.semel.server.http.HttpResponse;
import dev.semel.server.http.HttpRequest;
import dev.semel.server.http.Route;
import dev.semel.server.http.Router;
import dev.semel.server.http.TokenScope;
import dev.semel.store.WebhookDelivery;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** Receives webhook deliveries from providers, lists them, and processes stored deliveries again. */
final class WebhookDeliveryRoutes {
    private static final String PREFIX = "dlv_";

    private final SemelRuntime semel;
    private final WebhookReceiver receiver;
    private final IdempotentActions actions;

    WebhookDeliveryRoutes(SemelRuntime semel, WebhookReceiver receiver, IdempotentActions actions) {
        this.semel = semel;
        this.actions = actions;
        this.receiver = receiver;
    }

    void addTo(Router router) {
        // Open: a provider has no token and authenticates with its signature. An Idempotency-Key has no effect here.
        router.add(new Route("POST", "/v1/hooks/{name}", TokenScope.OPEN, this::receive))
                .add("GET", "/v1/hooks/{name}/deliveries", TokenScope.READ, this::list)
                .add(ApiRoutes.mutationRoute(
                        "POST", "/v1/hooks/{name}/deliveries/{delivery_id}/reprocess", TokenScope.OPERATE, this::reprocess));
    }

    /** The response does not contain workflow names, which the provider must not learn. */
    HttpResponse receive(HttpRequest request) {
        WebhookRequest delivery = new WebhookRequest(request::headerLines, request.body(), request.headersWithPrefix("ce-"));
        return switch (receiver.receive(request.parameter("name"), delivery)) {
            case Outcome.Challenge(String text) -> JsonViews.ok(JsonViews.newObject().put("challenge", text));
            case Outcome.Received received -> replayed(JsonViews.ok(toJson(received)), received.replayed());
            case Outcome.Batch(List<Outcome> items) -> batch(items, request);
            case Outcome.Rejected(SemelException problem) -> throw problem;
        };
    }

    private static ObjectNode toJson(Outcome.Received received) {
        ObjectNode out = JsonViews.newObject().put("delivery_id", id(received.delivery()));
        out.put("event_id", received.delivery().eventId()).put("idempotent_replayed", received.replayed());
        addRuns(out, received.delivered());
        if (!received.signalledRuns().isEmpty()) {
            ArrayNode answered = out.putArray("answered");
            received.signalledRuns().forEach(answered::add);
        }
        return out;
    }

    private static HttpResponse batch(List<Outcome> items, HttpRequest request) {
        ObjectNode out = JsonViews.newObject();
        ArrayNode list = out.putArray("items");
        boolean replayed = true;
        for (Outcome item : items) {
            if (item instanceof Outcome.Received received) {
                list.add(JsonViews.newObject().put("status_code", 200).setAll(toJson(received)));
                replayed &= received.replayed();
            } else if (item instanceof Outcome.Rejected(SemelException problem)) {
                list.add(EventViews.problemItem(problem, request.id()));
                replayed = false;
            }
        }
        return replayed(JsonViews.ok(out), replayed);
    }

    private static HttpResponse replayed(HttpResponse answer, boolean replayed) {
        return replayed ? answer.with("X-Idempotent-Replayed", "true").with("Idempotent-Replayed", "true") : answer;
    }

    private static void addRuns(ObjectNode out, EventDeliveryResult delivered) {
        ArrayNode runs = out.putArray("run_ids");
        delivered.runs().stream().filter(run -> run.rejection() == null).forEach(run -> runs.add(run.runId()));
        long rejected =
                delivered.runs().stream().filter(run -> run.rejection() != null).count();
        if (rejected > 0) {
            out.put("refused", rejected);
        }
    }

    private static String id(WebhookDelivery delivery) {
        return PREFIX + PagingParameters.cursor(delivery.id());
    }

    HttpResponse list(HttpRequest request) {
        PagingParameters paging = PagingParameters.parse(request);
        int workspace = request.principal().workspace();
        String webhook = request.parameter("name");
        List<WebhookDelivery> rows =
                semel.view(reads -> reads.deliveries(workspace, webhook, paging.afterId(), paging.limit()));
        return JsonViews.pageResponse(
                rows == null ? List.of() : rows, paging.limit(), WebhookDeliveryRoutes::toJson, row -> PagingParameters.cursor(row.id()));
    }

    private static ObjectNode toJson(WebhookDelivery row) {
        ObjectNode out = JsonViews.newObject()
                .put("delivery_id", id(row))
                .put("at", JsonViews.formatTime(row.at()))
                .put("verdict", row.verdict().name().toLowerCase(Locale.ROOT));
        if (!row.eventId().isEmpty()) {
            out.put("event_id", row.eventId()).put("type", row.type());
        }
        return row.note().isEmpty() ? out : out.put("note", row.note());
    }

    /** Safe to repeat: existing runs are replayed and only missing runs start. */
    HttpResponse reprocess(HttpRequest request) {
        int workspace = request.principal().workspace();
        RunId id = parseId(request.parameter("delivery_id"));
        WebhookDelivery row =
                id == null ? null : semel.view(reads -> reads.delivery(workspace, request.parameter("name"), id));
        if (row == null) {
            throw new SemelException(
                    ErrorCode.NOT_FOUND,
                    "This webhook has no delivery with this id. No run was started.",
                    "List the deliveries with GET /v1/hooks/{name}/deliveries.");
        }
        var entry = new IdempotentActions.AuditNote("delivery.reprocess", id(row), request.parameter("name"));
        EventDeliveryResult delivered = receiver.reprocess(row, () -> actions.recordAudit(request, entry));
        if (delivered == null) {
            throw new SemelException(
                    ErrorCode.NOT_FOUND,
                    "Semel has no payload for this delivery: it was rejected, was a duplicate, or its retention ended."
                            + " No run was started.",
                    "Reprocess the first accepted delivery, or let the provider send it again.");
        }
        ObjectNode out = JsonViews.newObject().put("delivery_id", id(row)).put("idempotent_replayed", delivered.replayed());
        addRuns(out, delivered);
        return replayed(JsonViews.ok(out), delivered.replayed());
    }

    private static @Nullable RunId parseId(String text) {
        return text.startsWith(PREFIX) ? RunId.parse("run_" + text.substring(PREFIX.length())) : null;
    }
}
