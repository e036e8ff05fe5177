package dev.semel.server.operations.run;

import dev.semel.journal.JournalEntry;
import dev.semel.runtime.SemelRuntime;
import dev.semel.server.files.steps.YamlStep;
import dev.semel.server.http.ServerHttpRequest;
import dev.semel.server.http.ServerHttpResponse;
import dev.semel.server.operations.PublishedYamlWorkflow;
import dev.semel.server.query.ApiListFilterParser;
import dev.semel.server.query.PagingParameters;
import dev.semel.server.query.RunJsonRenderer;
import dev.semel.server.query.RunListFilter;
import dev.semel.server.query.RunTimelineJsonRenderer;
import dev.semel.server.query.StoreReader;
import dev.semel.server.query.SupersedingReplayRunFinder;
import dev.semel.store.DatabaseRows;
import dev.semel.store.HumanReviewStoreWriteCommand;
import dev.semel.store.StoreQueries;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** Serves `/v1/runs`: lists runs, and returns one run, its requests and its timeline. */
public record RunRoutes(SemelRuntime semel, RunJsonRenderer views) {
    public ServerHttpResponse list(ServerHttpRequest request) {
        return list(request, null);
    }

    public ServerHttpResponse listOfWorkflow(ServerHttpRequest request) {
        return list(request, StoreReader.workflowId(semel, request.principal().workspace(), request.parameter("id")));
    }

    private ServerHttpResponse list(ServerHttpRequest request, @Nullable String workflowId) {
        PagingParameters paging = PagingParameters.parse(request);
        RunListFilter filter = RunListFilter.parse(ApiListFilterParser.read(request));
        String named = StoreReader.workflowId(semel, request.principal().workspace(), filter.workflow());
        StoreQueries.RunFilter wanted = filter.toQuery(
                        request.principal().workspace(), named == null ? workflowId : named, StoreReader.now(semel))
                .page(paging.afterId(), paging.limit());
        return views.runPage(StoreReader.read(semel, reads -> reads.runs(wanted)), paging.limit());
    }

    public ServerHttpResponse get(ServerHttpRequest request) {
        DatabaseRows.RunRow run = views.findRun(request.principal(), request.parameter("run_id"));
        ObjectNode out = views.runWithRequests(run);
        return RunJsonRenderer.ok(
                out.put("superseded_by", SupersedingReplayRunFinder.findNewest(semel, run.ws(), run.id())));
    }

    public ServerHttpResponse requests(ServerHttpRequest request) {
        DatabaseRows.RunRow run = views.findRun(request.principal(), request.parameter("run_id"));
        return views.requestPage(run, PagingParameters.parse(request));
    }

    public ServerHttpResponse timeline(ServerHttpRequest request) {
        RunTimelineJsonRenderer.StepRange part = RunTimelineJsonRenderer.StepRange.parse(request);
        return RunJsonRenderer.ok(timelineOf(views.findRun(request.principal(), request.parameter("run_id")), part));
    }

    /** The recorded steps of a run, with PII masked. */
    ObjectNode timelineOf(DatabaseRows.RunRow run, RunTimelineJsonRenderer.StepRange part) {
        // Read before the steps: if a step asks again meanwhile, the response shows the earlier version of the
        // question.
        List<HumanReviewStoreWriteCommand.ReviewRow> reviews =
                StoreReader.read(semel, reads -> reads.reviews().reviewsOf(run.id()));
        List<JournalEntry> entries = StoreReader.read(semel, reads -> StoreReader.journal(reads, run));
        RunTimelineJsonRenderer.LedgerRows ledger = StoreReader.read(
                semel,
                reads -> new RunTimelineJsonRenderer.LedgerRows(reads.effects(run.id()), reads.pastEffects(run.id())));
        Map<String, String> kinds =
                semel.version(run.workflowId(), run.version()).body() instanceof PublishedYamlWorkflow file
                        ? file.definition().steps().collect(Collectors.toMap(YamlStep::id, YamlStep::kind))
                        : Map.of();
        var timeline = new RunTimelineJsonRenderer(run.lineage(), kinds, entries, ledger);
        return addReviews(views.stepsJson(run, timeline, part), reviews);
    }

    private static ObjectNode addReviews(ObjectNode timeline, List<HumanReviewStoreWriteCommand.ReviewRow> asked) {
        if (!asked.isEmpty()) {
            ArrayNode reviews = timeline.putArray("reviews");
            asked.forEach(row -> reviews.addObject()
                    .put("review_id", row.id())
                    .put("step", row.step().equals(HumanReviewStoreWriteCommand.WHOLE_RUN) ? null : row.step())
                    .put("version", row.version())
                    .put("open", row.isOpen()));
        }
        return timeline;
    }
}
