package dev.semel.server.api;

import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.json.Json;
import dev.semel.key.CanonicalJson;
import dev.semel.server.http.Answer;
import dev.semel.server.http.Request;
import dev.semel.server.http.Router;
import dev.semel.server.http.Scope;
import dev.semel.server.settings.Names;
import dev.semel.server.settings.Shelf;
import dev.semel.store.Rows;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** Serves the settings of one kind below `/v1/{kind}`: templates, channels, routes, alerts or saved views. */
final class SettingRoutes<T> {
    private final Shelf<T> shelf;
    private final SettingDeeds actions;
    private final Place place;
    private final BiFunction<Request, T, List<String>> lint;

    /**
     * The path and permissions of one kind of setting.
     *
     * @param path the URL path of the list
     * @param parameter the name of the path parameter
     * @param change the scope required for changes
     * @param owned whether a setting can have an `owner`, the only user who may change it
     */
    record Place(String path, String parameter, Scope change, int largest, boolean owned) {
        Place(String path, String parameter, Scope change, int largest) {
            this(path, parameter, change, largest, false);
        }
    }

    /** @param lint returns warnings about probable mistakes, such as a channel that names a missing secret */
    SettingRoutes(Shelf<T> shelf, SettingDeeds actions, Place place, BiFunction<Request, T, List<String>> lint) {
        this.shelf = shelf;
        this.actions = actions;
        this.place = place;
        this.lint = lint;
    }

    void addTo(Router router) {
        String one = place.path() + "/{" + place.parameter() + "}";
        router.add("GET", place.path(), Scope.READ, this::list)
                .add("GET", one, Scope.READ, this::get)
                .add(Api.changing("PUT", one, place.change(), this::put).withMaxBody(place.largest()))
                .add(Api.changing("DELETE", one, place.change(), this::remove));
    }

    void addVersionsTo(Router router) {
        String versions = place.path() + "/{" + place.parameter() + "}/versions";
        router.add("GET", versions, Scope.READ, this::versions)
                .add("GET", versions + "/{version}", Scope.READ, this::version);
    }

    private String name(Request request) {
        return request.parameter(place.parameter());
    }

    Answer list(Request request) {
        Paging paging = Paging.of(request);
        int workspace = request.principal().workspace();
        return Views.page(
                shelf.page(workspace, SettingDeeds.after(paging), paging.limit()),
                paging.limit(),
                SettingRoutes::listed,
                row -> SettingDeeds.cursor(row.name()));
    }

    /** Lists omit large documents. */
    private static ObjectNode listed(Rows.Setting row) {
        ObjectNode out = SettingDeeds.head(row);
        if (row.body().isEmpty()) {
            return out.putNull("document").put("document_omitted", true);
        }
        out.set("document", Json.parse(row.body()));
        return out;
    }

    Answer get(Request request) {
        Rows.Setting row = shelf.row(request.principal().workspace(), name(request));
        if (row == null) {
            throw unknown();
        }
        return SettingDeeds.tagged(Views.ok(listed(row)), row.version());
    }

    Answer versions(Request request) {
        List<Rows.Setting> rows = shelf.versions(request.principal().workspace(), name(request));
        if (rows.isEmpty()) {
            throw unknown();
        }
        ObjectNode out = Views.object();
        ArrayNode items = out.putArray("items");
        rows.forEach(row -> items.add(SettingDeeds.head(row).put("removed", row.removed())));
        out.putNull("next");
        return Views.ok(out);
    }

    Answer version(Request request) {
        String version = request.parameter("version");
        Rows.Setting row = version.matches("[1-9][0-9]{0,8}")
                ? shelf.row(request.principal().workspace(), name(request), Integer.parseInt(version))
                : null;
        if (row == null || row.removed()) {
            throw unknown();
        }
        return Views.ok(listed(row));
    }

    private SemelException unknown() {
        return new SemelException(
                ErrorCode.NOT_FOUND,
                "No " + shelf.word() + " with this name exists in this workspace. Nothing was changed.",
                "GET " + place.path() + " lists them.");
    }

    Answer put(Request request) {
        String name = Names.checked(shelf.word(), name(request));
        MediaTypes.requireJson(request);
        JsonNode document = Json.parse(request.body());
        T value = shelf.check(document);
        List<String> warnings = lint.apply(request, value);
        Integer expected = SettingDeeds.expected(request);
        String actor = request.principal().tokenId();
        int workspace = request.principal().workspace();
        Rows.Setting there = findChangeable(request, name);
        // Changes only the version that was checked, so a setting that got another owner meanwhile is not changed.
        Integer over =
                expected == null && place.owned() ? Integer.valueOf(there == null ? 0 : there.version()) : expected;
        return actions.put(
                request,
                new Deeds.Deed(
                        shelf.word() + ".put",
                        name,
                        new String(CanonicalJson.bytes(document), StandardCharsets.UTF_8),
                        String.valueOf(expected)),
                shelf.putting(new Shelf.Draft(workspace, name, document, over, actor)),
                row -> {
                    ObjectNode out = SettingDeeds.head(row);
                    ArrayNode list = out.putArray("warnings");
                    warnings.forEach(list::add);
                    return out;
                });
    }

    Answer remove(Request request) {
        Integer expected = SettingDeeds.expected(request);
        int workspace = request.principal().workspace();
        String actor = request.principal().tokenId();
        String name = requireValidName(name(request));
        // An administrator may remove it, so that a user who has left does not block the name forever.
        Rows.Setting there = request.principal().may(Scope.ADMIN) ? null : findChangeable(request, name);
        Integer over = expected == null && there != null ? Integer.valueOf(there.version()) : expected;
        return actions.remove(
                request,
                new Deeds.Deed(shelf.word() + ".remove", name, String.valueOf(expected)),
                shelf.removing(workspace, name, over, actor));
    }

    /** Finds an ownable setting; rejects the request if another user owns it. */
    private Rows.@Nullable Setting findChangeable(Request request, String name) {
        Rows.Setting row = place.owned() ? shelf.row(request.principal().workspace(), name) : null;
        String owner = row == null ? "" : Json.parse(row.body()).path("owner").asString("");
        if (!owner.isEmpty() && !owner.equals(request.principal().tokenId())) {
            throw new SemelException(
                    ErrorCode.FORBIDDEN,
                    "The " + shelf.word() + " " + name + " belongs to another user. Nothing was changed.",
                    "Choose another name.");
        }
        return row;
    }

    /** An invalid name cannot exist, so the response is the same 404. */
    private String requireValidName(String name) {
        if (!Names.fits(name)) {
            throw unknown();
        }
        return name;
    }
}
