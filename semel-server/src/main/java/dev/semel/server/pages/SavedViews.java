package dev.semel.server.pages;

import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.server.http.Answer;
import dev.semel.server.http.Inside;
import dev.semel.server.http.Router;
import dev.semel.server.http.Scope;
import java.util.ArrayList;
import java.util.List;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/**
 * Saved run filters: the user's own, and those shared with all users.
 *
 * @param filter the filter of this page, as an API filter string
 * @param mayKeep whether the user may save it
 */
public record SavedViews(List<View> all, String filter, boolean mayKeep) {
    /**
     * One saved filter.
     *
     * @param own only its owner sees it
     */
    public record View(String name, String href, boolean own, boolean current) {}

    static void addTo(Router router, Door guard) {
        router.add("POST", "/views", Scope.OPEN, guard.deed(SavedViews::save))
                .add("POST", "/views/{name}/remove", Scope.OPEN, guard.deed(SavedViews::remove));
    }

    static SavedViews of(Visit visit, String filter) throws Exception {
        String me = visit.visitor().principal().tokenId();
        List<View> all = new ArrayList<>();
        for (Doc view : visit.maybe("/v1/views", "limit=200").items()) {
            Doc document = view.at("document");
            if (!document.has("owner") || document.text("owner").equals(me)) {
                String saved = document.text("filter");
                all.add(new View(view.text("name"), href(saved), document.has("owner"), saved.equals(filter.strip())));
            }
        }
        return new SavedViews(List.copyOf(all), filter.strip(), visit.may("PUT", "/v1/views/x"));
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
                place = Inside.path("workflows", value, "runs");
            } else {
                query.append(query.isEmpty() ? "?" : "&")
                        .append(Inside.encoded(name))
                        .append('=')
                        .append(Inside.encoded(value));
            }
        }
        return place + query;
    }

    private static Answer save(Visit visit, Form form) throws Exception {
        String filter = form.text("filter").strip();
        ObjectNode body = JsonNodeFactory.instance.objectNode().put("filter", filter);
        if (!form.ticked("shared")) {
            body.put("owner", visit.visitor().principal().tokenId());
        }
        String name = form.text("name").strip();
        String path = Inside.path("v1", "views", name);
        visit.keep(path, body, form.text("key"), ownVersion(visit, path, name));
        return Look.goTo(back(filter, "view"));
    }

    /** The version of the user's own view of that name; 0 if the user has none. */
    private static long ownVersion(Visit visit, String path, String name) throws Exception {
        Doc there = visit.maybe(path, "");
        String owner = there.at("document").text("owner");
        if (there.has("version") && owner.isEmpty()) {
            throw new SemelException(
                    ErrorCode.PRECONDITION_FAILED,
                    "A shared view named " + name + " exists. Nothing was saved.",
                    "Choose another name, or remove the shared view first.");
        }
        return owner.equals(visit.visitor().principal().tokenId()) ? there.number("version") : 0;
    }

    private static Answer remove(Visit visit, Form form) throws Exception {
        ObjectNode nothing = JsonNodeFactory.instance.objectNode();
        visit.send("DELETE", Inside.path("v1", "views", visit.part("name")), nothing, form.text("key"));
        return Look.goTo(back(form.text("filter"), "removed"));
    }

    private static String back(String filter, String did) {
        String href = href(filter);
        return href + (href.contains("?") ? "&" : "?") + "did=" + did;
    }
}
