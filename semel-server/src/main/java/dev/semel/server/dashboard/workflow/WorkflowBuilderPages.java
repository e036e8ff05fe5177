package dev.semel.server.dashboard.workflow;

import dev.semel.server.dashboard.login.DashboardRouter;
import dev.semel.server.dashboard.page.ApiErrorResponseException;
import dev.semel.server.dashboard.page.DashboardPageRequest;
import dev.semel.server.dashboard.page.DashboardTemplateJsonAccessor;
import dev.semel.server.dashboard.page.SubmittedForm;
import dev.semel.server.dashboard.page.UrlQuery;
import dev.semel.server.http.InProcessApiClient;
import dev.semel.server.http.InProcessApiClient.ApiCall;
import dev.semel.server.http.ServerHttpResponse;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** The text is part of the page's form; the API applies each edit to it, and the page shows the API's response. */
public final class WorkflowBuilderPages {
    /** 256 KiB of text, percent-encoded. */
    private static final int LARGEST_FORM = 1024 * 1024;

    /** The page for a new workflow. Not below /workflows, where every word can be a workflow name. */
    static final String NEW = "/builder";

    private static final List<String> EXAMPLES = List.of("payment_receipt", "new_lead", "fulfil_order");

    private WorkflowBuilderPages() {}

    public static void addTo(DashboardRouter routes) {
        routes.page(NEW, WorkflowBuilderPages::begin)
                .page("/workflows/{id}/edit", WorkflowBuilderPages::open)
                .form(NEW, LARGEST_FORM, (visit, form) -> edit(visit, form, ""))
                .form(
                        "/workflows/{id}/edit",
                        LARGEST_FORM,
                        (visit, form) -> edit(visit, form, visit.pathParameter("id")))
                .form(NEW + "/publish", LARGEST_FORM, (visit, form) -> publish(visit, form, ""))
                .form(
                        "/workflows/{id}/publish",
                        LARGEST_FORM,
                        (visit, form) -> publish(visit, form, visit.pathParameter("id")));
    }

    /** A new workflow, from the minimal file or from an example. */
    private static ServerHttpResponse begin(DashboardPageRequest visit) throws Exception {
        String from = visit.queryParameter("from");
        String text = EXAMPLES.contains(from)
                ? read("/examples/" + from + ".yaml").replaceFirst("(?m)^workflow:[ \\t]*\\S+", "workflow: my_" + from)
                : read("/dev/semel/server/smallest.yaml").replace("%s", "my_workflow");
        return show(visit, new EditorState("", text, ""), JsonNodeFactory.instance.arrayNode());
    }

    private static String read(String resource) {
        try (InputStream in = WorkflowBuilderPages.class.getResourceAsStream(resource)) {
            if (in == null) {
                throw new IllegalStateException(resource + " is not in the jar");
            }
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new IllegalStateException(resource + " cannot be read", e);
        }
    }

    private static ServerHttpResponse open(DashboardPageRequest visit) throws Exception {
        DashboardTemplateJsonAccessor workflow =
                visit.get(InProcessApiClient.path("v1", "workflows", visit.pathParameter("id")));
        EditorState sketch = new EditorState(workflow.text("workflow"), workflow.text("definition"), tag(workflow));
        return show(visit, sketch, JsonNodeFactory.instance.arrayNode());
    }

    /** The current version and its candidate, in the form that `If-Match` expects. */
    private static String tag(DashboardTemplateJsonAccessor workflow) {
        String candidate = workflow.at("candidate").text("version");
        return "\"" + workflow.text("version") + (candidate.isEmpty() ? "" : "-" + candidate) + "\"";
    }

    private static ServerHttpResponse edit(DashboardPageRequest visit, SubmittedForm form, String name)
            throws Exception {
        EditorState sketch = EditorState.of(form, name);
        ArrayNode edits = WorkflowStepEditorPanel.edits(form, form.text("do"));
        if (form.text("do").equals("publish")) {
            DashboardTemplateJsonAccessor draft = drafted(visit, sketch, edits);
            if (draft.is("valid")) {
                return confirm(visit, sketch.withText(draft.text("text")), draft, DashboardTemplateJsonAccessor.EMPTY);
            }
        }
        return show(visit, sketch, edits);
    }

    /** Empty if an edit is not possible; the page shows the reason. */
    private static DashboardTemplateJsonAccessor drafted(
            DashboardPageRequest visit, EditorState sketch, ArrayNode edits) throws Exception {
        try {
            return draft(visit, sketch, edits, "");
        } catch (ApiErrorResponseException e) {
            if (e.status() != 400) {
                throw e;
            }
            return DashboardTemplateJsonAccessor.EMPTY;
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
            return name.isEmpty() ? NEW : InProcessApiClient.path("workflows", name, "edit");
        }

        String publishPath() {
            return name.isEmpty() ? NEW + "/publish" : InProcessApiClient.path("workflows", name, "publish");
        }
    }

    private static DashboardTemplateJsonAccessor draft(
            DashboardPageRequest visit, EditorState sketch, ArrayNode edits, String step) throws Exception {
        ObjectNode body = DashboardTemplateJsonAccessor.newObject().put("text", sketch.text());
        if (!sketch.name().isEmpty()) {
            body.put("workflow", sketch.name());
        }
        if (!step.isEmpty()) {
            body.put("step", step);
        }
        body.set("edits", edits);
        return visit.send("POST", "/v1/drafts", body, "draft");
    }

