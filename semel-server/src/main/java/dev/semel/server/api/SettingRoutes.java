package dev.semel.server.api;

import dev.semel.admission.CanonicalJson;
import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.json.StrictJson;
import dev.semel.server.http.HttpRequest;
import dev.semel.server.http.HttpResponse;
import dev.semel.server.http.Router;
import dev.semel.server.http.TokenScope;
import dev.semel.server.settings.SettingNames;
import dev.semel.server.settings.SettingRepository;
import dev.semel.store.StoredRows;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** Serves the settings of one kind below `/v1/{kind}`: templates, channels, routes, alerts or saved views. */
final class SettingRoutes<T> {
    private final SettingRepository<T> shelf;
    private final SettingActions actions;
    private final SettingEndpoint place;
    private final BiFunction<HttpRequest, T, List<String>> lint;

    /**
     * The path and permissions of one kind of setting.
     *
     * @param path the URL path of the list
     * @param parameter the name of the path parameter
     * @param changeScope the scope required for changes
     * @param hasOwner whether a setting can have an `owner`, the only user who may change it
     */
    record SettingEndpoint(String path, String parameter, TokenScope changeScope, int maxBodyBytes, boolean hasOwner) {
        SettingEndpoint(String path, String parameter, TokenScope change, int largest) {
            this(path, parameter, change, largest, false);
        }
    }

    /** @param lint returns warnings about probable mistakes, such as a channel that names a missing secret */
    SettingRoutes(
            SettingRepository<T> shelf,
            SettingActions actions,
            SettingEndpoint place,
            BiFunction<HttpRequest, T, List<String>> lint) {
        this.shelf = shelf;
        this.actions = actions;
        this.place = place;
        this.lint = lint;
    }

    void addTo(Router router) {
        String one = place.path() + "/{" + place.parameter() + "}";
        router.add("GET", place.path(), TokenScope.READ, this::list)
                .add("GET", one, TokenScope.READ, this::get)
                .add(ApiRoutes.mutationRoute("PUT", one, place.changeScope(), this::put)
                        .withMaxBody(place.maxBodyBytes()))
                .add(ApiRoutes.mutationRoute("DELETE", one, place.changeScope(), this::remove));
    }

    void addVersionsTo(Router router) {
        String versions = place.path() + "/{" + place.parameter() + "}/versions";
        router.add("GET", versions, TokenScope.READ, this::versions)
                .add("GET", versions + "/{version}", TokenScope.READ, this::version);
    }

    private String name(HttpRequest request) {
        return request.parameter(place.parameter());
    }

    HttpResponse list(HttpRequest request) {
        PagingParameters paging = PagingParameters.parse(request);
        int workspace = request.principal().workspace();
        return JsonViews.pageResponse(
                shelf.page(workspace, SettingActions.nameAfter(paging), paging.limit()),
                paging.limit(),
                SettingRoutes::listed,
                row -> SettingActions.nameCursor(row.name()));
    }

    /** Lists omit large documents. */
    private static ObjectNode listed(StoredRows.SettingRow row) {
        ObjectNode out = SettingActions.head(row);
        if (row.body().isEmpty()) {
            return out.putNull("document").put("document_omitted", true);
        }
        out.set("document", StrictJson.parse(row.body()));
        return out;
    }

    HttpResponse get(HttpRequest request) {
        StoredRows.SettingRow row = shelf.findRow(request.principal().workspace(), name(request));
        if (row == null) {
            throw unknown();
        }
        return SettingActions.withEtag(JsonViews.ok(listed(row)), row.version());
    }

    HttpResponse versions(HttpRequest request) {
        List<StoredRows.SettingRow> rows = shelf.versions(request.principal().workspace(), name(request));
        if (rows.isEmpty()) {
            throw unknown();
        }
        ObjectNode out = JsonViews.newObject();
        ArrayNode items = out.putArray("items");
        rows.forEach(row -> items.add(SettingActions.head(row).put("removed", row.removed())));
        out.putNull("next");
        return JsonViews.ok(out);
    }

    HttpResponse version(HttpRequest request) {
        String version = request.parameter("version");
        StoredRows.SettingRow row = version.matches("[1-9][0-9]{0,8}")
                ? shelf.findRow(request.principal().workspace(), name(request), Integer.parseInt(version))
                : null;
        if (row == null || row.removed()) {
            throw unknown();
        }
        return JsonViews.ok(listed(row));
    }

    private SemelException unknown() {
        return new SemelException(
                ErrorCode.NOT_FOUND,
                "No " + shelf.typeName() + " with this name exists in this workspace. Nothing was changed.",
                "GET " + place.path() + " lists them.");
    }

    HttpResponse put(HttpRequest request) {
        String name = SettingNames.requireValid(shelf.typeName(), name(request));
        ContentTypeCheck.requireJson(request);
        JsonNode document = StrictJson.parse(request.body());
        T value = shelf.parse(document);
        List<String> warnings = lint.apply(request, value);
        Integer expected = SettingActions.expectedVersion(request);
        String actor = request.principal().tokenId();
        int workspace = request.principal().workspace();
        StoredRows.SettingRow there = findChangeable(request, name);
        // Changes only the version that was checked, so a setting that got another owner meanwhile is not changed.
        Integer over =
                expected == null && place.hasOwner() ? Integer.valueOf(there == null ? 0 : there.version()) : expected;
        return actions.put(
                request,
                new IdempotentActions.ActionRequest(
                        shelf.typeName() + ".put",
                        name,
                        new String(CanonicalJson.bytes(document), StandardCharsets.UTF_8),
                        String.valueOf(expected)),
                shelf.preparePut(new SettingRepository.SettingDraft(workspace, name, document, over, actor)),
                row -> {
                    ObjectNode out = SettingActions.head(row);
                    ArrayNode list = out.putArray("warnings");
                    warnings.forEach(list::add);
                    return out;
                });
    }

    HttpResponse remove(HttpRequest request) {
        Integer expected = SettingActions.expectedVersion(request);
        int workspace = request.principal().workspace();
        String actor = request.principal().tokenId();
        String name = requireValidName(name(request));
        // An administrator may remove it, so that a user who has left does not block the name forever.
        StoredRows.SettingRow there =
                request.principal().hasScope(TokenScope.ADMIN) ? null : findChangeable(request, name);
        Integer over = expected == null && there != null ? Integer.valueOf(there.version()) : expected;
        return actions.remove(
                request,
                new IdempotentActions.ActionRequest(shelf.typeName() + ".remove", name, String.valueOf(expected)),
                shelf.prepareRemove(workspace, name, over, actor));
    }

    /** Finds an ownable setting; rejects the request if another user owns it. */
    private StoredRows.@Nullable SettingRow findChangeable(HttpRequest request, String name) {
        StoredRows.SettingRow row =
                place.hasOwner() ? shelf.findRow(request.principal().workspace(), name) : null;
        String owner =
                row == null ? "" : StrictJson.parse(row.body()).path("owner").asString("");
        if (!owner.isEmpty() && !owner.equals(request.principal().tokenId())) {
            throw new SemelException(
                    ErrorCode.FORBIDDEN,
                    "The " + shelf.typeName() + " " + name + " belongs to another user. Nothing was changed.",
                    "Choose another name.");
        }
        return row;
    }

    /** An invalid name cannot exist, so the response is the same 404. */
    private String requireValidName(String name) {
        if (!SettingNames.isValid(name)) {
            throw unknown();
        }
        return name;
    }
}
