package dev.semel.server.dashboard.setting;

import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.json.StrictJsonCodec;
import dev.semel.server.dashboard.login.DashboardRouter;
import dev.semel.server.dashboard.page.ApiErrorResponseException;
import dev.semel.server.dashboard.page.DashboardPageRequest;
import dev.semel.server.dashboard.page.DashboardTemplateJsonAccessor;
import dev.semel.server.dashboard.page.PageBuilder;
import dev.semel.server.dashboard.page.PageRenderer;
import dev.semel.server.dashboard.page.SubmittedForm;
import dev.semel.server.http.HttpProblemResponseMapper;
import dev.semel.server.http.InProcessApiClient;
import dev.semel.server.http.ServerHttpResponse;
import java.util.Set;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** The page of one settings document (channel, route, template, alert, profile or cohort): show, save, remove. */
public final class WorkspaceSettingEditPages {
    /** The kinds that users edit as JSON documents. Secrets and tokens have their own forms. */
    static final Set<String> KINDS = Set.of("channels", "routes", "templates", "alerts", "profiles", "cohorts");

    private static final String NEW = "";

    private WorkspaceSettingEditPages() {}

    public static void addTo(DashboardRouter routes) {
        String one = "/settings/{kind}/{name}";
        routes.page(one, WorkspaceSettingEditPages::one)
                .form("/settings/{kind}", (visit, form) -> save(visit, form, NEW))
                .form(one, (visit, form) -> save(visit, form, visit.pathParameter("name")))
                .form(one + "/remove", WorkspaceSettingEditPages::remove)
                .form(one + "/reveal", WorkspaceSettingEditPages::reveal)
                .form(one + "/subscriptions", WorkspaceSettingEditPages::subscribe)
                .form("/settings/cohorts/{name}/members", WorkspaceSettingEditPages::addMember)
                .form("/settings/cohorts/{name}/members/remove", WorkspaceSettingEditPages::removeMember);
    }

    static String example(String kind) {
        return switch (kind) {
            case "channels" -> """
                {
                  "kind": "webhook",
                  "url": "https://example.com/hooks/semel"
                }\
                """;
            case "routes" -> """
                {
                  "notification": "lead.welcome",
                  "channels": [{"channel": "mail", "template": "welcome", "when": "always"}]
                }\
                """;
            case "templates" -> """
                {
                  "channel": "email",
                  "subject": "Welcome",
                  "text": "Hello {{ name }},\\nwelcome."
                }\
                """;
            case "alerts" -> """
                {
                  "metric": "conflict_rate",
                  "above": "0.5%",
                  "over": "10m",
                  "channel": "mail",
                  "to": "ops@example.com"
                }\
                """;
            case "cohorts" -> """
                {
                  "description": "Paying customers"
                }\
                """;
            default -> """
                {
                  "email": "ana@example.com",
                  "attributes": {}
                }\
                """;
        };
    }

    /** @param problem why the API rejected it, or the response with its warnings */
    private record FormContent(String text, DashboardTemplateJsonAccessor problem) {}

    private static ServerHttpResponse one(DashboardPageRequest visit) throws Exception {
        if (!KINDS.contains(visit.pathParameter("kind"))) {
            return PageRenderer.redirect(InProcessApiClient.path("settings", visit.pathParameter("kind")));
        }
        DashboardTemplateJsonAccessor document = visit.get(path(visit, visit.pathParameter("name")));
        return page(
                visit,
                200,
                document,
                new FormContent(document.pretty("document"), DashboardTemplateJsonAccessor.EMPTY));
    }

    private static String path(DashboardPageRequest visit, String name) {
        if (!KINDS.contains(visit.pathParameter("kind"))) {
            throw new SemelException(
                    ErrorCode.NOT_FOUND,
                    "There is no kind of setting with this name. Nothing was done.",
                    "Go back and choose one of the settings.");
        }
        return InProcessApiClient.path("v1", visit.pathParameter("kind"), name);
    }

    private static ServerHttpResponse page(
            DashboardPageRequest visit, int status, DashboardTemplateJsonAccessor document, FormContent wrote)
            throws Exception {
        String kind = visit.pathParameter("kind");
        String name = document.has("name") ? document.text("name") : document.text("profile_id");
        String path = path(visit, name);
        PageBuilder view = visit.page("document", name, "Workspace")
                .with("kind", kind)
                .with("name", name)
                .with("document", document)
                .with("text", wrote.text())
                .with("problem", wrote.problem())
                .with("mayChange", visit.isAllowed("PUT", path));
        // A masked document is not editable: saving it would store the mask. The form shows revealed or typed values.
        view.with("masked", document.has("masked") && !wrote.problem().has("detail"));
        view.with("mayReveal", kind.equals("profiles") && visit.isAllowed("POST", path + "/reveal"));
        view.with(
                "state",
                kind.equals("alerts") ? visit.getOrEmpty(path + "/state") : DashboardTemplateJsonAccessor.EMPTY);
        view.with(
                "members",
                kind.equals("cohorts") && document.number("version") > 0
                        ? visit.get(path + "/members", visit.cursor())
                        : DashboardTemplateJsonAccessor.EMPTY);
        return view.show(status);
    }

