package dev.semel.server.pages;

import dev.semel.json.Json;
import dev.semel.server.http.Answer;
import dev.semel.server.http.Inside;
import dev.semel.server.http.Router;
import dev.semel.server.http.Scope;
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

    static void addTo(Router router, Door guard) {
        router.add("GET", "/keys", Scope.OPEN, guard.page(KeyPages::list))
                .add("GET", "/keys/{key}", Scope.OPEN, guard.page(KeyPages::one))
                .add("POST", "/keys/{key}/simulate", Scope.OPEN, guard.deed(KeyPages::simulate));
    }

    private static Answer list(Visit visit) throws Exception {
        String prefix = visit.asked("prefix");
        String after = visit.asked("after");
        Doc page = visit.get(
                "/v1/keys",
                "prefix=" + Inside.encoded(prefix) + (after.isEmpty() ? "" : "&after=" + Inside.encoded(after)));
        Grid grid = grid(prefix.isEmpty()
                        ? "No key has been used yet. Send one:"
                        : "No key has this prefix. Send one:")
                .within("prefix", prefix)
                .of(page);
        return visit.show("keys", "Keys", "Keys", Map.of("grid", grid, "prefix", prefix));
    }

    /** A table of one workflow's keys. */
    static Grid ofWorkflow(Visit visit, String workflow) throws Exception {
        String after = visit.asked("after");
        String prefix = visit.asked("prefix");
        String query = "workflow=" + Inside.encoded(workflow) + "&prefix=" + Inside.encoded(prefix);
        return grid("No key of this workflow found. Send one:")
                .within("prefix", prefix)
                .of(visit.get("/v1/keys", after.isEmpty() ? query : query + "&after=" + Inside.encoded(after)));
    }

    private static Grid grid(String whenEmpty) {
        return Grid.named("Keys in alphabetical order")
                .link(
                        "Key",
                        doc -> doc.text("idempotency_key"),
                        doc -> address(doc.text("idempotency_key"), doc.text("operation_name")))
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
    public static String address(String key, String workflow) {
        return Inside.path("keys", key) + (workflow.isEmpty() ? "" : "?workflow=" + Inside.encoded(workflow));
    }

    private static Answer one(Visit visit) throws Exception {
        return one(visit, new Question(visit.asked("workflow"), "", ""), Again.NOT);
    }

    /** The input of a simulation: the key's workflow, a delay, and other data. */
    private record Question(String workflow, String after, String data) {}

    /** Simulates a request with this key. Uses POST, because data must not be in a URL. */
    private static Answer simulate(Visit visit, Form form) throws Exception {
        Question input = new Question(
                form.text("workflow"),
                form.text("after").strip(),
                form.text("data").strip());
        return visit.trying(
                "simulate",
                form,
                () -> one(visit, input, Again.NOT),
                rejection -> one(visit, new Question(input.workflow(), "", ""), rejection));
    }

    /**
     * The key record of the named workflow, with the records of other workflows. If that workflow has released the key,
     * the newest record.
     */
    private static Doc find(Visit visit, String path, String workflow) throws Exception {
        Doc newest = visit.get(path);
        Doc meant = workflow.isEmpty() || newest.list("others").isEmpty()
                ? Doc.NOTHING
                : visit.maybe(path, "workflow=" + Inside.encoded(workflow));
        if (!meant.has("run_id") || meant.text("run_id").equals(newest.text("run_id"))) {
            return newest;
        }
        ObjectNode out = (ObjectNode) meant.node().deepCopy();
        ArrayNode others = out.putArray("others");
        Stream.concat(Stream.of(newest), newest.list("others").stream())
                .filter(other -> !other.text("run_id").equals(meant.text("run_id")))
                .forEach(other -> others.add(other.node()));
        return new Doc(out);
    }

    private static Answer one(Visit visit, Question input, Again rejection) throws Exception {
        String path = Inside.path("v1", "keys", visit.part("key"));
        Doc key = find(visit, path, input.workflow());
        String run = Inside.path("v1", "runs", key.text("run_id"));
        Doc requests = visit.maybe(run + "/requests", "");
        List<Doc> effects = visit.maybe(run + "/timeline", "").items().stream()
                .filter(step -> step.has("effect_key"))
                .toList();
        Map<String, Object> parts = Map.of(
                "key",
                key,
                "summary",
                story(key, requests.items()),
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
                key.text("status").equals("active") && visit.may("POST", path + "/release"),
                "mayExtend",
                key.text("status").equals("active") && visit.may("POST", path + "/extend"));
        return visit.show(
                rejection.status(), new Look.Sheet("key", "Key " + key.text("idempotency_key"), "Keys", parts));
    }

    private static Doc simulated(Visit visit, String path, Doc key, Question input) throws Exception {
        if (!visit.may("POST", path)) {
            return Doc.NOTHING;
        }
        ObjectNode body = JsonNodeFactory.instance.objectNode().put("workflow", key.text("operation_name"));
        if (!input.after().isEmpty()) {
            body.put("after", input.after());
        }
        if (!input.data().isEmpty()) {
            body.set("data", Json.parse(input.data()));
        }
        try {
            return visit.send("POST", path, body, "simulate");
        } catch (Refused e) {
            // The user did not request it: leave out a simulation that is not possible, e.g. without the payload.
            if (input.after().isEmpty() && input.data().isEmpty()) {
                return Doc.NOTHING;
            }
            throw e;
        }
    }

    /** A summary of the key's history in sentences. */
    static String story(Doc key, List<Doc> requests) {
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
