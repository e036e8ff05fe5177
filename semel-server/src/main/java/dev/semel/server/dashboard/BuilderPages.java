package dev.semel.server.dashboard;

import dev.semel.server.http.HttpResponse;
import dev.semel.server.http.InternalApiClient;
import dev.semel.server.http.Route;
import dev.semel.server.http.Router;
import dev.semel.server.http.TokenScope;
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
final class BuilderPages {
    /** 256 KiB of text, percent-encoded. */
    private static final int LARGEST_FORM = 1024 * 1024;

    /** The page for a new workflow. Not below /workflows, where every word can be a workflow name. */
    static final String NEW = "/builder";

    private static final List<String> EXAMPLES = List.of("payment_receipt", "new_lead", "fulfil_order");

    private BuilderPages() {}

    static void addTo(Router router, DashboardGuard guard) {
        router.add("GET", NEW, TokenScope.OPEN, guard.page(BuilderPages::begin))
                .add("GET", "/workflows/{id}/edit", TokenScope.OPEN, guard.page(BuilderPages::open))
                .add(form(NEW, guard, (visit, form) -> edit(visit, form, "")))
                .add(form("/workflows/{id}/edit", guard, (visit, form) -> edit(visit, form, visit.pathParameter("id"))))
                .add(form(NEW + "/publish", guard, (visit, form) -> publish(visit, form, "")))
                .add(form(
                        "/workflows/{id}/publish",
                        guard,
                        (visit, form) -> publish(visit, form, visit.pathParameter("id"))));
    }

    private static Route form(String path, DashboardGuard guard, DashboardGuard.FormHandler action) {
        return new Route("POST", path, TokenScope.OPEN, guard.form(action)).withMaxBody(LARGEST_FORM);
    }

    /** A new workflow, from the minimal file or from an example. */
    private static HttpResponse begin(PageVisit visit) throws Exception {
        String from = visit.queryParameter("from");
        String text = EXAMPLES.contains(from)
                ? read("/examples/" + from + ".yaml").replaceFirst("(?m)^workflow:[ \\t]*\\S+", "workflow: my_" + from)
                : read("/dev/semel/server/smallest.yaml").replace("%s", "my_workflow");
        return show(visit, new EditorState("", text, ""), JsonNodeFactory.instance.arrayNode());
    }

    private static String read(String resource) {
        try (InputStream in = BuilderPages.class.getResourceAsStream(resource)) {
            if (in == null) {
                throw new IllegalStateException(resource + " is not in the jar");
            }
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new IllegalStateException(resource + " cannot be read", e);
        }
    }

    private static HttpResponse open(PageVisit visit) throws Exception {
        ApiJson workflow = visit.get(InternalApiClient.path("v1", "workflows", visit.pathParameter("id")));
        EditorState sketch = new EditorState(workflow.text("workflow"), workflow.text("definition"), tag(workflow));
        return show(visit, sketch, JsonNodeFactory.instance.arrayNode());
    }

    /** The current version and its candidate, in the form that `If-Match` expects. */
    private static String tag(ApiJson workflow) {
        String candidate = workflow.at("candidate").text("version");
        return "\"" + workflow.text("version") + (candidate.isEmpty() ? "" : "-" + candidate) + "\"";
    }

    private static HttpResponse edit(PageVisit visit, SubmittedForm form, String name) throws Exception {
        EditorState sketch = EditorState.of(form, name);
        ArrayNode edits = StepPanel.edits(form, form.text("do"));
        if (form.text("do").equals("publish")) {
            ApiJson draft = drafted(visit, sketch, edits);
            if (draft.is("valid")) {
                return confirm(visit, sketch.withText(draft.text("text")), draft, ApiJson.EMPTY);
            }
        }
        return show(visit, sketch, edits);
    }

    /** Empty if an edit is not possible; the page shows the reason. */
    private static ApiJson drafted(PageVisit visit, EditorState sketch, ArrayNode edits) throws Exception {
        try {
            return draft(visit, sketch, edits, "");
        } catch (ApiRejectionException e) {
            if (e.status() != 400) {
                throw e;
            }
            return ApiJson.EMPTY;
        }
    }

    /** The edited text and the version that was published when the edit began. */
    record EditorState(String name, String text, String baseVersion) {
        /** Browsers send every line end as CR LF; the form stores which line end the file has. */
        static EditorState of(SubmittedForm form, String name) {
            String text = form.text("text").replace("\r\n", "\n");
            return new EditorState(
                    name, form.text("eol").equals("crlf") ? text.replace("\n", "\r\n") : text, form.text("base"));
        }

        EditorState withText(String other) {
            return new EditorState(name, other, baseVersion);
        }

        String editPath() {
            return name.isEmpty() ? NEW : InternalApiClient.path("workflows", name, "edit");
        }

        String publishPath() {
            return name.isEmpty() ? NEW + "/publish" : InternalApiClient.path("workflows", name, "publish");
        }
    }