    private static ServerHttpResponse addMember(DashboardPageRequest visit, SubmittedForm form) throws Exception {
        return changeMember(visit, form, "PUT", "member_added");
    }

    private static ServerHttpResponse removeMember(DashboardPageRequest visit, SubmittedForm form) throws Exception {
        return changeMember(visit, form, "DELETE", "member_removed");
    }

    private static ServerHttpResponse changeMember(
            DashboardPageRequest visit, SubmittedForm form, String method, String message) throws Exception {
        String profile = form.text("profile").strip();
        visit.send(
                method,
                InProcessApiClient.path("v1", "cohorts", visit.pathParameter("name"), "members", profile),
                DashboardTemplateJsonAccessor.newObject(),
                form.text("key"));
        return visit.redirect(message, "settings", "cohorts", visit.pathParameter("name"));
    }

    /** @param known the name in the URL; empty for a new document, whose name is in the form */
    private static ServerHttpResponse save(DashboardPageRequest visit, SubmittedForm form, String known)
            throws Exception {
        String kind = visit.pathParameter("kind");
        String name = known.isEmpty() ? form.text("name").strip() : known;
        try {
            JsonNode body = StrictJsonCodec.parse(form.text("document"));
            DashboardTemplateJsonAccessor saved = visit.save(path(visit, name), body, form);
            if (!saved.list("warnings").isEmpty()) {
                DashboardTemplateJsonAccessor there = visit.get(path(visit, name));
                return page(visit, 200, there, new FormContent(there.pretty("document"), saved));
            }
        } catch (ApiErrorResponseException e) {
            return rejected(visit, form, name, e);
        } catch (SemelException e) {
            DashboardTemplateJsonAccessor problem = new DashboardTemplateJsonAccessor(
                    HttpProblemResponseMapper.toDocument(e, visit.request().id()));
            return rejected(
                    visit, form, name, new ApiErrorResponseException(e.code().status(), problem));
        }
        return visit.redirect("saved", "settings", kind, name);
    }

    /** Shows the typed document again, with the current version of the stored one. */
    private static ServerHttpResponse rejected(
            DashboardPageRequest visit, SubmittedForm form, String name, ApiErrorResponseException why)
            throws Exception {
        DashboardTemplateJsonAccessor there = visit.getOrEmpty(path(visit, name));
        if (!there.node().isObject()) {
            ObjectNode none =
                    DashboardTemplateJsonAccessor.newObject().put("name", name).put("version", 0);
            there = new DashboardTemplateJsonAccessor(none);
        }
        return page(visit, why.status(), there, new FormContent(form.text("document"), why.problem()));
    }

    private static ServerHttpResponse remove(DashboardPageRequest visit, SubmittedForm form) throws Exception {
        visit.send(
                "DELETE",
                path(visit, visit.pathParameter("name")),
                DashboardTemplateJsonAccessor.newObject(),
                form.text("key"));
        return visit.redirect("removed", "settings", visit.pathParameter("kind"));
    }

    /** Shows the unmasked document to a user who gives a reason. The audit records it. */
    private static ServerHttpResponse reveal(DashboardPageRequest visit, SubmittedForm form) throws Exception {
        ObjectNode body = DashboardTemplateJsonAccessor.newObject().put("reason", form.text("reason"));
        String path = path(visit, visit.pathParameter("name")) + "/reveal";
        DashboardTemplateJsonAccessor document = visit.send("POST", path, body, form.text("key"));
        return page(
                visit,
                200,
                document,
                new FormContent(document.pretty("document"), DashboardTemplateJsonAccessor.EMPTY));
    }

    /** Changes a subscription. A topic is a channel, a kind of channel, or a notification. */
    private static ServerHttpResponse subscribe(DashboardPageRequest visit, SubmittedForm form) throws Exception {
        String topic = form.text("topic").strip();
        ObjectNode body = DashboardTemplateJsonAccessor.newObject();
        String chosen = form.text("subscribed");
        if (chosen.equals("yes") || chosen.equals("no")) {
            body.put("subscribed", chosen.equals("yes"));
        }
        visit.send("PUT", form, body, "profiles", visit.pathParameter("name"), "subscriptions", topic);
        return visit.redirect("subscribed", "settings", "profiles", visit.pathParameter("name"));
    }
}
