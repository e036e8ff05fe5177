package dev.semel.journal;

import dev.semel.journal.Entry.How;
import dev.semel.journal.Entry.Kind;
import dev.semel.journal.Entry.Problem;
import dev.semel.json.Json;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/**
 * Encodes journal entries as JSON chunks and decodes them. Entries that are committed together are one chunk. The run
 * row itself is the first entry, so a new run has an empty journal. Members with default values are omitted: a plain
 * step is `{"step":…,"at":…,"result":…}`.
 */
public final class Journal {
    private Journal() {}

    /** Returns empty text for no entries. */
    public static String encode(List<Entry> entries) {
        ArrayNode out = JsonNodeFactory.instance.arrayNode(entries.size());
        for (Entry entry : entries) {
            ObjectNode line = out.addObject().put("step", entry.path()).put("at", entry.at());
            if (entry.kind() != Kind.STEP) {
                line.put("kind", entry.kind().word());
            }
            switch (entry) {
                case Entry.Done done -> done(line, done);
                case Entry.Failed failed -> {
                    line.put("attempts", failed.attempts());
                    problem(line, failed.problem());
                }
                case Entry.Tried tried -> {
                    line.put("attempt", tried.attempt()).put("due", tried.due());
                    problem(line, tried.problem());
                }
                case Entry.Begun begun -> {
                    line.put("due", begun.due());
                    if (begun.ref() != null) {
                        line.put("ref", begun.ref());
                    }
                }
                case Entry.Resumed resumed -> {
                    line.put("resumed_by", resumed.by()).put("reason", resumed.reason());
                    line.put("version", resumed.version());
                    resumed.opened().forEach(line.putArray("reopened")::add);
                }
                case Entry.Redo redo -> redo.paths().forEach(line.putArray("redo")::add);
                case Entry.Quiet _ -> line.put("notifications_muted", true);
            }
        }
        return Json.write(out);
    }

    private static void done(ObjectNode line, Entry.Done done) {
        line.set("result", done.result());
        if (done.how() != How.DONE) {
            line.put("outcome", done.how().word());
        }
        if (done.attempts() != 1) {
            line.put("attempts", done.attempts());
        }
        if (done.ref() != null) {
            line.put("ref", done.ref());
        }
    }

    private static void problem(ObjectNode line, Problem problem) {
        ObjectNode error = line.putObject("error").put("code", problem.code()).put("message", problem.message());
        problem.types().forEach(error.putArray("types")::add);
    }

    public static List<Entry> decode(String chunk) {
        List<Entry> entries = new ArrayList<>();
        for (JsonNode line : Json.parse(chunk)) {
            entries.add(entry(line));
        }
        return entries;
    }

    private static Entry entry(JsonNode line) {
        String path = line.required("step").asString();
        long at = line.required("at").asLong();
        Kind kind = line.has("kind") ? Kind.of(line.required("kind").asString()) : Kind.STEP;
        if (line.has("error")) {
            JsonNode error = line.required("error");
            List<String> types = new ArrayList<>();
            error.required("types").forEach(type -> types.add(type.asString()));
            Problem problem = new Problem(
                    error.required("code").asString(),
                    types,
                    error.required("message").asString());
            return line.has("attempt")
                    ? new Entry.Tried(
                            path,
                            kind,
                            at,
                            problem,
                            line.required("attempt").asInt(),
                            line.required("due").asLong())
                    : new Entry.Failed(
                            path, kind, at, problem, line.required("attempts").asInt());
        }
        if (line.has("resumed_by")) {
            List<String> opened = new ArrayList<>();
            line.required("reopened").forEach(one -> opened.add(one.asString()));
            return new Entry.Resumed(
                    at,
                    line.required("resumed_by").asString(),
                    line.required("reason").asString(),
                    opened,
                    line.required("version").asInt());
        }
        if (line.has("redo")) {
            List<String> paths = new ArrayList<>();
            line.required("redo").forEach(one -> paths.add(one.asString()));
            return new Entry.Redo(at, paths);
        }
        if (line.has("notifications_muted")) {
            return new Entry.Quiet(at);
        }
        String ref = text(line, "ref");
        if (!line.has("result")) {
            return new Entry.Begun(path, kind, at, line.required("due").asLong(), ref);
        }
        How how = line.has("outcome") ? How.of(line.required("outcome").asString()) : How.DONE;
        int attempts = line.has("attempts") ? line.required("attempts").asInt() : 1;
        return new Entry.Done(path, kind, at, line.required("result"), how, attempts, ref);
    }

    private static @Nullable String text(JsonNode line, String member) {
        return line.has(member) ? line.required(member).asString() : null;
    }
}
