package dev.semel.server.api;

import dev.semel.effect.Ledger;
import dev.semel.journal.Entry;
import dev.semel.run.RunId;
import dev.semel.run.StepId;
import dev.semel.run.StepPath;
import dev.semel.server.http.Request;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** Renders the recorded steps of a run as JSON, in the order in which they began. */
final class Timeline {
    private final RunId lineage;
    private final Map<String, String> kinds;
    private final Map<String, List<Entry>> byPath = new LinkedHashMap<>();
    private final Map<String, Ledger.Row> effects = new HashMap<>();
    private final List<Entry.Resumed> resumed = new ArrayList<>();

    /** @param kinds step kinds of a workflow file by step name; empty for Java */
    Timeline(RunId lineage, Map<String, String> kinds, List<Entry> entries, List<Ledger.Row> rows) {
        this.lineage = lineage;
        this.kinds = Map.copyOf(kinds);
        for (Entry entry : entries) {
            if (entry instanceof Entry.Resumed one) {
                resumed.add(one);
                one.opened()
                        .forEach(path -> byPath.computeIfAbsent(path, _ -> new ArrayList<>())
                                .add(one));
            } else if (!(entry instanceof Entry.Redo || entry instanceof Entry.Quiet)) {
                byPath.computeIfAbsent(entry.path(), _ -> new ArrayList<>()).add(entry);
            }
        }
        for (Ledger.Row row : rows) {
            effects.put(row.facts().path(), row);
            byPath.computeIfAbsent(row.facts().path(), _ -> new ArrayList<>());
        }
    }

    /**
     * A range of steps. The order of steps never changes, so a number is a stable cursor.
     *
     * @param behind how many steps to skip
     */
    record Part(int behind, int limit) {
        private static final int MAX = 1_000;

        static final Part WHOLE = new Part(0, Integer.MAX_VALUE);

        static Part of(Request request) {
            return new Part(number(request, "after", 0, Integer.MAX_VALUE), number(request, "limit", 1, MAX));
        }

        private static int number(Request request, String name, int least, int most) {
            String text = request.query(name);
            if (text == null) {
                return least == 0 ? 0 : most;
            }
            if (text.matches("[0-9]{1,9}")) {
                int value = Integer.parseInt(text);
                if (value >= least && value <= most) {
                    return value;
                }
            }
            throw Paging.refused(
                    least == 0
                            ? "after must be the next value of an earlier response"
                            : "limit must be a whole number from 1 to " + MAX);
        }
    }

    ObjectNode items(Part part, Masks.Mask mask) {
        ObjectNode out = Views.object();
        ArrayNode items = out.putArray("items");
        byPath.entrySet().stream()
                .skip(part.behind())
                .limit(part.limit())
                .forEach(step -> items.add(item(step.getKey(), step.getValue(), effects.get(step.getKey()), mask)));
        long end = (long) part.behind() + part.limit();
        out.put("next", end < byPath.size() ? String.valueOf(end) : null);
        out.put("total", byPath.size());
        if (!resumed.isEmpty()) {
            ArrayNode all = out.putArray("resumed");
            for (Entry.Resumed one : resumed) {
                ObjectNode item = all.addObject();
                item.put("at", Views.time(one.at())).put("by", one.by()).put("reason", one.reason());
                item.put("version", one.version());
                one.opened().forEach(item.putArray("steps")::add);
            }
        }
        return out;
    }

    private ObjectNode item(String path, List<Entry> entries, Ledger.@Nullable Row row, Masks.Mask mask) {
        Entry last = entries.isEmpty() ? null : entries.getLast();
        Entry.Kind kind =
                entries.isEmpty() ? Entry.Kind.EFFECT : entries.getFirst().kind();
        ObjectNode out = Views.object();
        out.put("step_id", StepId.of(lineage, path).text());
        out.put("path", path);
        String name = path.substring(StepPath.scopeOf(path).length());
        out.put("name", name);
        out.put("kind", kinds.getOrDefault(name, kind.word()));
        out.put("protection", protection(kind, row));
        if (row == null) {
            out.putNull("effect_key");
        } else {
            out.set("effect_key", Bare.key(row).under(mask));
        }
        out.put("status", status(last, row));
        attempts(out.putArray("attempts"), entries, row, mask);
        if (last instanceof Entry.Done done) {
            out.set("result", Bare.result(done).under(mask));
            skipped(out, done);
        }
        return out;
    }

