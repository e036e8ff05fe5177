package dev.semel.server.operations.setting;

import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.server.http.ServerHttpRequest;
import dev.semel.server.http.ServerHttpResponse;
import dev.semel.server.operations.ActionRequest;
import dev.semel.server.operations.ActionResult;
import dev.semel.server.operations.AuditNote;
import dev.semel.server.operations.IdempotentInboundRequestExecutor;
import dev.semel.server.query.ApiErrors;
import dev.semel.server.query.RunJsonRenderer;
import dev.semel.store.DatabaseRows;
import dev.semel.store.StoreWriteCommand;
import dev.semel.store.StoreWriteCommand.SettingResult;
import dev.semel.store.WorkspaceSettingName;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/** Saves and removes settings: once per key, and only over the version in If-Match if the caller sends one. */
public record WorkspaceSettingUpdater(IdempotentInboundRequestExecutor actions) {
    private static final int MAX_ATTEMPTS = 5;

    /** `If-Match: "3"`: only over version 3. `If-None-Match: *`: only if none exists. Neither: over any version. */
    public static @Nullable Integer expectedVersion(ServerHttpRequest request) {
        String match = request.header("If-Match");
        String none = request.header("If-None-Match");
        if (match == null && none == null) {
            return null;
        }
        if (match == null && "*".equals(none)) {
            return 0;
        }
        if (match != null && none == null && match.matches("\"?[1-9][0-9]{0,8}\"?")) {
            return Integer.valueOf(match.replace("\"", ""));
        }
        throw ApiErrors.invalidInput(
                "Send either If-Match with a version such as \"3\" or If-None-Match with *, not both. Nothing was"
                        + " changed.",
                "Send the version that you read, or neither header.");
    }

    public ServerHttpResponse put(
            ServerHttpRequest request,
            ActionRequest actionRequest,
            StoreWriteCommand.SaveSetting put,
            Function<DatabaseRows.SettingRow, ObjectNode> view) {
        ActionResult done = execute(request, actionRequest, audited(request, put.name(), put), view);
        return withEtag(done.toResponse(), done.body().path("version").asInt(0));
    }

    public ServerHttpResponse remove(
            ServerHttpRequest request, ActionRequest actionRequest, StoreWriteCommand.RemoveSetting remove) {
        return execute(
                        request,
                        actionRequest,
                        audited(request, remove.name(), remove),
                        row -> RunJsonRenderer.newObject()
                                .put("name", row.name().substring(row.name().indexOf('\n') + 1))
                                .put("removed", true)
                                .put("version", row.version()))
                .toResponse();
    }

    /** The store writes the audit rows of settings that workers cache; other settings are audited here. */
    private StoreWriteCommand<SettingResult> audited(
            ServerHttpRequest request, WorkspaceSettingName name, StoreWriteCommand<SettingResult> edit) {
        if (name.kind().changesCatalog()) {
            return edit;
        }
        String action = name.kind().word() + (edit instanceof StoreWriteCommand.RemoveSetting ? ".remove" : ".put");
        var entry = new AuditNote(action, name.text().replace('\n', '/'), "");
        return actions.withAudit(request, entry, edit, placed -> placed instanceof SettingResult.Saved);
    }

    public void recordAudit(ServerHttpRequest request, AuditNote entry) {
        actions.recordAudit(request, entry);
    }

    /** Adds an audit entry once per key. The idempotency record contains the request and no part of the response. */
    void recordAuditOnce(ServerHttpRequest request, ActionRequest actionRequest, AuditNote entry) {
        StoreWriteCommand<Integer> noted =
                actions.withAudit(request, entry, new StoreWriteCommand.WakeRuns(List.of()), _ -> true);
        actions.runOnce(request, actionRequest, noted, _ -> RunJsonRenderer.newObject());
    }

    /** Null if nothing was saved. */
    @Nullable
    public ActionResult once(
            ServerHttpRequest request,
            ActionRequest actionRequest,
            StoreWriteCommand<SettingResult> edit,
            Function<DatabaseRows.SettingRow, ObjectNode> view) {
        return actions.runOnce(
                request,
                actionRequest,
                edit,
                outcome ->
                        outcome instanceof SettingResult.Saved(DatabaseRows.SettingRow row) ? view.apply(row) : null);
    }

    private ActionResult execute(
            ServerHttpRequest request,
            ActionRequest actionRequest,
            StoreWriteCommand<SettingResult> edit,
            Function<DatabaseRows.SettingRow, ObjectNode> view) {
        AtomicReference<@Nullable SettingResult> placed = new AtomicReference<>();
        ActionResult done = actions.runOnce(request, actionRequest, edit, outcome -> {
            placed.set(outcome);
            return outcome instanceof SettingResult.Saved(DatabaseRows.SettingRow row) ? view.apply(row) : null;
        });
        if (done != null) {
            return done;
        }
        throw placed.get() instanceof SettingResult.VersionConflict(int version)
                ? versionConflict(version)
                : unknownSetting();
    }

    /** Repeats a change after a concurrent one. A caller who sent a version gets the conflict. */
    public static ServerHttpResponse retryUnlessVersioned(
            @Nullable Integer expected, Supplier<ServerHttpResponse> change) {
        for (int attempt = 1; ; attempt++) {
            try {
                return change.get();
            } catch (SemelException e) {
                if (e.code() != ErrorCode.PRECONDITION_FAILED || expected != null || attempt == MAX_ATTEMPTS) {
                    throw e;
                }
            }
        }
    }

    public static SemelException versionConflict(int version) {
        String now = version == 0 ? "it no longer exists" : "its version is now " + version;
        return new SemelException(
                        ErrorCode.PRECONDITION_FAILED,
                        "Another request changed this document since you read it: " + now + ". Nothing was changed.",
                        "Read the document again, apply your change to it, and send the version that you read in"
                                + " If-Match.")
                .with("version", version);
    }

    static SemelException unknownSetting() {
        return ApiErrors.notFound(
                "Nothing with this name exists in this workspace. Nothing was changed.",
                "Check the name. GET on the same path without the name lists what exists.");
    }

    /** Adds the version as ETag; a document without a version has none. */
    public static ServerHttpResponse withEtag(ServerHttpResponse answer, int version) {
        return version == 0 ? answer : answer.with("ETag", "\"" + version + "\"");
    }

    public static ObjectNode head(DatabaseRows.SettingRow row) {
        return RunJsonRenderer.newObject()
                .put("name", row.name())
                .put("version", row.version())
                .put("changed_at", RunJsonRenderer.formatTime(row.changedAt()))
                .put("changed_by", row.changedBy());
    }
}
