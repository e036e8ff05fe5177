package dev.semel.server.api;

import dev.semel.Semel;
import dev.semel.effect.Ledger;
import dev.semel.journal.Entry;
import dev.semel.journal.Journal;
import dev.semel.run.RunId;
import dev.semel.run.RunState;
import dev.semel.server.http.Answer;
import dev.semel.server.http.Request;
import dev.semel.server.steps.FileStep;
import dev.semel.store.Reads;
import dev.semel.store.Review;
import dev.semel.store.Rows;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** Serves `/v1/runs`: lists runs, and returns one run, its requests and its timeline. */
final class Runs {
    private final Semel semel;
    private final Views views;
    private final Triggers triggers;

    Runs(Semel semel, Views views, Triggers triggers) {
        this.semel = semel;
        this.views = views;
        this.triggers = triggers;
    }

    Answer list(Request request) {
        return list(request, null);
    }

    Answer ofWorkflow(Request request) {
        return list(
                request,
                triggers.workflow(request.principal(), request.parameter("id"))
                        .published()
                        .workflowId());
    }

    private Answer list(Request request, @Nullable String workflowId) {
        Paging paging = Paging.of(request);
        Filter filter = Filter.parse(request.query("q"));
        String workflow = workflowId;
        if (filter.workflow() != null) {
            workflow = triggers.workflow(request.principal(), filter.workflow())
                    .published()
                    .workflowId();
        }
        long since = filter.since(now());
        Reads.RunFilter wanted = new Reads.RunFilter(
                request.principal().workspace(),
                workflow,
                filter.state(),
                filter.key(),
                filter.replayed(),
                since,
                paging.afterId(),
                paging.limit(),
                since == 0 ? null : RunId.madeSince(since));
        List<Rows.Run> found = semel.view(reads -> reads.runs(wanted));
        return views.runs(found == null ? List.of() : found, paging.limit());
    }

    private long now() {
        Long now = semel.view(reads -> reads.now());
        return now == null ? 0 : now;
    }

    Answer get(Request request) {
        Rows.Run run = views.find(request.principal(), request.parameter("run_id"));
        ObjectNode out = views.runWithRequests(run);
        return Views.ok(out.put("superseded_by", Superseded.by(semel, run.ws(), run.id())));
    }

    Answer requests(Request request) {
        Rows.Run run = views.find(request.principal(), request.parameter("run_id"));
        return views.requestPage(run, Paging.of(request));
    }

    Answer timeline(Request request) {
        Timeline.Part part = Timeline.Part.of(request);
        return Views.ok(steps(views.find(request.principal(), request.parameter("run_id")), part));
    }

    /** The recorded steps of a run, with PII masked. */
    ObjectNode steps(Rows.Run run, Timeline.Part part) {
        // Read before the steps: if a step asks again meanwhile, the response shows the earlier version of the
        // question.
        List<Review.Row> asked =
                Objects.requireNonNull(semel.view(reads -> reads.reviews().of(run.id())));
        List<Entry> entries = new ArrayList<>();
        List<String> chunks = semel.view(reads ->
                reads.journal(run.id()).stream().map(Reads.Chunk::entries).toList());
        if (chunks != null) {
            chunks.forEach(chunk -> entries.addAll(Journal.decode(chunk)));
        }
        if (run.end() != null) {
            entries.addAll(Journal.decode(run.end().entries()));
        }
        List<Ledger.Row> effects = semel.view(reads -> reads.effects(run.id()));
        Map<String, String> kinds =
                semel.version(run.workflowId(), run.version()).body() instanceof FileWorkflow file
                        ? file.definition().steps().collect(Collectors.toMap(FileStep::id, FileStep::kind))
                        : Map.of();
        var timeline = new Timeline(run.lineage(), kinds, entries, effects == null ? List.of() : effects);
        return addReviews(views.steps(run, timeline, part), asked);
    }

    private static ObjectNode addReviews(ObjectNode timeline, List<Review.Row> asked) {
        if (!asked.isEmpty()) {
            ArrayNode reviews = timeline.putArray("reviews");
            asked.forEach(row -> reviews.addObject()
                    .put("review_id", row.id())
                    .put("step", row.step().equals(Review.WHOLE_RUN) ? null : row.step())
                    .put("version", row.version())
                    .put("open", row.isOpen()));
        }
        return timeline;
    }

    /** The run filter `q`: `status:failed workflow:x key:k replayed:true since:2h`. */
    record Filter(
            @Nullable RunState state,
            @Nullable String workflow,
            @Nullable String key,
            boolean replayed,
            long ageMicros) {
        static Filter parse(@Nullable String text) {
            RunState state = null;
            String workflow = null;
            String key = null;
            boolean replayed = false;
            long age = 0;
            for (String word : text == null || text.isBlank()
                    ? new String[0]
                    : text.strip().split("\\s+")) {
                int colon = word.indexOf(':');
                String value = word.substring(colon + 1);
                switch (colon < 1 || value.isEmpty() ? "" : word.substring(0, colon)) {
                    case "status" -> state = state(value);
                    case "workflow" -> workflow = value;
                    case "key" -> key = value;
                    case "replayed" -> replayed = flag(value);
                    case "since" -> age = age(value);
                    default ->
                        throw Paging.refused(
                                "q accepts terms such as status:failed workflow:NAME key:KEY replayed:true since:2h");
                }
            }
            return new Filter(state, workflow, key, replayed, age);
        }

        long since(long now) {
            return ageMicros == 0 ? 0 : now - ageMicros;
        }

        private static RunState state(String word) {
            for (RunState state : RunState.values()) {
                if (state.word().equals(word.toLowerCase(Locale.ROOT))) {
                    return state;
                }
            }
            throw Paging.refused(
                    "status must be one of queued, started, running, waiting, in_doubt, completed, failed, cancelled");
        }

        private static boolean flag(String word) {
            if (!word.equals("true") && !word.equals("false")) {
                throw Paging.refused("replayed must be true or false");
            }
            return word.equals("true");
        }

        static long age(String word) {
            String digits = word.substring(0, word.length() - 1);
            if (digits.isEmpty() || digits.length() > 6 || !digits.chars().allMatch(c -> c >= '0' && c <= '9')) {
                throw Paging.refused("since must be an age such as 30s, 15m, 2h or 7d");
            }
            long number = Long.parseLong(digits);
            return switch (word.charAt(word.length() - 1)) {
                case 's' -> number * 1_000_000;
                case 'm' -> number * 60_000_000;
                case 'h' -> number * 3_600_000_000L;
                case 'd' -> number * 86_400_000_000L;
                default -> throw Paging.refused("since must be an age such as 30s, 15m, 2h or 7d");
            };
        }
    }
}
