package dev.semel.server.pages;

import dev.semel.server.http.Answer;
import dev.semel.server.http.Inside;
import dev.semel.server.http.Route;
import dev.semel.server.http.Router;
import dev.semel.server.http.Scope;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/**
 * The pages of the workflow builder: a workflow file as a list of steps with forms, beside its YAML text. The text is
 * part of the page's form; the API applies each edit to it, and the page shows the API's response.
 */
final class Builder {
    /** 256 KiB of text, percent-encoded. */
    private static final int LARGEST_FORM = 1024 * 1024;

    /** The page for a new workflow. Not below /workflows, where every word can be a workflow name. */
    static final String NEW = "/builder";

    private static final List<String> EXAMPLES = List.of("payment_receipt", "new_lead", "fulfil_order");

    private Builder() {}

    static void addTo(Router router, Door guard) {
        router.add("GET", NEW, Scope.OPEN, guard.page(Builder::begin))
                .add("GET", "/workflows/{id}/edit", Scope.OPEN, guard.page(Builder::open))
                .add(form(NEW, guard, (visit, form) -> edit(visit, form, "")))
                .add(form("/workflows/{id}/edit", guard, (visit, form) -> edit(visit, form, visit.part("id"))))
                .add(form(NEW + "/publish", guard, (visit, form) -> publish(visit, form, "")))
                .add(form("/workflows/{id}/publish", guard, (visit, form) -> publish(visit, form, visit.part("id"))));
    }

    private static Route form(String path, Door guard, Door.Deed action) {
        return new Route("POST", path, Scope.OPEN, guard.deed(action)).withMaxBody(LARGEST_FORM);
    }

    /** A new workflow, from the minimal file or from an example. */
    private static Answer begin(Visit visit) throws Exception {
        String from = visit.asked("from");
        String text = EXAMPLES.contains(from)
                ? read("/examples/" + from + ".yaml").replaceFirst("(?m)^workflow:[ \\t]*\\S+", "workflow: my_" + from)
                : read("/dev/semel/server/smallest.yaml").replace("%s", "my_workflow");
        return show(visit, new Sketch("", text, ""), JsonNodeFactory.instance.arrayNode());
    }

    private static String read(String resource) {
        try (InputStream in = Builder.class.getResourceAsStream(resource)) {
            if (in == null) {
                throw new IllegalStateException(resource + " is not in the jar");
            }
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new IllegalStateException(resource + " cannot be read", e);
        }
    }

    private static Answer open(Visit visit) throws Exception {
        Doc workflow = visit.get(Inside.path("v1", "workflows", visit.part("id")));
        Sketch sketch = new Sketch(workflow.text("workflow"), workflow.text("definition"), tag(workflow));
        return show(visit, sketch, JsonNodeFactory.instance.arrayNode());
    }

    /** The current version and its candidate, in the form that `If-Match` expects. */
    private static String tag(Doc workflow) {
        String candidate = workflow.at("candidate").text("version");
        return "\"" + workflow.text("version") + (candidate.isEmpty() ? "" : "-" + candidate) + "\"";
    }

    private static Answer edit(Visit visit, Form form, String name) throws Exception {
        Sketch sketch = Sketch.of(form, name);
        ArrayNode edits = StepPanel.edits(form, form.text("do"));
        if (form.text("do").equals("publish")) {
            Doc draft = drafted(visit, sketch, edits);
            if (draft.is("valid")) {
                return confirm(visit, sketch.with(draft.text("text")), draft, Doc.NOTHING);
            }
        }
        return show(visit, sketch, edits);
    }

    /** Empty if an edit is not possible; the page shows the reason. */
    private static Doc drafted(Visit visit, Sketch sketch, ArrayNode edits) throws Exception {
        try {
            return draft(visit, sketch, edits, "");
        } catch (Refused e) {
            if (e.status() != 400) {
                throw e;
            }
            return Doc.NOTHING;
        }
    }

    /** The edited text and the version that was published when the edit began. */
    record Sketch(String name, String text, String base) {
        /** Browsers send every line end as CR LF; the form stores which line end the file has. */
        static Sketch of(Form form, String name) {
            String text = form.text("text").replace("\r\n", "\n");
            return new Sketch(
                    name, form.text("eol").equals("crlf") ? text.replace("\n", "\r\n") : text, form.text("base"));
        }

        Sketch with(String other) {
            return new Sketch(name, other, base);
        }

        String path() {
            return name.isEmpty() ? NEW : Inside.path("workflows", name, "edit");
        }

        String publishPath() {
            return name.isEmpty() ? NEW + "/publish" : Inside.path("workflows", name, "publish");
        }
    }

    private static Doc draft(Visit visit, Sketch sketch, ArrayNode edits, String step) throws Exception {
        ObjectNode body = JsonNodeFactory.instance.objectNode().put("text", sketch.text());
        if (!sketch.name().isEmpty()) {
            body.put("workflow", sketch.name());
        }
        if (!step.isEmpty()) {
            body.put("step", step);
        }
        body.set("edits", edits);
        return visit.send("POST", "/v1/drafts", body, "draft");
    }

