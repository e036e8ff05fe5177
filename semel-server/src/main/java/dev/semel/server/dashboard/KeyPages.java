package dev.semel.server.dashboard;

import dev.semel.json.StrictJson;
import dev.semel.server.http.HttpResponse;
import dev.semel.server.http.InternalApiClient;
import dev.semel.server.http.Router;
import dev.semel.server.http.TokenScope;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.stream.Stream;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** The pages of idempotency keys: the list, and one key with its requests, effects and simulation. */
public final class KeyPages {
    private KeyPages() {}

    static void addTo(Router router, DashboardGuard guard) {
        router.add("GET", "/keys", TokenScope.OPEN, guard.page(KeyPages::list))
                .add("GET", "/keys/{key}", TokenScope.OPEN, guard.page(KeyPages::one))
                .add("POST", "/keys/{key}/simulate", TokenScope.OPEN, guard.form(KeyPages::simulate));
    }

    private static HttpResponse list(PageVisit visit) throws Exception {
        String prefix = visit.queryParameter("prefix");
        String after = visit.queryParameter("after");
        ApiJson page = visit.get(
                "/v1/keys",
                "prefix=" + InternalApiClient.encode(prefix)
                        + (after.isEmpty() ? "" : "&after=" + InternalApiClient.encode(after)));
        TableView grid = grid(prefix.isEmpty()
                        ? "No key has been used yet. Send one:"
                        : "No key has this prefix. Send one:")
                .withFilter("prefix", prefix)
                .withRows(page);
        return visit.show("keys", "Keys", "Keys", Map.of("grid", grid, "prefix", prefix));
    }

    /** A table of one workflow's keys. */
    static TableView tableForWorkflow(PageVisit visit, String workflow) throws Exception {
        String after = visit.queryParameter("after");
        String prefix = visit.queryParameter("prefix");
        String query = "workflow=" + InternalApiClient.encode(workflow) + "&prefix=" + InternalApiClient.encode(prefix);
        return grid("No key of this workflow found. Send one:")
                .withFilter("prefix", prefix)
                .withRows(visit.get(
                        "/v1/keys", after.isEmpty() ? query : query + "&after=" + InternalApiClient.encode(after)));
    }

    private static TableView grid(String whenEmpty) {
        return TableView.titled("Keys in alphabetical order")
                .link(
                        "Key",
                        doc -> doc.text("idempotency_key"),
                        doc -> url(doc.text("idempotency_key"), doc.text("operation_name")))
                .status("Status", "status")
                .link("Workflow", "operation_name", "workflows")
                .link("Run", "run_id", "runs")
                .status("Run status", "run_status")
                .text("Replayed", "replays")
                .text("Conflicts", "conflicts")
                .time("First seen", "created_at")
                .time("Expires", "expires_at")
                .whenEmpty(
                        whenEmpty,
                        "semel send payment_receipt --key evt_1 --data '{\"payment_id\":\"pay_1\",\"amount\":4900,"
                                + "\"currency\":\"usd\"}'");
    }

    /** The URL of a key's page for one workflow; another workflow can have the same key. */
    public static String url(String key, String workflow) {
        return InternalApiClient.path("keys", key)
                + (workflow.isEmpty() ? "" : "?workflow=" + InternalApiClient.encode(workflow));
    }

    private static HttpResponse one(PageVisit visit) throws Exception {
        return one(visit, new SimulationInput(visit.queryParameter("workflow"), "", ""), FormRejection.NONE);
    }

    /** The input of a simulation: the key's workflow, a delay, and other data. */
    private record SimulationInput(String workflow, String after, String data) {}

    /** Simulates a request with this key. Uses POST, because data must not be in a URL. */
    private static HttpResponse simulate(PageVisit visit, SubmittedForm form) throws Exception {
        SimulationInput input = new SimulationInput(
                form.text("workflow"),
                form.text("after").strip(),
                form.text("data").strip());
        return visit.submit(
                "simulate",
                form,
                () -> one(visit, input, FormRejection.NONE),
                rejection -> one(visit, new SimulationInput(input.workflow(), "", ""), rejection));
    }

