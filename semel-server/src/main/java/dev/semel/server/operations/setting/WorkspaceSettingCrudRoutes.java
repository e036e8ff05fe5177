package dev.semel.server.operations.setting;

import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.json.StrictJsonCodec;
import dev.semel.server.http.ServerHttpRequest;
import dev.semel.server.http.ServerHttpResponse;
import dev.semel.server.http.TokenScope;
import dev.semel.server.operations.ActionRequest;
import dev.semel.server.operations.ApiRouter;
import dev.semel.server.operations.InboundJsonRequestBody;
import dev.semel.server.query.ApiErrors;
import dev.semel.server.query.PagingParameters;
import dev.semel.server.query.RunJsonRenderer;
import dev.semel.server.settings.WorkspaceSettingNameValidator;
import dev.semel.server.settings.WorkspaceSettingRepository;
import dev.semel.store.DatabaseRows;
import java.util.List;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * Serves the settings of one kind below `/v1/{kind}`: templates, channels, routes, alerts or saved views.
 *
 * @param lint returns warnings about probable mistakes, such as a channel that names a missing secret
 */
record WorkspaceSettingCrudRoutes<T>(
        WorkspaceSettingRepository<T> repository,
        WorkspaceSettingUpdater actions,
        SettingEndpoint settingEndpoint,
        BiFunction<ServerHttpRequest, T, List<String>> lint) {
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

    void addTo(ApiRouter router) {
        String one = settingEndpoint.path() + "/{" + settingEndpoint.parameter() + "}";
        router.get(settingEndpoint.path(), TokenScope.READ, this::list)
                .get(one, TokenScope.READ, this::get)
                .change("PUT", one, settingEndpoint.changeScope(), this::put, settingEndpoint.maxBodyBytes())
                .delete(one, settingEndpoint.changeScope(), this::remove);
    }

    void addVersionsTo(ApiRouter router) {
        String versions = settingEndpoint.path() + "/{" + settingEndpoint.parameter() + "}/versions";
        router.get(versions, TokenScope.READ, this::versions)
                .get(versions + "/{version}", TokenScope.READ, this::version);
    }

    private String name(ServerHttpRequest request) {
        return request.parameter(settingEndpoint.parameter());
    }

    ServerHttpResponse list(ServerHttpRequest request) {
        PagingParameters paging = PagingParameters.parse(request);
        int workspace = request.principal().workspace();
        return RunJsonRenderer.pageResponse(
                repository.page(workspace, paging.afterText(), paging.limit()),
                paging.limit(),
                WorkspaceSettingCrudRoutes::listed,
                row -> PagingParameters.encode(row.name()));
    }

    /** Lists omit large documents. */
    private static ObjectNode listed(DatabaseRows.SettingRow row) {
        ObjectNode out = WorkspaceSettingUpdater.head(row);
        if (row.body().isEmpty()) {
            return out.putNull("document").put("document_omitted", true);
        }
        out.set("document", StrictJsonCodec.parse(row.body()));
        return out;
    }

    ServerHttpResponse get(ServerHttpRequest request) {
        DatabaseRows.SettingRow row =
                ApiErrors.orThrow(repository.findRow(request.principal().workspace(), name(request)), this::unknown);
        return WorkspaceSettingUpdater.withEtag(RunJsonRenderer.ok(listed(row)), row.version());
    }

    ServerHttpResponse versions(ServerHttpRequest request) {
        List<DatabaseRows.SettingRow> rows =
                repository.versions(request.principal().workspace(), name(request));
        if (rows.isEmpty()) {
            throw unknown();
        }
        return RunJsonRenderer.ok(RunJsonRenderer.pageJson(
                rows, row -> WorkspaceSettingUpdater.head(row).put("removed", row.removed()), null));
    }

    ServerHttpResponse version(ServerHttpRequest request) {
        String version = request.parameter("version");
        DatabaseRows.SettingRow row = version.matches("[1-9][0-9]{0,8}")
                ? repository.findRow(request.principal().workspace(), name(request), Integer.parseInt(version))
                : null;
        if (row == null || row.removed()) {
            throw unknown();
        }
        return RunJsonRenderer.ok(listed(row));
    }

    private SemelException unknown() {
        return ApiErrors.notFound(
                "No " + repository.typeName() + " with this name exists in this workspace. Nothing was changed.",
                "GET " + settingEndpoint.path() + " lists them.");
    }

    ServerHttpResponse put(ServerHttpRequest request) {
        String name = WorkspaceSettingNameValidator.requireValid(repository.typeName(), name(request));
        JsonNode document = InboundJsonRequestBody.parseAny(request);
        T value = repository.parse(document);
        List<String> warnings = lint.apply(request, value);
        Integer expected = WorkspaceSettingUpdater.expectedVersion(request);
        String actor = request.principal().tokenId();
        int workspace = request.principal().workspace();
        DatabaseRows.SettingRow there = findChangeable(request, name);
        // Changes only the version that was checked, so a setting that got another owner meanwhile is not changed.
        Integer over = expected == null && settingEndpoint.hasOwner()
                ? Integer.valueOf(there == null ? 0 : there.version())
                : expected;
        return actions.put(
                request,
                new ActionRequest(
                        repository.typeName() + ".put",
                        name,
                        ActionRequest.canonical(document),
                        String.valueOf(expected)),
                repository.preparePut(
                        new WorkspaceSettingRepository.SettingDraft(workspace, name, document, over, actor)),
                row -> {
                    ObjectNode out = WorkspaceSettingUpdater.head(row);
                    warnings.forEach(out.putArray("warnings")::add);
                    return out;
                });
    }

    ServerHttpResponse remove(ServerHttpRequest request) {
        Integer expected = WorkspaceSettingUpdater.expectedVersion(request);
        int workspace = request.principal().workspace();
        String actor = request.principal().tokenId();
        String name = requireValidName(name(request));
        // An administrator may remove it, so that a user who has left does not block the name forever.
        DatabaseRows.SettingRow there =
                request.principal().hasScope(TokenScope.ADMIN) ? null : findChangeable(request, name);
        Integer over = expected == null && there != null ? Integer.valueOf(there.version()) : expected;
        return actions.remove(
                request,
                new ActionRequest(repository.typeName() + ".remove", name, String.valueOf(expected)),
                repository.prepareRemove(workspace, name, over, actor));
    }

    /** Finds an ownable setting; rejects the request if another user owns it. */
    private DatabaseRows.@Nullable SettingRow findChangeable(ServerHttpRequest request, String name) {
        DatabaseRows.SettingRow row = settingEndpoint.hasOwner()
                ? repository.findRow(request.principal().workspace(), name)
                : null;
        String owner = row == null
                ? ""
                : StrictJsonCodec.parse(row.body()).path("owner").asString("");
        if (!owner.isEmpty() && !owner.equals(request.principal().tokenId())) {
            throw new SemelException(
                    ErrorCode.FORBIDDEN,
                    "The " + repository.typeName() + " " + name + " belongs to another user. Nothing was changed.",
                    "Choose another name.");
        }
        return row;
    }

    /** An invalid name cannot exist, so the response is the same 404. */
    private String requireValidName(String name) {
        if (!WorkspaceSettingNameValidator.isValid(name)) {
            throw unknown();
        }
        return name;
    }
}