    private static Answer show(Visit visit, Sketch sketch, ArrayNode edits) throws Exception {
        String step = StepPanel.stepAfter(edits, visit.asked("step"));
        Doc rejection = Doc.NOTHING;
        Doc draft;
        try {
            draft = draft(visit, sketch, edits, step);
        } catch (Refused e) {
            if (e.status() != 400 || edits.isEmpty()) {
                throw e;
            }
            rejection = e.problem();
            draft = draft(visit, sketch, JsonNodeFactory.instance.arrayNode(), step);
        }
        boolean may =
                visit.may("PUT", Inside.path("v1", "workflows", sketch.name().isEmpty() ? "x" : sketch.name()));
        StepPanel panel = StepPanel.of(draft, step, visit.asked("tab"));
        return visit.show(
                "builder",
                sketch.name().isEmpty() ? "New workflow" : "Edit " + sketch.name(),
                "Workflows",
                Map.of(
                        "view",
                        new BuilderView(sketch.path(), sketch.name(), sketch.base(), may, draft, rejection),
                        "panel",
                        panel,
                        "readable",
                        InScope.of(visit, sketch.name(), draft, panel.isOpen() ? step : ""),
                        "mayTrigger",
                        !sketch.name().isEmpty()
                                && visit.may("POST", Inside.path("v1", "workflows", sketch.name(), "trigger")),
                        "tried",
                        tried(visit, sketch, panel)));
    }

    /** Backtests the selected window, half of it and twice of it against what this step has sent. */
    private static Doc tried(Visit visit, Sketch sketch, StepPanel panel) throws Exception {
        List<String> windows = panel.windows();
        if (windows.isEmpty() || sketch.name().isEmpty()) {
            return Doc.NOTHING;
        }
        ObjectNode body = JsonNodeFactory.instance
                .objectNode()
                .put("workflow", sketch.name())
                .put("step", panel.step());
        windows.forEach(body.putArray("windows")::add);
        try {
            return visit.send("POST", "/v1/backtests", body, "backtest");
        } catch (Refused e) {
            return Doc.NOTHING; // the window may be incomplete while the user types; the text shows the error
        }
    }

    /** @param conflict the API's problem if another user published in the meantime, else empty */
    private static Answer confirm(Visit visit, Sketch sketch, Doc draft, Doc conflict) throws Exception {
        Doc diff = draft.at("diff");
        String now = diff.text("tag");
        String version = diff.text("version");
        String seen = number(sketch.base());
        boolean published = !now.isEmpty() && !seen.equals(version);
        Doc theirs = published ? between(visit, sketch, seen, version) : Doc.NOTHING;
        // Shown even if the user has seen the candidate, because publishing ends it.
        String candidate = diff.at("candidate").text("version");
        Doc tried = candidate.isEmpty() ? Doc.NOTHING : between(visit, sketch, version, candidate);
        return visit.show(
                "publish",
                "Publish " + draft.text("workflow"),
                "Workflows",
                Map.of(
                        "view",
                        new BuilderView(
                                sketch.publishPath(),
                                draft.text("workflow"),
                                now.isEmpty() ? sketch.base() : now,
                                true,
                                draft,
                                conflict),
                        "back",
                        sketch.path(),
                        "seen",
                        sketch.base(),
                        "theirs",
                        theirs,
                        "tried",
                        tried));
    }

    private static Doc between(Visit visit, Sketch sketch, String from, String to) throws Exception {
        return visit.maybe(
                Inside.path("v1", "workflows", sketch.name(), "diff"), "from=" + Inside.encoded(from) + "&to=" + to);
    }

    /** The version number in an entity tag. */
    private static String number(String tag) {
        String digits = tag.replace("\"", "");
        int dash = digits.indexOf('-');
        return dash < 0 ? digits : digits.substring(0, dash);
    }

    private static Answer publish(Visit visit, Form form, String name) throws Exception {
        Sketch sketch = Sketch.of(form, name);
        String workflowName = name.isEmpty() ? form.text("workflow") : name;
        Inside.Call call = new Inside.Call(
                "PUT",
                Inside.path("v1", "workflows", workflowName),
                "",
                Map.of("content-type", "application/yaml", "idempotency-key", form.text("key")),
                sketch.text().getBytes(StandardCharsets.UTF_8));
        try {
            visit.ask(sketch.base().isEmpty() ? call.with("If-None-Match", "*") : call.with("If-Match", sketch.base()));
        } catch (Refused e) {
            if (e.status() != 412) {
                throw e;
            }
            Sketch known = new Sketch(workflowName, sketch.text(), sketch.base());
            Doc draft = draft(visit, known, JsonNodeFactory.instance.arrayNode(), "");
            return confirm(visit, known, draft, e.problem());
        }
        return Look.goTo(Inside.path("workflows", workflowName, "definition") + "?did=publish");
    }
}
