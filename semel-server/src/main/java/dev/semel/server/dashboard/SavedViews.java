package dev.semel.server.dashboard;

import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.server.http.HttpResponse;
import dev.semel.server.http.InternalApiClient;
import dev.semel.server.http.Router;
import dev.semel.server.http.TokenScope;
import java.util.ArrayList;
import java.util.List;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/**
 * Saved run filters: the user's own, and those shared with all users.
 *
 * @param filter the filter of this page, as an API filter string
 * @param maySave whether the user may save it
 */
public record SavedViews(List<SavedView> all, String filter, boolean maySave) {
    /**
     * One saved filter.
     *
     * @param personal only its owner sees it
     */
    public record SavedView(String name, String href, boolean personal, boolean current) {}

    static void addTo(Router router, DashboardGuard guard) {
        router.add("POST", "/views", TokenScope.OPEN, guard.form(SavedViews::save))
                .add("POST", "/views/{name}/remove", TokenScope.OPEN, guard.form(SavedViews::remove));
    }

    static SavedViews of(PageVisit visit, String filter) throws Exception {
        String me = visit.user().principal().tokenId();
        List<SavedView> all = new ArrayList<>();
        for (ApiJson view : visit.getOrEmpty("/v1/views", "limit=200").items()) {
            ApiJson document = view.at("document");
            if (!document.has("owner") || document.text("owner").equals(me)) {
                String saved = document.text("filter");
                all.add(new SavedView(
                        view.text("name"), href(saved), document.has("owner"), saved.equals(filter.strip())));
            }
        }
        return new SavedViews(List.copyOf(all), filter.strip(), visit.isAllowed("PUT", "/v1/views/x"));
    }

    /** The URL of the page with this filter. */
    static String href(String filter) {
        String place = "/runs";
        StringBuilder query = new StringBuilder();
        for (String word : filter.strip().split("\\s+")) {
            int colon = word.indexOf(':');
            if (colon < 1) {
                continue;
            }
            String name = word.substring(0, colon);
            String value = word.substring(colon + 1);
            if (name.equals("workflow")) {
                place = InternalApiClient.path("workflows", value, "runs");
            } else {
                query.append(query.isEmpty() ? "?" : "&")
                        .append(InternalApiClient.encode(name))
                        .append('=')
                        .append(InternalApiClient.encode(value));
            }
        }
        return place + query;
    }

    private static HttpResponse save(PageVisit visit, SubmittedForm form) throws Exception {
        String filter = form.text("filter").strip();
        ObjectNode body = JsonNodeFactory.instance.objectNode().put("filter", filter);
        if (!form.isChecked("shared")) {
            body.put("owner", visit.user().principal().tokenId());
        }
        String name = form.text("name").strip();
        String path = InternalApiClient.path("v1", "views", name);
        visit.save(path, body, form.text("key"), ownVersion(visit, path, name));
        return PageRenderer.redirect(back(filter, "view"));
    }

    /** The version of the user's own view of that name; 0 if the user has none. */
    private static long ownVersion(PageVisit visit, String path, String name) throws Exception {
        ApiJson there = visit.getOrEmpty(path, "");
        String owner = there.at("document").text("owner");
        if (there.has("version") && owner.isEmpty()) {
            throw new SemelException(
                    ErrorCode.PRECONDITION_FAILED,
                    "A shared view named " + name + " exists. Nothing was saved.",
                    "Choose another name, or remove the shared view first.");
        }
        return owner.equals(visit.user().principal().tokenId()) ? there.number("version") : 0;
    }

    private static HttpResponse remove(PageVisit visit, SubmittedForm form) throws Exception {
        ObjectNode nothing = JsonNodeFactory.instance.objectNode();
        visit.send(
                "DELETE",
                InternalApiClient.path("v1", "views", visit.pathParameter("name")),
                nothing,
                form.text("key"));
        return PageRenderer.redirect(back(form.text("filter"), "removed"));
    }

    private static String back(String filter, String did) {
        String href = href(filter);
        return href + (href.contains("?") ? "&" : "?") + "did=" + did;
    }
}
