package dev.semel.server.pages;

import dev.semel.json.Json;
import dev.semel.server.http.Answer;
import dev.semel.server.http.Inside;
import dev.semel.server.http.Router;
import dev.semel.server.http.Scope;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** Keys, and what happened to one of them. */
final class KeyPages {
    private KeyPages() {}

    static void addTo(Router router, Door door) {
        router.add("GET", "/keys", Scope.OPEN, door.page(KeyPages::list))
                .add("GET", "/keys/{key}", Scope.OPEN, door.page(KeyPages::one))
                .add("POST", "/keys/{key}/simulate", Scope.OPEN, door.deed(KeyPages::foretold));
    }

    private static Answer list(Visit visit) throws Exception {
        String prefix = visit.asked("prefix");
        String after = visit.asked("after");
        Doc page = visit.get(
                "/v1/keys",
                "prefix=" + Inside.encoded(prefix) + (after.isEmpty() ? "" : "&after=" + Inside.encoded(after)));
        Grid grid = grid(prefix.isEmpty()
                        ? "No key has been used yet. Send one:"
                        : "No key begins with that. Send one:")
                .of(page);
        return visit.show("keys", "Keys", "Keys", Map.of("grid", grid, "prefix", prefix));
    }

    /** Those of one workflow. */
    static Grid ofWorkflow(Visit visit, String workflow) throws Exception {
        String after = visit.asked("after");
        String query = "workflow=" + Inside.encoded(workflow) + "&prefix=" + Inside.encoded(visit.asked("prefix"));
        return grid("No key of this workflow was found here. Send one:")
                .of(visit.get("/v1/keys", after.isEmpty() ? query : query + "&after=" + Inside.encoded(after)));
    }

    private static Grid grid(String whenEmpty) {
        return Grid.named("Keys by their text")
                .link("Key", "idempotency_key", "keys")
                .status("Stands", "status")
                .link("Workflow", "operation_name", "workflows")
                .link("Run", "run_id", "runs")
                .status("Run is", "run_status")
                .text("Replayed", "replays")
                .text("Conflicts", "conflicts")
                .time("First seen", "created_at")
                .time("Expires", "expires_at")
                .whenEmpty(
                        whenEmpty,
                        "semel send payment_receipt --key evt_1 --data '{\"payment_id\":\"pay_1\",\"amount\":4900,"
                                + "\"currency\":\"usd\"}'");
    }

    private static Answer one(Visit visit) throws Exception {
        return one(visit, "", "");
    }

    /** What would happen if it came again; asked by a form, because data do not belong into an address. */
    private static Answer foretold(Visit visit, Form form) throws Exception {
        return one(visit, form.text("after").strip(), form.text("data").strip());
    }

    private static Answer one(Visit visit, String after, String data) throws Exception {
        String path = Inside.path("v1", "keys", visit.part("key"));
        String workflow = visit.asked("workflow");
        Doc key = visit.get(path, workflow.isEmpty() ? "" : "workflow=" + Inside.encoded(workflow));
        String run = Inside.path("v1", "runs", key.text("run_id"));
        Doc requests = visit.maybe(run + "/requests", "");
        List<Doc> effects = visit.maybe(run + "/timeline", "").items().stream()
                .filter(step -> step.has("effect_key"))
                .toList();
        return visit.show(
                "key",
                "Key " + key.text("idempotency_key"),
                "Keys",
                Map.of(
                        "mayExtend",
                        key.text("status").equals("active") && visit.may("POST", path + "/extend"),
                        "key",
                        key,
                        "story",
                        story(key, requests.items()),
                        "requests",
                        requests.items(),
                        "effects",
                        effects,
                        "foretold",
                        simulated(visit, path + "/simulate", after, data),
                        "after",
                        after,
                        "data",
                        data,
                        "mayRelease",
                        key.text("status").equals("active") && visit.may("POST", path + "/release")));
    }

    private static Doc simulated(Visit visit, String path, String after, String data) throws Exception {
        if (!visit.may("POST", path)) {
            return Doc.NOTHING;
        }
        ObjectNode body = JsonNodeFactory.instance.objectNode();
        if (!after.isEmpty()) {
            body.put("after", after);
        }
        if (!data.isEmpty()) {
            body.set("data", Json.parse(data));
        }
        try {
            return visit.send("POST", path, body, "simulate");
        } catch (Refused e) {
            // Nobody asked: what cannot be foretold, such as of a payload that is gone, is left out of the page.
            if (body.isEmpty()) {
                return Doc.NOTHING;
            }
            throw e;
        }
    }

    /** What happened to it, in sentences. */
    static String story(Doc key, List<Doc> requests) {
        StringBuilder story = new StringBuilder("It started ")
                .append(key.text("run_id"))
                .append(" of ")
                .append(key.text("operation_name"))
                .append(", which is ")
                .append(key.text("run_status").replace('_', ' '))
                .append(". ");
        long replays = key.number("replays");
        long conflicts = key.number("conflicts");
        if (replays == 0 && conflicts == 0) {
            return story.append("It has not come again.").toString();
        }
        if (replays > 0) {
            story.append(replays == 1 ? "One duplicate was" : replays + " duplicates were")
                    .append(" answered with that run. ");
        }
        if (conflicts > 0) {
            TreeSet<String> fields = new TreeSet<>();
            requests.forEach(request -> request.list("changed").forEach(field -> fields.add(field.text())));
            story.append(conflicts == 1 ? "One request was" : conflicts + " requests were")
                    .append(" refused")
                    .append(fields.isEmpty() ? ". " : " because " + String.join(", ", fields) + " differed. ");
        }
        return story.append("No second run was started.").toString();
    }
}
