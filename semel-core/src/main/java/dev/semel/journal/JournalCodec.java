package dev.semel.journal;

import dev.semel.journal.JournalEntry.EntryKind;
import dev.semel.journal.JournalEntry.ErrorDetails;
import dev.semel.journal.JournalEntry.StepOutcome;
import dev.semel.json.StrictJsonCodec;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/**
 * Entries that are committed together are one chunk. The run row is the first entry, so a new run has an empty journal.
 * Members with default values are omitted: a plain step is `{"step":…,"at":…,"result":…}`.
 */
public final class JournalCodec {
    private JournalCodec() {}

    /** Returns empty text for no entries. */
    public static String encode(List<JournalEntry> entries) {
        ArrayNode out = JsonNodeFactory.instance.arrayNode(entries.size());
        for (JournalEntry entry : entries) {
            ObjectNode line = out.addObject().put("step", entry.path()).put("at", entry.at());
            if (entry.kind() != EntryKind.STEP) {
                line.put("kind", entry.kind().word());
            }
            switch (entry) {
                case JournalEntry.StepResult done -> done(line, done);
                case JournalEntry.StepFailure failed -> {
                    line.put("attempts", failed.attempts());
                    problem(line, failed.error());
                }
                case JournalEntry.AttemptFailure tried -> {
                    line.put("attempt", tried.attempt()).put("due", tried.due());
                    if (tried.unsent()) {
                        line.put("unsent", true);
                    }
                    if (tried.startedAt() > 0) {
                        line.put("started", tried.startedAt());
                    }
                    problem(line, tried.error());
                }
                case JournalEntry.WaitStart begun -> {
                    line.put("due", begun.due());
                    if (begun.ref() != null) {
                        line.put("ref", begun.ref());
                    }
                }
                case JournalEntry.RunResumption resumed -> {
                    line.put("resumed_by", resumed.by()).put("reason", resumed.reason());
                    line.put("version", resumed.version());
                    resumed.reopened().forEach(line.putArray("reopened")::add);
                }
                case JournalEntry.RedoRequest redo -> redo.paths().forEach(line.putArray("redo")::add);
                case JournalEntry.NotificationMute _ -> line.put("notifications_muted", true);
            }
        }
        return StrictJsonCodec.write(out);
    }

    private static void done(ObjectNode line, JournalEntry.StepResult done) {
        line.set("result", done.result());
        if (done.outcome() != StepOutcome.DONE) {
            line.put("outcome", done.outcome().word());
        }
        if (done.attempts() != 1) {
            line.put("attempts", done.attempts());
        }
        if (done.ref() != null) {
            line.put("ref", done.ref());
        }
    }

    private static void problem(ObjectNode line, ErrorDetails problem) {
        ObjectNode error = line.putObject("error").put("code", problem.code()).put("message", problem.message());
        problem.types().forEach(error.putArray("types")::add);
    }

    public static List<JournalEntry> decode(String chunk) {
        List<JournalEntry> entries = new ArrayList<>();
        for (JsonNode line : StrictJsonCodec.parse(chunk)) {
            entries.add(entry(line));
        }
        return entries;
    }

    /** Decodes a whole journal. Results are kept as text, because a long journal of parsed trees exceeds the memory. */
    public static List<JournalEntry> decodeAll(List<String> chunks) {
        List<JournalEntry> entries = new ArrayList<>();
        for (String chunk : chunks) {
            for (JournalEntry entry : decode(chunk)) {
                entries.add(entry instanceof JournalEntry.StepResult done ? done.withUnparsedResult() : entry);
            }
        }
        return entries;
    }

    private static JournalEntry entry(JsonNode line) {
        String path = line.required("step").asString();
        long at = line.required("at").asLong();
        EntryKind kind = line.has("kind") ? EntryKind.of(line.required("kind").asString()) : EntryKind.STEP;
        if (line.has("error")) {
            JsonNode error = line.required("error");
            List<String> types = new ArrayList<>();
            error.required("types").forEach(type -> types.add(type.asString()));
            ErrorDetails problem = new ErrorDetails(
                    error.required("code").asString(),
                    types,
                    error.required("message").asString());
            return line.has("attempt")
                    ? new JournalEntry.AttemptFailure(
                            path,
                            kind,
                            at,
                            problem,
                            line.required("attempt").asInt(),
                            line.required("due").asLong(),
                            line.has("unsent"),
                            line.path("started").asLong(0))
                    : new JournalEntry.StepFailure(
                            path, kind, at, problem, line.required("attempts").asInt());
        }
        if (line.has("resumed_by")) {
            List<String> opened = new ArrayList<>();
            line.required("reopened").forEach(one -> opened.add(one.asString()));
            return new JournalEntry.RunResumption(
                    at,
                    line.required("resumed_by").asString(),
                    line.required("reason").asString(),
                    opened,
                    line.required("version").asInt());
        }
        if (line.has("redo")) {
            List<String> paths = new ArrayList<>();
            line.required("redo").forEach(one -> paths.add(one.asString()));
            return new JournalEntry.RedoRequest(at, paths);
        }
        if (line.has("notifications_muted")) {
            return new JournalEntry.NotificationMute(at);
        }
        String ref = text(line, "ref");
        if (!line.has("result")) {
            return new JournalEntry.WaitStart(
                    path, kind, at, line.required("due").asLong(), ref);
        }
        StepOutcome how =
                line.has("outcome") ? StepOutcome.of(line.required("outcome").asString()) : StepOutcome.DONE;
        int attempts = line.has("attempts") ? line.required("attempts").asInt() : 1;
        return new JournalEntry.StepResult(path, kind, at, line.required("result"), how, attempts, ref);
    }

    private static @Nullable String text(JsonNode line, String member) {
        return line.has(member) ? line.required(member).asString() : null;
    }
}
