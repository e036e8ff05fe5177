package dev.semel.server.dashboard.setting;

import dev.semel.server.dashboard.login.DashboardRouter;
import dev.semel.server.dashboard.page.DashboardPageRequest;
import dev.semel.server.dashboard.page.DashboardTemplateJsonAccessor;
import dev.semel.server.dashboard.page.PageRenderer;
import dev.semel.server.dashboard.page.SubmittedForm;
import dev.semel.server.http.ServerHttpResponse;
import java.util.List;
import java.util.stream.Stream;
import tools.jackson.databind.node.ObjectNode;

public final class TokenAndSecretFormHandler {
    private TokenAndSecretFormHandler() {}

    public static void addTo(DashboardRouter routes) {
        routes.form("/settings/tokens", TokenAndSecretFormHandler::createToken)
                .form("/settings/tokens/{token_id}/revoke", TokenAndSecretFormHandler::revokeToken)
                .form("/settings/secrets", TokenAndSecretFormHandler::storeSecret)
                .form("/settings/secrets/{name}/remove", TokenAndSecretFormHandler::removeSecret);
    }

    /** Shows the new token on the response page only. A repeated form does not show it again. */
    private static ServerHttpResponse createToken(DashboardPageRequest visit, SubmittedForm form) throws Exception {
        ObjectNode body = DashboardTemplateJsonAccessor.newObject()
                .put("name", form.text("name").strip());
        form.values("scopes").forEach(body.putArray("scopes")::add);
        if (form.text("quota").strip().matches("[0-9]{1,8}")) {
            body.put("quota_per_minute", Integer.parseInt(form.text("quota").strip()));
        }
        if (!form.text("workspace").isBlank()) {
            body.put("workspace", form.text("workspace").strip());
        }
        DashboardTemplateJsonAccessor made = visit.send("POST", form, body, "tokens");
        String secret = made.has("token") ? made.text("token") : "created before";
        return WorkspaceSettingListPages.list(visit, "tokens", secret);
    }

    private static ServerHttpResponse revokeToken(DashboardPageRequest visit, SubmittedForm form) throws Exception {
        visit.send(
                "DELETE", form, DashboardTemplateJsonAccessor.newObject(), "tokens", visit.pathParameter("token_id"));
        return PageRenderer.redirect("/settings/tokens?did=revoked");
    }

    private static ServerHttpResponse storeSecret(DashboardPageRequest visit, SubmittedForm form) throws Exception {
        ObjectNode body = DashboardTemplateJsonAccessor.newObject().put("value", form.text("value"));
        List<String> hosts = Stream.of(form.text("hosts").strip().split("[\\s,]+"))
                .filter(host -> !host.isEmpty())
                .toList();
        if (!hosts.isEmpty()) {
            hosts.forEach(body.putArray("hosts")::add);
        } else if (form.text("any_host").equals("yes")) {
            body.putArray("hosts");
        }
        visit.send("PUT", form, body, "secrets", form.text("name").strip());
        return PageRenderer.redirect("/settings/secrets?did=saved");
    }

    private static ServerHttpResponse removeSecret(DashboardPageRequest visit, SubmittedForm form) throws Exception {
        visit.send("DELETE", form, DashboardTemplateJsonAccessor.newObject(), "secrets", visit.pathParameter("name"));
        return PageRenderer.redirect("/settings/secrets?did=removed");
    }
}
