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

/** Changes of settings: with a key once, and only over the version that the caller has seen, where they say which. */
final class SettingDeeds {
    private final Deeds deeds;

    SettingDeeds(Deeds deeds) {
        this.deeds = deeds;
    }

    /** `If-Match: "3"`: over version 3 only. `If-None-Match: *`: only where there is none. Neither: over whatever there is. */
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
                "If-Match holds a version such as \"3\", or If-None-Match holds *; not both. Nothing was changed.",
                "Send the version that you have read, or neither header.");
    }

    Answer put(Request request, Deeds.Deed deed, Edit.Put put, Function<Rows.Setting, ObjectNode> view) {
        Deeds.Done done = done(request, deed, noted(request, put.name(), put), view);
        return tagged(done.answer(), done.body().path("version").asInt(0));
    }

    Answer remove(Request request, Deeds.Deed deed, Edit.Remove remove) {
        return done(
                        request,
                        deed,
                        noted(request, remove.name(), remove),
                        row -> Views.object()
                                .put("name", row.name().substring(row.name().indexOf('\n') + 1))
                                .put("removed", true)
                                .put("version", row.version()))
                .answer();
    }

    /** Documents that workers remember write their rows by themselves; of these, what people change is written here. */
    private Edit<Placed> noted(Request request, SettingName name, Edit<Placed> edit) {
        if (name.kind().watched()) {
            return edit;
        }
        String action = name.kind().word() + (edit instanceof Edit.Remove ? ".remove" : ".put");
        var entry = new Deeds.Entry(action, name.text().replace('\n', '/'), "");
        return deeds.noting(request, entry, edit, placed -> placed instanceof Placed.Now);
    }

    /** Writes down what somebody asks for. */
    void note(Request request, Deeds.Entry entry) {
        deeds.note(request, entry);
    }

    /** The same, once for its key. What is kept for whoever asks again is that it was asked, and nothing of the answer. */
    void noteOnce(Request request, Deeds.Deed deed, Deeds.Entry entry) {
        Edit<Integer> noted = deeds.noting(request, entry, new Edit.Wake(List.of()), _ -> true);
        deeds.once(request, deed, noted, _ -> Views.object());
    }

    /** Null where nothing was placed. */
    Deeds.@Nullable Done once(
            Request request, Deeds.Deed deed, Edit<Placed> edit, Function<Rows.Setting, ObjectNode> view) {
        return deeds.once(
                request,
                deed,
                edit,
                outcome -> outcome instanceof Placed.Now(Rows.Setting row) ? view.apply(row) : null);
    }

    private Deeds.Done done(
            Request request, Deeds.Deed deed, Edit<Placed> edit, Function<Rows.Setting, ObjectNode> view) {
        AtomicReference<@Nullable Placed> placed = new AtomicReference<>();
        Deeds.Done done = deeds.once(request, deed, edit, outcome -> {
            placed.set(outcome);
            return outcome instanceof Placed.Now(Rows.Setting row) ? view.apply(row) : null;
        });
        if (done != null) {
            return done;
        }
        throw placed.get() instanceof Placed.Moved(int version) ? moved(version) : unknown();
    }

    static SemelException moved(int version) {
        String now = version == 0 ? "there is none now" : "it is at version " + version + " now";
        return new SemelException(
                        ErrorCode.PRECONDITION_FAILED,
                        "Somebody else changed it since you read it: " + now + ". Nothing was changed.",
                        "Read it again, apply your change to what you find, and send that version in If-Match.")
                .with("version", version);
    }

    static SemelException unknown() {
        return new SemelException(
                ErrorCode.NOT_FOUND,
                "There is nothing of that name in this workspace. Nothing was changed.",
                "Check the name; the list of them is at the same path without it.");
    }

    /** With the version as `If-Match` takes it; a document that has none goes without. */
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

    /** Names as cursors: opaque, so that nobody builds one. */
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
            throw Paging.refused("after is not a cursor that a list gave");
        }
    }
}