    private static ServerHttpResponse show(DashboardPageRequest visit, EditorState sketch, ArrayNode edits)
            throws Exception {
        String step = WorkflowStepEditorPanel.stepAfter(edits, visit.queryParameter("step"));
        DashboardTemplateJsonAccessor rejection = DashboardTemplateJsonAccessor.EMPTY;
        DashboardTemplateJsonAccessor draft;
        try {
            draft = draft(visit, sketch, edits, step);
        } catch (ApiErrorResponseException e) {
            if (e.status() != 400 || edits.isEmpty()) {
                throw e;
            }
            rejection = e.problem();
            draft = draft(visit, sketch, JsonNodeFactory.instance.arrayNode(), step);
        }
        boolean may = visit.isAllowed(
                "PUT", InProcessApiClient.path("v1", "workflows", sketch.name().isEmpty() ? "x" : sketch.name()));
        WorkflowStepEditorPanel panel = WorkflowStepEditorPanel.of(draft, step, visit.queryParameter("tab"));
        return visit.page("builder", sketch.name().isEmpty() ? "New workflow" : "Edit " + sketch.name(), "Workflows")
                .with(
                        "view",
                        new WorkflowBuilderView(
                                sketch.editPath(), sketch.name(), sketch.baseVersion(), may, draft, rejection))
                .with("panel", panel)
                .with(
                        "readable",
                        ExpressionFieldSuggestions.of(visit, sketch.name(), draft, panel.isOpen() ? step : ""))
                .with(
                        "mayTrigger",
                        !sketch.name().isEmpty()
                                && visit.isAllowed(
                                        "POST", InProcessApiClient.path("v1", "workflows", sketch.name(), "trigger")))
                .with("tried", tried(visit, sketch, panel))
                .show();
    }

    /** Backtests the selected window, half of it and twice of it against what this step has sent. */
    private static DashboardTemplateJsonAccessor tried(
            DashboardPageRequest visit, EditorState sketch, WorkflowStepEditorPanel panel) throws Exception {
        List<String> windows = panel.windows();
        if (windows.isEmpty() || sketch.name().isEmpty()) {
            return DashboardTemplateJsonAccessor.EMPTY;
        }
        ObjectNode body = DashboardTemplateJsonAccessor.newObject()
                .put("workflow", sketch.name())
                .put("step", panel.step());
        windows.forEach(body.putArray("windows")::add);
        try {
            return visit.send("POST", "/v1/backtests", body, "backtest");
        } catch (ApiErrorResponseException e) {
            return DashboardTemplateJsonAccessor
                    .EMPTY; // the window may be incomplete while the user types; the text shows the error
        }
    }

    /** @param conflict the API's problem if another user published in the meantime, else empty */
    private static ServerHttpResponse confirm(
            DashboardPageRequest visit,
            EditorState sketch,
            DashboardTemplateJsonAccessor draft,
            DashboardTemplateJsonAccessor conflict)
            throws Exception {
        DashboardTemplateJsonAccessor diff = draft.at("diff");
        String now = diff.text("tag");
        String version = diff.text("version");
        String seen = number(sketch.baseVersion());
        boolean published = !now.isEmpty() && !seen.isEmpty() && !seen.equals(version);
        DashboardTemplateJsonAccessor theirs =
                published ? between(visit, sketch, seen, version) : DashboardTemplateJsonAccessor.EMPTY;
        // Shown even if the user has seen the candidate, because publishing ends it.
        String candidate = diff.at("candidate").text("version");
        DashboardTemplateJsonAccessor tried =
                candidate.isEmpty() ? DashboardTemplateJsonAccessor.EMPTY : between(visit, sketch, version, candidate);
        return visit.page("publish", "Publish " + draft.text("workflow"), "Workflows")
                .with(
                        "view",
                        new WorkflowBuilderView(
                                sketch.publishPath(),
                                draft.text("workflow"),
                                now.isEmpty() ? sketch.baseVersion() : now,
                                true,
                                draft,
                                conflict))
                .with("back", sketch.editPath())
                .with("seen", sketch.baseVersion())
                .with("theirs", theirs)
                .with("tried", tried)
                .show();
    }

    private static DashboardTemplateJsonAccessor between(
            DashboardPageRequest visit, EditorState sketch, String from, String to) throws Exception {
        return visit.getOrEmpty(
                InProcessApiClient.path("v1", "workflows", sketch.name(), "diff"),
                UrlQuery.of("from", from).and("to", to));
    }

    /** The version number in an entity tag. */
    private static String number(String tag) {
        String digits = tag.replace("\"", "");
        int dash = digits.indexOf('-');
        return dash < 0 ? digits : digits.substring(0, dash);
    }

    private static ServerHttpResponse publish(DashboardPageRequest visit, SubmittedForm form, String name)
            throws Exception {
        EditorState sketch = EditorState.of(form, name);
        String workflowName = name.isEmpty() ? form.text("workflow") : name;
        ApiCall call = new ApiCall(
                "PUT",
                InProcessApiClient.path("v1", "workflows", workflowName),
                "",
                Map.of("content-type", "application/yaml", "idempotency-key", form.text("key")),
                sketch.text().getBytes(StandardCharsets.UTF_8));
        try {
            visit.call(
                    sketch.baseVersion().isEmpty()
                            ? call.withHeader("If-None-Match", "*")
                            : call.withHeader("If-Match", sketch.baseVersion()));
        } catch (ApiErrorResponseException e) {
            if (e.status() != 412) {
                throw e;
            }
            EditorState editorState = new EditorState(workflowName, sketch.text(), sketch.baseVersion());
            DashboardTemplateJsonAccessor draft = draft(visit, editorState, JsonNodeFactory.instance.arrayNode(), "");
            return confirm(visit, editorState, draft, e.problem());
        }
        return visit.redirect("publish", "workflows", workflowName, "definition");
    }
}
