package dev.semel.server.api;

import dev.semel.runtime.SemelRuntime;
import dev.semel.effect.EffectLedger;
import dev.semel.journal.JournalEntry;
import dev.semel.journal.JournalCodec;
import dev.semel.run.RunId;
import dev.semel.workflow.RunState;
import dev.semel.server.http.HttpResponse;
import dev.semel.server.http.HttpRequest;
import dev.semel.server.steps.YamlStep;
import dev.semel.store.StoreQueries;
import dev.semel.store.ReviewOperation;
import dev.semel.store.StoredRows;
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
final class RunRoutes {
    private final SemelRuntime semel;
    private final JsonViews views;
    private final TriggerRoutes triggers;

    RunRoutes(SemelRuntime semel, JsonViews views, TriggerRoutes triggers) {
        this.semel = semel;
        this.views = views;
        this.triggers = triggers;
    }

    HttpResponse list(HttpRequest request) {
        return list(request, null);
    }

    HttpResponse listOfWorkflow(HttpRequest request) {
        return list(
                request,
                triggers.findWorkflow(request.principal(), request.parameter("id"))
                        .published()
                        .workflowId());
    }

    private HttpResponse list(HttpRequest request, @Nullable String workflowId) {
        PagingParameters paging = PagingParameters.parse(request);
        RunListFilter filter = RunListFilter.parse(request.query("q"));
        String workflow = workflowId;
        if (filter.workflow() != null) {
            workflow = triggers.findWorkflow(request.principal(), filter.workflow())
                    .published()
                    .workflowId();
        }
        long since = filter.since(now());
        StoreQueries.RunFilter wanted = new StoreQueries.RunFilter(
                request.principal().workspace(),
                workflow,
                filter.state(),
                filter.key(),
                filter.replayed(),
                since,
                paging.afterId(),
                paging.limit(),
                since == 0 ? null : RunId.lowerBoundAt(since));
        List<StoredRows.RunRow> found = semel.view(reads -> reads.runs(wanted));
        return views.runPage(found == null ? List.of() : found, paging.limit());
    }

    private long now() {
        Long now = semel.view(reads -> reads.now());
        return now == null ? 0 : now;
    }

    HttpResponse get(HttpRequest request) {
        StoredRows.RunRow run = views.findRun(request.principal(), request.parameter("run_id"));
        ObjectNode out = views.runWithRequests(run);
        return JsonViews.ok(out.put("superseded_by", SupersedingRun.findNewest(semel, run.ws(), run.id())));
    }

    HttpResponse requests(HttpRequest request) {
        StoredRows.RunRow run = views.findRun(request.principal(), request.parameter("run_id"));
        return views.requestPage(run, PagingParameters.parse(request));
    }

    HttpResponse timeline(HttpRequest request) {
        RunTimelineView.StepRange part = RunTimelineView.StepRange.parse(request);
        return JsonViews.ok(timelineOf(views.findRun(request.principal(), request.parameter("run_id")), part));
    }

    /** The recorded steps of a run, with PII masked. */
    ObjectNode timelineOf(StoredRows.RunRow run, RunTimelineView.StepRange part) {
        // Read before the steps: if a step asks again meanwhile, the response shows the earlier version of the
        // question.
        List<ReviewOperation.ReviewRow> asked =
                Objects.requireNonNull(semel.view(reads -> reads.reviews().reviewsOf(run.id())));
        List<JournalEntry> entries = new ArrayList<>();
        List<String> chunks = semel.view(reads ->
                reads.journal(run.id()).stream().map(StoreQueries.JournalChunk::entries).toList());
        if (chunks != null) {
            chunks.forEach(chunk -> entries.addAll(JournalCodec.decode(chunk)));
        }
        if (run.end() != null) {
            entries.addAll(JournalCodec.decode(run.end().entries()));
        }
        List<EffectLedger.EffectRow> effects = semel.view(reads -> reads.effects(run.id()));
        Map<String, String> kinds =
                semel.version(run.workflowId(), run.version()).body() instanceof FileWorkflow file
                        ? file.definition().steps().collect(Collectors.toMap(YamlStep::id, YamlStep::kind))
                        : Map.of();
        var timeline = new RunTimelineView(run.lineage(), kinds, entries, effects == null ? List.of() : effects);
        return addReviews(views.stepsJson(run, timeline, part), asked);
    }

    private static ObjectNode addReviews(ObjectNode timeline, List<ReviewOperation.ReviewRow> asked) {
        if (!asked.isEmpty()) {
            ArrayNode reviews = timeline.putArray("reviews");
            asked.forEach(row -> reviews.addObject()
                    .put("review_id", row.id())
                    .put("step", row.step().equals(ReviewOperation.WHOLE_RUN) ? null : row.step())
                    .put("version", row.version())
                    .put("open", row.isOpen()));
        }
        return timeline;
    }

    /** The run filter `q`: `status:failed workflow:x key:k replayed:true since:2h`. */
    record RunListFilter(
            @Nullable RunState state,
            @Nullable String workflow,
            @Nullable String key,
            boolean replayed,
            long ageMicros) {
        static RunListFilter parse(@Nullable String text) {
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
                    case "since" -> age = parseAge(value);
                    default ->
                        throw PagingParameters.invalidQuery(
                                "q accepts terms such as status:failed workflow:NAME key:KEY replayed:true since:2h");
                }
            }
            return new RunListFilter(state, workflow, key, replayed, age);
        }

        long since(long now) {
            return ageMicros == 0 ? 0 : now - ageMicros;
        }

        private static RunState state(String word) {
            for (RunState state : RunState.values()) {
                if (state.wireName().equals(word.toLowerCase(Locale.ROOT))) {
                    return state;
                }
            }
            throw PagingParameters.invalidQuery(
                    "status must be one of queued, started, running, waiting, in_doubt, completed, failed, cancelled");
        }

        private static boolean flag(String word) {
            if (!word.equals("true") && !word.equals("false")) {
                throw PagingParameters.invalidQuery("replayed must be true or false");
            }
            return word.equals("true");
        }

        static long parseAge(String word) {
            String digits = word.substring(0, word.length() - 1);
            if (digits.isEmpty() || digits.length() > 6 || !digits.chars().allMatch(c -> c >= '0' && c <= '9')) {
                throw PagingParameters.invalidQuery("since must be an age such as 30s, 15m, 2h or 7d");
            }
            long number = Long.parseLong(digits);
            return switch (word.charAt(word.length() - 1)) {
                case 's' -> number * 1_000_000;
                case 'm' -> number * 60_000_000;
                case 'h' -> number * 3_600_000_000L;
                case 'd' -> number * 86_400_000_000L;
                default -> throw PagingParameters.invalidQuery("since must be an age such as 30s, 15m, 2h or 7d");
            };
        }
    }
}
