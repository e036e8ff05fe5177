package dev.semel.server.pages;

import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.server.http.Answer;
import dev.semel.server.http.Inside;
import dev.semel.server.http.Router;
import dev.semel.server.http.Scope;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** Plans of safe replays: made, looked at, applied, stopped, and what became of them. */
public final class ReplayPages {
    private static final Pattern FILTER = Pattern.compile("(?:(?:status|workflow|key|replayed|since):\\S+(?:\\s+|$))+");
    private static final int MOST_NAMED = 1_000;
    private static final int STOP_AFTER = 5;
    private static final List<String> FATES = List.of("planned", "applied", "outdated", "refused", "left_out");

    private ReplayPages() {}

    static void addTo(Router router, Door door) {
        String one = "/replays/{replay_id}";
        router.add("GET", "/replays", Scope.OPEN, door.page(ReplayPages::list))
                .add("POST", "/replays", Scope.OPEN, door.deed(ReplayPages::make))
                .add("GET", one, Scope.OPEN, door.page(visit -> one(visit, 200, Doc.NOTHING)))
                .add("POST", one + "/again", Scope.OPEN, door.deed(ReplayPages::again))
                .add("POST", one + "/approve", Scope.OPEN, door.deed((visit, form) -> turn(visit, form, "approve")))
                .add("POST", one + "/apply", Scope.OPEN, door.deed((visit, form) -> turn(visit, form, "apply")))
                .add("POST", one + "/stop", Scope.OPEN, door.deed((visit, form) -> turn(visit, form, "stop")));
    }

    /**
     * What a plan comes to, of one sort.
     *
     * @param runs those of which this is the most dangerous step
     */
    public record Part(String action, Status status, String means, long runs, long steps) {
        static Part of(String action, Doc count) {
            return new Part(action, will(action), meaning(action), count.number("runs"), count.number("steps"));
        }
    }

    /** What becomes of a step, as a mark and a word. */
    public static Status will(String action) {
        return switch (action) {
            case "reuse" -> new Status("●", "reuse", "good");
            case "run_again" -> new Status("○", "run again", "good");
            case "send" -> new Status("→", "send", "good");
            case "resend" -> new Status("◐", "send again, same key", "good");
            case "check" -> new Status("⌕", "check first", "good");
            case "ask" -> new Status("?", "ask a person", "doubt");
            case "unprotected" -> new Status("▲", "unprotected", "bad");
            case "silent" -> new Status("⊘", "keep silent", "calm");
            default -> new Status("⊘", "not replayed", "calm");
        };
    }

    private static String meaning(String action) {
        return switch (action) {
            case "reuse" -> "The result is on record and stands.";
            case "run_again" -> "It changes nothing outside, or may be repeated.";
            case "send" -> "It goes out for the first time: nobody has it.";
            case "resend" -> "It was sent and not answered; the provider still knows its key.";
            case "check" -> "It was sent and not answered; the provider is asked first.";
            case "ask" -> "Somebody has to say how it stands.";
            case "unprotected" -> "It goes out again, and nothing stops a second one.";
            case "silent" -> "It would tell somebody something, and this replay tells nobody.";
            default -> "";
        };
    }

    private static Answer list(Visit visit) throws Exception {
        Grid grid = Grid.named("Plans of safe replays, newest first")
                .link("Plan", "replay_id", "replays")
                .status("Stands", "status")
                .text("Of", "what")
                .text("Runs", "runs")
                .text("Safe", "safe")
                .text("Blocked", "blocked")
                .text("By", "made_by")
                .time("Made", "made_at")
                .time("Good until", "valid_until")
                .whenEmpty("No replay was planned. A plan runs nothing:", "semel replay plan status:failed since:2h")
                .of(visit.get("/v1/replays", ListPages.behind(visit)));
        return visit.show("list", "Replays", "Replays", Map.of("grid", grid));
    }

    private static Answer make(Visit visit, Form form) throws Exception {
        ObjectNode body = JsonNodeFactory.instance.objectNode();
        if (form.text("q").isBlank()) {
            // Of a list those that are ticked; of the page of a run, that one.
            ArrayNode runs = body.putArray("runs");
            form.all("run").forEach(runs::add);
            if (runs.isEmpty()) {
                throw new SemelException(
                        ErrorCode.INVALID_INPUT,
                        "No run is ticked, so there is nothing to plan. Nothing was changed.",
                        "Go back, and tick the runs that are to be replayed.");
            }
        } else {
            body.put("q", form.text("q").strip());
        }
        body.put("from", form.text("from").strip())
                .put("version", form.text("version").isEmpty() ? "as_it_was" : form.text("version"))
                .put("approval", form.ticked("approval"))
                .put("late_signals", form.ticked("late_signals"));
        if (!form.text("notify").isEmpty()) {
            body.put("notify", form.text("notify"));
        }
        if (form.ticked("approval")) { // what is approved is how it is applied, too; else that is said when it is
            put(body, "rate", form.text("rate").strip());
            body.put("stop_after", STOP_AFTER);
        }
        return made(visit, body, form);
    }

