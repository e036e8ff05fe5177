package dev.semel.server.api;

import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.server.http.HttpRequest;
import dev.semel.server.http.HttpResponse;
import dev.semel.store.SettingName;
import dev.semel.store.StoreCommand;
import dev.semel.store.StoreCommand.SettingResult;
import dev.semel.store.StoredRows;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/**
 * Saves and removes settings: once per idempotency key, and only over the version in If-Match if the caller sends one.
 */
final class SettingActions {
    private final IdempotentActions actions;

    SettingActions(IdempotentActions actions) {
        this.actions = actions;
    }

    /** `If-Match: "3"`: only over version 3. `If-None-Match: *`: only if none exists. Neither: over any version. */
    static @Nullable Integer expectedVersion(HttpRequest request) {
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
        throw new SemelException(
                ErrorCode.INVALID_INPUT,
                "If-Match must be a version such as \"3\", or If-None-Match must be *, not both. Nothing was changed.",
                "Send the version that you read, or neither header.");
    }

    HttpResponse put(
            HttpRequest request,
            IdempotentActions.ActionRequest actionRequest,
            StoreCommand.SaveSetting put,
            Function<StoredRows.SettingRow, ObjectNode> view) {
        IdempotentActions.ActionResult done = execute(request, actionRequest, audited(request, put.name(), put), view);
        return withEtag(done.toResponse(), done.body().path("version").asInt(0));
    }

    HttpResponse remove(
            HttpRequest request, IdempotentActions.ActionRequest actionRequest, StoreCommand.RemoveSetting remove) {
        return execute(
                        request,
                        actionRequest,
                        audited(request, remove.name(), remove),
                        row -> JsonViews.newObject()
                                .put("name", row.name().substring(row.name().indexOf('\n') + 1))
                                .put("removed", true)
                                .put("version", row.version()))
                .toResponse();
    }

    /** The store writes the audit rows of settings that workers cache; other settings are audited here. */
    private StoreCommand<SettingResult> audited(
            HttpRequest request, SettingName name, StoreCommand<SettingResult> edit) {
        if (name.kind().changesCatalog()) {
            return edit;
        }
        String action = name.kind().word() + (edit instanceof StoreCommand.RemoveSetting ? ".remove" : ".put");
        var entry = new IdempotentActions.AuditNote(action, name.text().replace('\n', '/'), "");
        return actions.withAudit(request, entry, edit, placed -> placed instanceof SettingResult.Saved);
    }

    /** Adds an audit entry. */
    void recordAudit(HttpRequest request, IdempotentActions.AuditNote entry) {
        actions.recordAudit(request, entry);
    }

    /** Adds an audit entry once per key. The idempotency record contains the request and no part of the response. */
    void recordAuditOnce(
            HttpRequest request, IdempotentActions.ActionRequest actionRequest, IdempotentActions.AuditNote entry) {
        StoreCommand<Integer> noted =
                actions.withAudit(request, entry, new StoreCommand.WakeRuns(List.of()), _ -> true);
        actions.runOnce(request, actionRequest, noted, _ -> JsonViews.newObject());
    }

    /** Null if nothing was saved. */
    IdempotentActions.@Nullable ActionResult once(
            HttpRequest request,
            IdempotentActions.ActionRequest actionRequest,
            StoreCommand<SettingResult> edit,
            Function<StoredRows.SettingRow, ObjectNode> view) {
        return actions.runOnce(
                request,
                actionRequest,
                edit,
                outcome -> outcome instanceof SettingResult.Saved(StoredRows.SettingRow row) ? view.apply(row) : null);
    }

    private IdempotentActions.ActionResult execute(
            HttpRequest request,
            IdempotentActions.ActionRequest actionRequest,
            StoreCommand<SettingResult> edit,
            Function<StoredRows.SettingRow, ObjectNode> view) {
        AtomicReference<@Nullable SettingResult> placed = new AtomicReference<>();
        IdempotentActions.ActionResult done = actions.runOnce(request, actionRequest, edit, outcome -> {
            placed.set(outcome);
            return outcome instanceof SettingResult.Saved(StoredRows.SettingRow row) ? view.apply(row) : null;
        });
        if (done != null) {
            return done;
        }
        throw placed.get() instanceof SettingResult.VersionConflict(int version)
                ? versionConflict(version)
                : unknownSetting();
    }

    static SemelException versionConflict(int version) {
        String now = version == 0 ? "it no longer exists" : "its version is now " + version;
        return new SemelException(
                        ErrorCode.PRECONDITION_FAILED,
                        "Another request changed this document since you read it: " + now + ". Nothing was changed.",
                        "Read it again, apply your change and send the new version in If-Match.")
                .with("version", version);
    }

    static SemelException unknownSetting() {
        return new SemelException(
                ErrorCode.NOT_FOUND,
                "Nothing with this name exists in this workspace. Nothing was changed.",
                "Check the name. GET on the same path without the name lists what exists.");
    }

    /** Adds the version as ETag; a document without a version has none. */
    static HttpResponse withEtag(HttpResponse answer, int version) {
        return version == 0 ? answer : answer.with("ETag", "\"" + version + "\"");
    }

    static ObjectNode head(StoredRows.SettingRow row) {
        return JsonViews.newObject()
                .put("name", row.name())
                .put("version", row.version())
                .put("changed_at", JsonViews.formatTime(row.changedAt()))
                .put("changed_by", row.changedBy());
    }

    /** Encodes a name as an opaque cursor. */
    static String nameCursor(String name) {
        return Base64.getUrlEncoder().withoutPadding().encodeToString(name.getBytes(StandardCharsets.UTF_8));
    }

    static String nameAfter(PagingParameters paging) {
        if (paging.after() == null) {
            return "";
        }
        try {
            return new String(Base64.getUrlDecoder().decode(paging.after()), StandardCharsets.UTF_8);
        } catch (IllegalArgumentException e) {
            throw PagingParameters.invalidQuery("after must be the next value of an earlier response");
        }
    }
}