    /** Adds who skipped the step and why. */
    private static void skipped(ObjectNode out, Entry.Done done) {
        if (done.how() == Entry.How.SKIPPED && done.ref() != null) {
            String[] parts = done.ref().split("\n", 2);
            out.put("skipped_by", parts[0]).put("reason", parts.length < 2 ? "" : parts[1]);
        }
    }

    private static @Nullable String protection(Entry.Kind kind, Ledger.@Nullable Row row) {
        if (row != null) {
            return row.facts().protection();
        }
        return switch (kind) {
            case TX -> "tx";
            case EFFECT -> null;
            default -> "repeatable";
        };
    }

    private static String status(@Nullable Entry last, Ledger.@Nullable Row row) {
        boolean doubted = row != null && row.state() == Ledger.State.UNKNOWN;
        return switch (last) {
            case Entry.Done done when done.how() == Entry.How.DONE -> "completed";
            case Entry.Done done -> done.how().word();
            case Entry.Failed _ -> "failed";
            // If the worker ended after the send, the journal contains only the beginning of the effect.
            case Entry.Begun _ -> doubted ? "in_doubt" : "waiting";
            case null, default -> doubted ? "in_doubt" : "running";
        };
    }

    private static void attempts(ArrayNode out, List<Entry> entries, Ledger.@Nullable Row row, Masks.Mask mask) {
        long begun = 0;
        for (Entry entry : entries) {
            switch (entry) {
                case Entry.Tried tried ->
                    error(attempt(out, tried.attempt(), span(tried, row, begun), "failed"), tried.problem(), mask);
                case Entry.Failed failed ->
                    error(attempt(out, failed.attempts(), span(failed, row, begun), "failed"), failed.problem(), mask);
                case Entry.Done done -> {
                    String outcome = done.how() == Entry.How.DONE
                            ? "completed"
                            : done.how().word();
                    attempt(out, done.attempts(), span(done, row, begun), outcome);
                }
                case Entry.Begun waiting -> begun = waiting.at();
                case Entry.Resumed _, Entry.Redo _, Entry.Quiet _ -> {}
            }
        }
        if (out.isEmpty() && row != null) {
            out.addObject()
                    .put("n", row.attempt())
                    .put("started_at", Views.time(row.firstAt()))
                    .putNull("ended_at")
                    .put("outcome", row.state() == Ledger.State.UNKNOWN ? "unknown" : "running")
                    .putNull("error");
        }
    }

    /** @param start 0 if it is not recorded */
    private record Span(long start, long end) {}

    /**
     * The journal records the end of an attempt. The start is known only for waits and for the first attempt of an
     * effect, whose row is written before the send.
     */
    private static Span span(Entry entry, Ledger.@Nullable Row row, long begun) {
        boolean first = switch (entry) {
            case Entry.Tried tried -> tried.attempt() <= 1;
            case Entry.Failed failed -> failed.attempts() <= 1;
            case Entry.Done done -> done.attempts() <= 1 && done.how() == Entry.How.DONE;
            case Entry.Begun _, Entry.Resumed _, Entry.Redo _, Entry.Quiet _ -> false;
        };
        if (row == null) {
            return new Span(begun, entry.at());
        }
        return new Span(first && row.firstAt() <= entry.at() ? row.firstAt() : 0, entry.at());
    }

    private static ObjectNode attempt(ArrayNode out, int n, Span span, String outcome) {
        return out.addObject()
                .put("n", Math.max(1, n))
                .put("started_at", Views.time(span.start()))
                .put("ended_at", Views.time(span.end()))
                .put("outcome", outcome)
                .putNull("error");
    }

    private static void error(ObjectNode attempt, Entry.Problem problem, Masks.Mask mask) {
        attempt.putObject("error")
                .put("code", problem.code())
                .set("message", Bare.message(problem).under(mask));
    }
}
