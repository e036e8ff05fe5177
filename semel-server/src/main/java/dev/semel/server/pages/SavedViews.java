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
 * Filters of runs that were kept under a name: the reader's own, and those that everybody is shown.
 *
 * @param filter the one of this page, in the words of the API
 * @param mayKeep whether the reader may keep it
 */
public record SavedViews(List<View> all, String filter, boolean mayKeep) {
    /** @param own only its owner is shown it */
    public record View(String name, String href, boolean own, boolean current) {}

    static void addTo(Router router, Door door) {
        router.add("POST", "/views", Scope.OPEN, door.deed(SavedViews::keep))
                .add("POST", "/views/{name}/remove", Scope.OPEN, door.deed(SavedViews::remove));
    }

    static SavedViews of(Visit visit, String filter) throws Exception {
        String me = visit.visitor().principal().tokenId();
        List<View> all = new ArrayList<>();
        for (Doc view : visit.maybe("/v1/views", "limit=200").items()) {
            Doc document = view.at("document");
            if (!document.has("owner") || document.text("owner").equals(me)) {
                String kept = document.text("filter");
                all.add(new View(view.text("name"), href(kept), document.has("owner"), kept.equals(filter.strip())));
            }
        }
        return new SavedViews(List.copyOf(all), filter.strip(), visit.may("PUT", "/v1/views/x"));
    }

    /** The page that shows it: a filter is an address. */
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

    private static Answer keep(Visit visit, Form form) throws Exception {
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

    /** The version of the reader's own view of that name; 0 where there must be none, since any other is not theirs. */
    private static long ownVersion(Visit visit, String path, String name) throws Exception {
        Doc there = visit.maybe(path, "");
        String owner = there.at("document").text("owner");
        if (there.has("version") && owner.isEmpty()) {
            throw new SemelException(
                    ErrorCode.PRECONDITION_FAILED,
                    "There is a view " + name + " that everybody is shown. Nothing was changed.",
                    "Choose another name, or remove that one first.");
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
