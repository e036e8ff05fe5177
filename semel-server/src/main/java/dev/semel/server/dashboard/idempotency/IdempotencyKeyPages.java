package dev.semel.server.dashboard.idempotency;

import dev.semel.json.StrictJsonCodec;
import dev.semel.server.dashboard.login.DashboardRouter;
import dev.semel.server.dashboard.page.ApiErrorResponseException;
import dev.semel.server.dashboard.page.DashboardListTableModel;
import dev.semel.server.dashboard.page.DashboardPageRequest;
import dev.semel.server.dashboard.page.DashboardTemplateJsonAccessor;
import dev.semel.server.dashboard.page.RejectedDashboardForm;
import dev.semel.server.dashboard.page.SubmittedForm;
import dev.semel.server.dashboard.page.UrlQuery;
import dev.semel.server.http.InProcessApiClient;
import dev.semel.server.http.ServerHttpResponse;
import java.util.List;
import java.util.TreeSet;
import java.util.stream.Stream;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** The pages of idempotency keys: the list, and one key with its requests, effects and simulation. */
public final class IdempotencyKeyPages {
    private IdempotencyKeyPages() {}

    public static void addTo(DashboardRouter routes) {
        routes.page("/keys", IdempotencyKeyPages::list)
                .page("/keys/{key}", IdempotencyKeyPages::one)
                .form("/keys/{key}/simulate", IdempotencyKeyPages::simulate);
    }

    private static ServerHttpResponse list(DashboardPageRequest visit) throws Exception {
        String prefix = visit.queryParameter("prefix");
        DashboardTemplateJsonAccessor page =
                visit.get("/v1/keys", visit.cursor().and("prefix", prefix));
        DashboardListTableModel grid = grid(prefix.isEmpty()
                        ? "No key has been used yet. Send a request with a key:"
                        : "No key has this prefix. Send a request with a key:")
                .withFilter("prefix", prefix)
                .withRows(page);
        return visit.page("keys", "Keys", "Keys")
                .with("grid", grid)
                .with("prefix", prefix)
                .show();
    }

    public static DashboardListTableModel tableForWorkflow(DashboardPageRequest visit, String workflow)
            throws Exception {
        String prefix = visit.queryParameter("prefix");
        return grid("No key of this workflow found. Send a request with a key:")
                .withFilter("prefix", prefix)
                .withRows(visit.get(
                        "/v1/keys", visit.cursor().and("workflow", workflow).and("prefix", prefix)));
    }

    private static DashboardListTableModel grid(String whenEmpty) {
        return DashboardListTableModel.titled("Keys in alphabetical order")
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
        return InProcessApiClient.path("keys", key)
                + UrlQuery.of("workflow", workflow).suffix();
    }

    private static ServerHttpResponse one(DashboardPageRequest visit) throws Exception {
        return one(visit, new SimulationInput(visit.queryParameter("workflow"), "", ""), RejectedDashboardForm.NONE);
    }

    private record SimulationInput(String workflow, String after, String data) {}

    /** Simulates a request with this key. Uses POST, because data must not be in a URL. */
    private static ServerHttpResponse simulate(DashboardPageRequest visit, SubmittedForm form) throws Exception {
        SimulationInput input = new SimulationInput(
                form.text("workflow"),
                form.text("after").strip(),
                form.text("data").strip());
        return visit.submit(
                "simulate",
                form,
                () -> one(visit, input, RejectedDashboardForm.NONE),
                rejection -> one(visit, new SimulationInput(input.workflow(), "", ""), rejection));
    }

    /** The record of the named workflow, or the newest if it has released the key, with the records of the others. */
    private static DashboardTemplateJsonAccessor find(DashboardPageRequest visit, String path, String workflow)
            throws Exception {
        DashboardTemplateJsonAccessor newest = visit.get(path);
        DashboardTemplateJsonAccessor meant =
                workflow.isEmpty() || newest.list("others").isEmpty()
                        ? DashboardTemplateJsonAccessor.EMPTY
                        : visit.getOrEmpty(path, UrlQuery.of("workflow", workflow));
        if (!meant.has("run_id") || meant.text("run_id").equals(newest.text("run_id"))) {
            return newest;
        }
        ObjectNode out = (ObjectNode) meant.node().deepCopy();
        ArrayNode others = out.putArray("others");
        Stream.concat(Stream.of(newest), newest.list("others").stream())
                .filter(other -> !other.text("run_id").equals(meant.text("run_id")))
                .forEach(other -> others.add(other.node()));
        return new DashboardTemplateJsonAccessor(out);
    }

    private static ServerHttpResponse one(
            DashboardPageRequest visit, SimulationInput input, RejectedDashboardForm rejection) throws Exception {
        String path = InProcessApiClient.path("v1", "keys", visit.pathParameter("key"));
        DashboardTemplateJsonAccessor key = find(visit, path, input.workflow());
        String run = InProcessApiClient.path("v1", "runs", key.text("run_id"));
        DashboardTemplateJsonAccessor requests = visit.getOrEmpty(run + "/requests");
        List<DashboardTemplateJsonAccessor> effects = visit.getOrEmpty(run + "/timeline").items().stream()
                .filter(step -> step.has("effect_key"))
                .toList();
        return visit.page("key", "Key " + key.text("idempotency_key"), "Keys")
                .with("key", key)
                .with("summary", summary(key, requests.items()))
                .with("requests", requests.items())
                .with("effects", effects)
                .with("simulation", simulated(visit, path + "/simulate", key, input))
                .with("after", input.after())
                .with("data", input.data())
                .with("rejection", rejection)
                .with("mayRelease", key.text("status").equals("active") && visit.isAllowed("POST", path + "/release"))
                .with("mayExtend", key.text("status").equals("active") && visit.isAllowed("POST", path + "/extend"))
                .show(rejection.status());
    }

    private static DashboardTemplateJsonAccessor simulated(
            DashboardPageRequest visit, String path, DashboardTemplateJsonAccessor key, SimulationInput input)
            throws Exception {
        if (!visit.isAllowed("POST", path)) {
            return DashboardTemplateJsonAccessor.EMPTY;
        }
        ObjectNode body = DashboardTemplateJsonAccessor.newObject().put("workflow", key.text("operation_name"));
        if (!input.after().isEmpty()) {
            body.put("after", input.after());
        }
        if (!input.data().isEmpty()) {
            body.set("data", StrictJsonCodec.parse(input.data()));
        }
        try {
            return visit.send("POST", path, body, "simulate");
        } catch (ApiErrorResponseException e) {
            // The user did not request it: leave out a simulation that is not possible, e.g. without the payload.
            if (input.after().isEmpty() && input.data().isEmpty()) {
                return DashboardTemplateJsonAccessor.EMPTY;
            }
            throw e;
        }
    }

    static String summary(DashboardTemplateJsonAccessor key, List<DashboardTemplateJsonAccessor> requests) {
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
            text.append(replays == 1 ? "One duplicate request was" : replays + " duplicate requests were")
                    .append(" answered with this run. ");
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
