package dev.semel.server.dashboard.run;

import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.server.dashboard.login.DashboardRouter;
import dev.semel.server.dashboard.page.DashboardPageRequest;
import dev.semel.server.dashboard.page.DashboardTemplateJsonAccessor;
import dev.semel.server.dashboard.page.PageRenderer;
import dev.semel.server.dashboard.page.SubmittedForm;
import dev.semel.server.dashboard.page.UrlQuery;
import dev.semel.server.http.InProcessApiClient;
import dev.semel.server.http.ServerHttpResponse;
import java.util.ArrayList;
import java.util.List;
import tools.jackson.databind.node.ObjectNode;

/**
 * @param filter the filter of this page, as an API filter string
 * @param maySave whether the user may save it
 */
public record SavedRunFilters(List<SavedView> all, String filter, boolean maySave) {
    /** @param personal only its owner sees it */
    public record SavedView(String name, String href, boolean personal, boolean current) {}

    public static void addTo(DashboardRouter routes) {
        routes.form("/views", SavedRunFilters::save).form("/views/{name}/remove", SavedRunFilters::remove);
    }

    static SavedRunFilters of(DashboardPageRequest visit, String filter) throws Exception {
        String me = visit.user().principal().tokenId();
        List<SavedView> all = new ArrayList<>();
        for (DashboardTemplateJsonAccessor view :
                visit.getOrEmpty("/v1/views", UrlQuery.of("limit", "200")).items()) {
            DashboardTemplateJsonAccessor document = view.at("document");
            if (!document.has("owner") || document.text("owner").equals(me)) {
                String saved = document.text("filter");
                all.add(new SavedView(
                        view.text("name"), href(saved), document.has("owner"), saved.equals(filter.strip())));
            }
        }
        return new SavedRunFilters(List.copyOf(all), filter.strip(), visit.isAllowed("PUT", "/v1/views/x"));
    }

    static String href(String filter) {
        String place = "/runs";
        UrlQuery query = UrlQuery.EMPTY;
        for (String word : filter.strip().split("\\s+")) {
            int colon = word.indexOf(':');
            if (colon < 1) {
                continue;
            }
            String name = word.substring(0, colon);
            String value = word.substring(colon + 1);
            if (name.equals("workflow")) {
                place = InProcessApiClient.path("workflows", value, "runs");
            } else {
                query = query.and(name, value);
            }
        }
        return place + query.suffix();
    }

    private static ServerHttpResponse save(DashboardPageRequest visit, SubmittedForm form) throws Exception {
        String filter = form.text("filter").strip();
        ObjectNode body = DashboardTemplateJsonAccessor.newObject().put("filter", filter);
        if (!form.isChecked("shared")) {
            body.put("owner", visit.user().principal().tokenId());
        }
        String name = form.text("name").strip();
        String path = InProcessApiClient.path("v1", "views", name);
        visit.save(path, body, form.text("key"), ownVersion(visit, path, name));
        return PageRenderer.redirect(back(filter, "view"));
    }

    /** The version of the user's own view of that name; 0 if the user has none. */
    private static long ownVersion(DashboardPageRequest visit, String path, String name) throws Exception {
        DashboardTemplateJsonAccessor there = visit.getOrEmpty(path);
        String owner = there.at("document").text("owner");
        if (there.has("version") && owner.isEmpty()) {
            throw new SemelException(
                    ErrorCode.PRECONDITION_FAILED,
                    "A shared view named " + name + " exists. Nothing was saved.",
                    "Choose another name, or remove the shared view first.");
        }
        return owner.equals(visit.user().principal().tokenId()) ? there.number("version") : 0;
    }

    private static ServerHttpResponse remove(DashboardPageRequest visit, SubmittedForm form) throws Exception {
        visit.send("DELETE", form, DashboardTemplateJsonAccessor.newObject(), "views", visit.pathParameter("name"));
        return PageRenderer.redirect(back(form.text("filter"), "removed"));
    }

    private static String back(String filter, String did) {
        String href = href(filter);
        return href + (href.contains("?") ? "&" : "?") + "did=" + did;
    }
}