    private static Answer made(Visit visit, ObjectNode body, Form form) throws Exception {
        Doc plan = visit.send("POST", "/v1/replays", body, form.text("key"));
        return Look.goTo(plan.link("replays", "replay_id") + "?did=plan");
    }

    /** For the same runs: by the same filter, or by their ids where it was made for ids. */
    private static Answer again(Visit visit, Form form) throws Exception {
        String path = Inside.path("v1", "replays", visit.part("replay_id"));
        Doc plan = visit.get(path);
        ObjectNode body = JsonNodeFactory.instance.objectNode();
        if (FILTER.matcher(plan.text("what")).matches()) {
            body.put("q", plan.text("what"));
        } else {
            ArrayNode runs = body.putArray("runs");
            String after = "";
            do {
                Doc page = visit.get(path + "/items", "limit=200" + after);
                page.items().forEach(item -> runs.add(item.text("run_id")));
                after = page.has("next") ? "&after=" + Inside.encoded(page.text("next")) : "";
            } while (!after.isEmpty() && runs.size() < MOST_NAMED);
        }
        body.put("from", plan.text("from"))
                .put("version", plan.text("version"))
                .put("approval", plan.is("needs_approval") || plan.has("approved_by"))
                .put("late_signals", plan.is("late_signals"))
                .put("notify", plan.text("notify"));
        for (String member : List.of("include", "rate", "canary", "stop_after")) {
            if (plan.at("apply").has(member)) {
                body.set(member, plan.at("apply").node().required(member));
            }
        }
        if (!plan.list("redo").isEmpty()) {
            body.set("redo", plan.at("redo").node());
        }
        return made(visit, body, form);
    }

    private static Answer turn(Visit visit, Form form, String deed) throws Exception {
        ObjectNode body = JsonNodeFactory.instance.objectNode();
        if (deed.equals("apply") && !form.ticked("approved")) {
            ArrayNode include = body.putArray("include");
            form.all("include").forEach(include::add);
            for (String number : List.of("rate", "canary", "stop_after")) {
                put(body, number, form.text(number).strip());
            }
        } else if (deed.equals("stop")) {
            body.put("reason", form.text("reason").strip());
        }
        try {
            visit.send("POST", Inside.path("v1", "replays", visit.part("replay_id"), deed), body, form.text("key"));
        } catch (Refused e) {
            // The plan itself says best why: it is shown with what has moved, and with the way to a new one.
            return one(visit, e.status(), e.problem());
        }
        return Look.goTo(Inside.path("replays", visit.part("replay_id")) + "?did=" + deed);
    }

    /** What is no number goes as it is: the API says what it wants. */
    private static void put(ObjectNode body, String member, String text) {
        if (text.matches("[0-9]{1,7}")) {
            body.put(member, Integer.parseInt(text));
        } else if (!text.isEmpty()) {
            body.put(member, text);
        }
    }

    private static Answer one(Visit visit, int status, Doc problem) throws Exception {
        String path = Inside.path("v1", "replays", visit.part("replay_id"));
        Doc plan = visit.get(path);
        List<Part> parts = new ArrayList<>();
        plan.at("actions")
                .node()
                .properties()
                .forEach(one -> parts.add(Part.of(one.getKey(), new Doc(one.getValue()))));
        String worst = visit.asked("worst");
        String fate = visit.asked("fate");
        StringBuilder query = new StringBuilder(ListPages.behind(visit));
        add(query, "worst", worst);
        add(query, "fate", FATES.contains(fate) ? fate : "");
        Doc items = visit.get(path + "/items", query.toString());
        boolean planned = plan.text("status").equals("planned");
        Map<String, Object> shown = new HashMap<>(Map.of(
                "plan", plan,
                "parts", parts,
                "items", items,
                "worst", worst,
                "fate", fate,
                "problem", problem,
                "maker", plan.text("made_by").equals(visit.visitor().principal().tokenId())));
        shown.put("mayApply", planned && visit.may("POST", path + "/apply"));
        shown.put("mayApprove", planned && visit.may("POST", path + "/approve"));
        shown.put("mayStop", plan.text("status").equals("applying") && visit.may("POST", path + "/stop"));
        shown.put("mayPlan", visit.may("POST", "/v1/replays"));
        return visit.show(status, new Look.Sheet("replay", "Plan " + plan.text("replay_id"), "Replays", shown));
    }

    private static void add(StringBuilder query, String name, String value) {
        if (!value.isEmpty()) {
            query.append(query.isEmpty() ? "" : "&").append(name).append('=').append(Inside.encoded(value));
        }
    }
}
