package dev.semel.server.api;

import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.server.http.Answer;
import dev.semel.server.http.Request;
import dev.semel.store.Edit;
import dev.semel.store.Edit.Placed;
import dev.semel.store.Rows;
import dev.semel.store.SettingName;
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
final class SettingDeeds {
    private final Deeds actions;

    SettingDeeds(Deeds actions) {
        this.actions = actions;
    }

    /** `If-Match: "3"`: only over version 3. `If-None-Match: *`: only if none exists. Neither: over any version. */
    static @Nullable Integer expected(Request request) {
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

    Answer put(Request request, Deeds.Deed actionRequest, Edit.Put put, Function<Rows.Setting, ObjectNode> view) {
        Deeds.Done done = execute(request, actionRequest, audited(request, put.name(), put), view);
        return tagged(done.answer(), done.body().path("version").asInt(0));
    }

    Answer remove(Request request, Deeds.Deed actionRequest, Edit.Remove remove) {
        return execute(
                        request,
                        actionRequest,
                        audited(request, remove.name(), remove),
                        row -> Views.object()
                                .put("name", row.name().substring(row.name().indexOf('\n') + 1))
                                .put("removed", true)
                                .put("version", row.version()))
                .answer();
    }

    /** The store writes the audit rows of settings that workers cache; other settings are audited here. */
    private Edit<Placed> audited(Request request, SettingName name, Edit<Placed> edit) {
        if (name.kind().watched()) {
            return edit;
        }
        String action = name.kind().word() + (edit instanceof Edit.Remove ? ".remove" : ".put");
        var entry = new Deeds.Entry(action, name.text().replace('\n', '/'), "");
        return actions.noting(request, entry, edit, placed -> placed instanceof Placed.Now);
    }

    /** Adds an audit entry. */
    void note(Request request, Deeds.Entry entry) {
        actions.note(request, entry);
    }

    /** Adds an audit entry once per key. The idempotency record contains the request and no part of the response. */
    void noteOnce(Request request, Deeds.Deed actionRequest, Deeds.Entry entry) {
        Edit<Integer> noted = actions.noting(request, entry, new Edit.Wake(List.of()), _ -> true);
        actions.once(request, actionRequest, noted, _ -> Views.object());
    }

    /** Null if nothing was saved. */
    Deeds.@Nullable Done once(
            Request request, Deeds.Deed actionRequest, Edit<Placed> edit, Function<Rows.Setting, ObjectNode> view) {
        return actions.once(
                request,
                actionRequest,
                edit,
                outcome -> outcome instanceof Placed.Now(Rows.Setting row) ? view.apply(row) : null);
    }

    private Deeds.Done execute(
            Request request, Deeds.Deed actionRequest, Edit<Placed> edit, Function<Rows.Setting, ObjectNode> view) {
        AtomicReference<@Nullable Placed> placed = new AtomicReference<>();
        Deeds.Done done = actions.once(request, actionRequest, edit, outcome -> {
            placed.set(outcome);
            return outcome instanceof Placed.Now(Rows.Setting row) ? view.apply(row) : null;
        });
        if (done != null) {
            return done;
        }
        throw placed.get() instanceof Placed.Moved(int version) ? moved(version) : unknown();
    }

    static SemelException moved(int version) {
        String now = version == 0 ? "it no longer exists" : "its version is now " + version;
        return new SemelException(
                        ErrorCode.PRECONDITION_FAILED,
                        "Another request changed this document since you read it: " + now + ". Nothing was changed.",
                        "Read it again, apply your change and send the new version in If-Match.")
                .with("version", version);
    }

    static SemelException unknown() {
        return new SemelException(
                ErrorCode.NOT_FOUND,
                "Nothing with this name exists in this workspace. Nothing was changed.",
                "Check the name. GET on the same path without the name lists what exists.");
    }

    /** Adds the version as ETag; a document without a version has none. */
    static Answer tagged(Answer answer, int version) {
        return version == 0 ? answer : answer.with("ETag", "\"" + version + "\"");
    }

    static ObjectNode head(Rows.Setting row) {
        return Views.object()
                .put("name", row.name())
                .put("version", row.version())
                .put("changed_at", Views.time(row.changedAt()))
                .put("changed_by", row.changedBy());
    }

    /** Encodes a name as an opaque cursor. */
    static String cursor(String name) {
        return Base64.getUrlEncoder().withoutPadding().encodeToString(name.getBytes(StandardCharsets.UTF_8));
    }

    static String after(Paging paging) {
        if (paging.after() == null) {
            return "";
        }
        try {
            return new String(Base64.getUrlDecoder().decode(paging.after()), StandardCharsets.UTF_8);
        } catch (IllegalArgumentException e) {
            throw Paging.refused("after must be the next value of an earlier response");
        }
    }
}
