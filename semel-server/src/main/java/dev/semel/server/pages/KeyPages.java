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

/** Keys, and what happened to one of them. */
public final class KeyPages {
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
                .within("prefix", prefix)
                .of(page);
        return visit.show("keys", "Keys", "Keys", Map.of("grid", grid, "prefix", prefix));
    }

    /** Those of one workflow. */
    static Grid ofWorkflow(Visit visit, String workflow) throws Exception {
        String after = visit.asked("after");
        String prefix = visit.asked("prefix");
        String query = "workflow=" + Inside.encoded(workflow) + "&prefix=" + Inside.encoded(prefix);
        return grid("No key of this workflow was found here. Send one:")
                .within("prefix", prefix)
                .of(visit.get("/v1/keys", after.isEmpty() ? query : query + "&after=" + Inside.encoded(after)));
    }

    private static Grid grid(String whenEmpty) {
        return Grid.named("Keys by their text")
                .link(
                        "Key",
                        doc -> doc.text("idempotency_key"),
                        doc -> address(doc.text("idempotency_key"), doc.text("operation_name")))
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

    /** The page of a key as one workflow knows it: another one may have the same. */
    public static String address(String key, String workflow) {
        return Inside.path("keys", key) + (workflow.isEmpty() ? "" : "?workflow=" + Inside.encoded(workflow));
    }

    private static Answer one(Visit visit) throws Exception {
        return one(visit, new Question(visit.asked("workflow"), "", ""), Again.NOT);
    }

    /** What somebody asks about a key: as which workflow knows it, and what would happen if it came. */
    private record Question(String workflow, String after, String data) {}

    /** What would happen if it came again; asked by a form, because data do not belong into an address. */
    private static Answer foretold(Visit visit, Form form) throws Exception {
        Question asked = new Question(
                form.text("workflow"),
                form.text("after").strip(),
                form.text("data").strip());
        return visit.trying(
                "simulate",
                form,
                () -> one(visit, asked, Again.NOT),
                again -> one(visit, new Question(asked.workflow(), "", ""), again));
    }

    /**
     * The key as the named workflow knows it, and the others beside it. Where that one knows it no more, since it was
     * let go and used elsewhere, it is told as it stands.
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

    private static Answer one(Visit visit, Question asked, Again again) throws Exception {
        String path = Inside.path("v1", "keys", visit.part("key"));
        Doc key = find(visit, path, asked.workflow());
        String run = Inside.path("v1", "runs", key.text("run_id"));
        Doc requests = visit.maybe(run + "/requests", "");
        List<Doc> effects = visit.maybe(run + "/timeline", "").items().stream()
                .filter(step -> step.has("effect_key"))
                .toList();
        Map<String, Object> parts = Map.of(
                "key",
                key,
                "story",
                story(key, requests.items()),
                "requests",
                requests.items(),
                "effects",
                effects,
                "foretold",
                simulated(visit, path + "/simulate", key, asked),
                "after",
                asked.after(),
                "data",
                asked.data(),
                "again",
                again,
                "mayRelease",
                key.text("status").equals("active") && visit.may("POST", path + "/release"),
                "mayExtend",
                key.text("status").equals("active") && visit.may("POST", path + "/extend"));
        return visit.show(again.status(), new Look.Sheet("key", "Key " + key.text("idempotency_key"), "Keys", parts));
    }

    private static Doc simulated(Visit visit, String path, Doc key, Question asked) throws Exception {
        if (!visit.may("POST", path)) {
            return Doc.NOTHING;
        }
        ObjectNode body = JsonNodeFactory.instance.objectNode().put("workflow", key.text("operation_name"));
        if (!asked.after().isEmpty()) {
            body.put("after", asked.after());
        }
        if (!asked.data().isEmpty()) {
            body.set("data", Json.parse(asked.data()));
        }
        try {
            return visit.send("POST", path, body, "simulate");
        } catch (Refused e) {
            // Nobody asked: what cannot be foretold, such as of a payload that is gone, is left out of the page.
            if (asked.after().isEmpty() && asked.data().isEmpty()) {
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