    private static ApiJson draft(PageVisit visit, EditorState sketch, ArrayNode edits, String step) throws Exception {
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

    private static HttpResponse show(PageVisit visit, EditorState sketch, ArrayNode edits) throws Exception {
        String step = StepPanel.stepAfter(edits, visit.queryParameter("step"));
        ApiJson rejection = ApiJson.EMPTY;
        ApiJson draft;
        try {
            draft = draft(visit, sketch, edits, step);
        } catch (ApiRejectionException e) {
            if (e.status() != 400 || edits.isEmpty()) {
                throw e;
            }
            rejection = e.problem();
            draft = draft(visit, sketch, JsonNodeFactory.instance.arrayNode(), step);
        }
        boolean may = visit.isAllowed(
                "PUT", InternalApiClient.path("v1", "workflows", sketch.name().isEmpty() ? "x" : sketch.name()));
        StepPanel panel = StepPanel.of(draft, step, visit.queryParameter("tab"));
        return visit.show(
                "builder",
                sketch.name().isEmpty() ? "New workflow" : "Edit " + sketch.name(),
                "Workflows",
                Map.of(
                        "view",
                        new BuilderView(sketch.editPath(), sketch.name(), sketch.baseVersion(), may, draft, rejection),
                        "panel",
                        panel,
                        "readable",
                        ExpressionFields.of(visit, sketch.name(), draft, panel.isOpen() ? step : ""),
                        "mayTrigger",
                        !sketch.name().isEmpty()
                                && visit.isAllowed(
                                        "POST", InternalApiClient.path("v1", "workflows", sketch.name(), "trigger")),
                        "tried",
                        tried(visit, sketch, panel)));
    }

    /** Backtests the selected window, half of it and twice of it against what this step has sent. */
    private static ApiJson tried(PageVisit visit, EditorState sketch, StepPanel panel) throws Exception {
        List<String> windows = panel.windows();
        if (windows.isEmpty() || sketch.name().isEmpty()) {
            return ApiJson.EMPTY;
        }
        ObjectNode body = JsonNodeFactory.instance
                .objectNode()
                .put("workflow", sketch.name())
                .put("step", panel.step());
        windows.forEach(body.putArray("windows")::add);
        try {
            return visit.send("POST", "/v1/backtests", body, "backtest");
        } catch (ApiRejectionException e) {
            return ApiJson.EMPTY; // the window may be incomplete while the user types; the text shows the error
        }
    }

    /** @param conflict the API's problem if another user published in the meantime, else empty */
    private static HttpResponse confirm(PageVisit visit, EditorState sketch, ApiJson draft, ApiJson conflict)
            throws Exception {
        ApiJson diff = draft.at("diff");
        String now = diff.text("tag");
        String version = diff.text("version");
        String seen = number(sketch.baseVersion());
        boolean published = !now.isEmpty() && !seen.equals(version);
        ApiJson theirs = published ? between(visit, sketch, seen, version) : ApiJson.EMPTY;
        // Shown even if the user has seen the candidate, because publishing ends it.
        String candidate = diff.at("candidate").text("version");
        ApiJson tried = candidate.isEmpty() ? ApiJson.EMPTY : between(visit, sketch, version, candidate);
        return visit.show(
                "publish",
                "Publish " + draft.text("workflow"),
                "Workflows",
                Map.of(
                        "view",
                        new BuilderView(
                                sketch.publishPath(),
                                draft.text("workflow"),
                                now.isEmpty() ? sketch.baseVersion() : now,
                                true,
                                draft,
                                conflict),
                        "back",
                        sketch.editPath(),
                        "seen",
                        sketch.baseVersion(),
                        "theirs",
                        theirs,
                        "tried",
                        tried));
    }

    private static ApiJson between(PageVisit visit, EditorState sketch, String from, String to) throws Exception {
        return visit.getOrEmpty(
                InternalApiClient.path("v1", "workflows", sketch.name(), "diff"),
                "from=" + InternalApiClient.encode(from) + "&to=" + to);
    }

    /** The version number in an entity tag. */
    private static String number(String tag) {
        String digits = tag.replace("\"", "");
        int dash = digits.indexOf('-');
        return dash < 0 ? digits : digits.substring(0, dash);
    }

    private static HttpResponse publish(PageVisit visit, SubmittedForm form, String name) throws Exception {
        EditorState sketch = EditorState.of(form, name);
        String workflowName = name.isEmpty() ? form.text("workflow") : name;
        InternalApiClient.ApiCall call = new InternalApiClient.ApiCall(
                "PUT",
                InternalApiClient.path("v1", "workflows", workflowName),
                "",
                Map.of("content-type", "application/yaml", "idempotency-key", form.text("key")),
                sketch.text().getBytes(StandardCharsets.UTF_8));
        try {
            visit.call(
                    sketch.baseVersion().isEmpty()
                            ? call.withHeader("If-None-Match", "*")
                            : call.withHeader("If-Match", sketch.baseVersion()));
        } catch (ApiRejectionException e) {
            if (e.status() != 412) {
                throw e;
            }
            EditorState known = new EditorState(workflowName, sketch.text(), sketch.baseVersion());
            ApiJson draft = draft(visit, known, JsonNodeFactory.instance.arrayNode(), "");
            return confirm(visit, known, draft, e.problem());
        }
        return PageRenderer.redirect(InternalApiClient.path("workflows", workflowName, "definition") + "?did=publish");
    }
}