    /**
     * The key record of the named workflow, with the records of other workflows. If that workflow has released the key,
     * the newest record.
     */
    private static ApiJson find(PageVisit visit, String path, String workflow) throws Exception {
        ApiJson newest = visit.get(path);
        ApiJson meant = workflow.isEmpty() || newest.list("others").isEmpty()
                ? ApiJson.EMPTY
                : visit.getOrEmpty(path, "workflow=" + InternalApiClient.encode(workflow));
        if (!meant.has("run_id") || meant.text("run_id").equals(newest.text("run_id"))) {
            return newest;
        }
        ObjectNode out = (ObjectNode) meant.node().deepCopy();
        ArrayNode others = out.putArray("others");
        Stream.concat(Stream.of(newest), newest.list("others").stream())
                .filter(other -> !other.text("run_id").equals(meant.text("run_id")))
                .forEach(other -> others.add(other.node()));
        return new ApiJson(out);
    }

    private static HttpResponse one(PageVisit visit, SimulationInput input, FormRejection rejection) throws Exception {
        String path = InternalApiClient.path("v1", "keys", visit.pathParameter("key"));
        ApiJson key = find(visit, path, input.workflow());
        String run = InternalApiClient.path("v1", "runs", key.text("run_id"));
        ApiJson requests = visit.getOrEmpty(run + "/requests", "");
        List<ApiJson> effects = visit.getOrEmpty(run + "/timeline", "").items().stream()
                .filter(step -> step.has("effect_key"))
                .toList();
        Map<String, Object> parts = Map.of(
                "key",
                key,
                "summary",
                summary(key, requests.items()),
                "requests",
                requests.items(),
                "effects",
                effects,
                "simulation",
                simulated(visit, path + "/simulate", key, input),
                "after",
                input.after(),
                "data",
                input.data(),
                "rejection",
                rejection,
                "mayRelease",
                key.text("status").equals("active") && visit.isAllowed("POST", path + "/release"),
                "mayExtend",
                key.text("status").equals("active") && visit.isAllowed("POST", path + "/extend"));
        return visit.show(
                rejection.status(),
                new PageRenderer.PageContent("key", "Key " + key.text("idempotency_key"), "Keys", parts));
    }

    private static ApiJson simulated(PageVisit visit, String path, ApiJson key, SimulationInput input)
            throws Exception {
        if (!visit.isAllowed("POST", path)) {
            return ApiJson.EMPTY;
        }
        ObjectNode body = JsonNodeFactory.instance.objectNode().put("workflow", key.text("operation_name"));
        if (!input.after().isEmpty()) {
            body.put("after", input.after());
        }
        if (!input.data().isEmpty()) {
            body.set("data", StrictJson.parse(input.data()));
        }
        try {
            return visit.send("POST", path, body, "simulate");
        } catch (ApiRejectionException e) {
            // The user did not request it: leave out a simulation that is not possible, e.g. without the payload.
            if (input.after().isEmpty() && input.data().isEmpty()) {
                return ApiJson.EMPTY;
            }
            throw e;
        }
    }

    /** A summary of the key's history in sentences. */
    static String summary(ApiJson key, List<ApiJson> requests) {
        StringBuilder text = new StringBuilder("This key started ")
                .append(key.text("run_id"))
                .append(" of ")
                .append(key.text("operation_name"))
                .append(", status ")
                .append(key.text("run_status").replace('_', ' '))
                .append(". ");
        long replays = key.number("replays");
        long conflicts = key.number("conflicts");
        if (replays == 0 && conflicts == 0) {
            return text.append("There were no further requests with this key.").toString();
        }
        if (replays > 0) {
            text.append(replays == 1 ? "One duplicate request" : replays + " duplicate requests")
                    .append(" got this run. ");
        }
        if (conflicts > 0) {
            TreeSet<String> fields = new TreeSet<>();
            requests.forEach(request -> request.list("changed").forEach(field -> fields.add(field.text())));
            text.append("The server rejected ")
                    .append(conflicts == 1 ? "one request" : conflicts + " requests")
                    .append(fields.isEmpty() ? ". " : " because " + String.join(", ", fields) + " differed. ");
        }
        return text.append("No second run started.").toString();
    }
}
