package dev.semel.server.operations.run;

import dev.semel.journal.JournalEntry;
import dev.semel.runtime.SemelRuntime;
import dev.semel.server.files.steps.YamlStep;
import dev.semel.server.http.ServerHttpRequest;
import dev.semel.server.http.TokenScope;
import dev.semel.server.operations.Operation;
import dev.semel.server.operations.OperationRouter;
import dev.semel.server.operations.Parameter;
import dev.semel.server.operations.PublishedYamlWorkflow;
import dev.semel.server.query.ApiListFilterParser;
import dev.semel.server.query.PagingParameters;
import dev.semel.server.query.RunJsonRenderer;
import dev.semel.server.query.RunListFilter;
import dev.semel.server.query.RunTimelineJsonRenderer;
import dev.semel.server.query.StoreReader;
import dev.semel.server.query.view.Page;
import dev.semel.server.query.view.RunRequestView;
import dev.semel.server.query.view.RunView;
import dev.semel.server.query.view.TimelineView;
import dev.semel.store.DatabaseRows;
import dev.semel.store.HumanReviewStoreWriteCommand;
import dev.semel.store.StoreQueries;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Serves `/v1/runs`: lists runs, and returns one run, its requests and its timeline. */
public record RunRoutes(SemelRuntime semel, RunJsonRenderer views) {
    private static final String TERMS = "status:failed workflow:NAME key:KEY correlation:ID replayed:true since:2h"
            + " ended_since:2h failed_since:2h";

    private static final Parameter FILTER =
            Parameter.text("q", "Filter terms, all of which must match: `" + TERMS + "`.");

    static final Operation<Page<RunView>> LIST = Operation.get("listRuns", "/v1/runs", TokenScope.READ)
            .tag("Runs")
            .summary("List runs, newest first")
            .description("Each run has its 20 newest requests.")
            .parameters(FILTER)
            .paged()
            .problem(404, "NotFound")
            .returnsPage(RunView.class, "Runs with their Replayed and Conflict entries.");

    static final Operation<Page<RunView>> LIST_OF_WORKFLOW = Operation.get(
                    "listRunsOfWorkflow", "/v1/workflows/{id}/runs", TokenScope.READ)
            .tag("Runs")
            .summary("List runs of a workflow, newest first")
            .parameters(Parameter.WORKFLOW, FILTER)
            .paged()
            .returnsPage(RunView.class, "Runs with their Replayed and Conflict entries.");

    static final Operation<RunView> GET = Operation.get("getRun", "/v1/runs/{run_id}", TokenScope.READ)
            .tag("Runs")
            .summary("Get a run")
            .description(
                    "`waiting_for` has one entry per waiting branch. If the run has not started yet, its `kind` says"
                            + " why: `delay`, `debounce`, `rate_limit` or `concurrency_limit`.")
            .parameters(Parameter.RUN)
            .returns(RunView.class, "The run.");

    static final Operation<RunRequestView.RunRequestList> REQUESTS = Operation.get(
                    "listRequestsOfRun", "/v1/runs/{run_id}/requests", TokenScope.READ)
            .tag("Runs")
            .summary("List the requests of a run")
            .parameters(Parameter.RUN)
            .paged()
            .returns(
                    RunRequestView.RunRequestList.class,
                    "One page, newest last, with exact counts. `next` leads to older requests.");

    static final Operation<TimelineView> TIMELINE = Operation.get(
                    "timeline", "/v1/runs/{run_id}/timeline", TokenScope.READ)
            .tag("Runs")
            .summary("List the recorded steps of a run")
            .description("`attempts` has every attempt; one with the outcome `lost` was cut off by a crash after the"
                    + " engine recorded the intent to send. `total` is the number of all recorded steps.")
            .parameters(
                    Parameter.RUN,
                    Parameter.number("limit", "Steps per page.", 1, 1_000).withDefault(1_000),
                    Parameter.text(
                            "after",
                            "How many steps to skip at the start: `next` of the previous page, or `total` minus the"
                                    + " wanted number of last steps."))
            .returns(TimelineView.class, "The steps in recorded order.");

    public static final List<Operation<?>> OPERATIONS = List.of(LIST, LIST_OF_WORKFLOW, GET, REQUESTS, TIMELINE);

    public void addTo(OperationRouter router) {
        router.add(LIST, request -> list(request, null))
                .add(
                        LIST_OF_WORKFLOW,
                        request -> list(
                                request,
                                StoreReader.workflowId(
                                        semel, request.principal().workspace(), request.parameter("id"))))
                .add(GET, request -> views.detailedView(find(request)))
                .add(REQUESTS, request -> views.requestPage(find(request), PagingParameters.parse(request)))
                .add(TIMELINE, this::timeline);
    }

    private DatabaseRows.RunRow find(ServerHttpRequest request) {
        return views.findRun(request.principal(), request.parameter("run_id"));
    }

    private Page<RunView> list(ServerHttpRequest request, @Nullable String workflowId) {
        PagingParameters paging = PagingParameters.parse(request);
        RunListFilter filter = RunListFilter.parse(ApiListFilterParser.read(request));
        String named = StoreReader.workflowId(semel, request.principal().workspace(), filter.workflow());
        StoreQueries.RunFilter wanted = filter.toQuery(
                        request.principal().workspace(), named == null ? workflowId : named, StoreReader.now(semel))
                .page(paging.afterId(), paging.limit());
        return views.runPage(StoreReader.read(semel, reads -> reads.runs(wanted)), paging.limit());
    }

    private TimelineView timeline(ServerHttpRequest request) {
        var part = RunTimelineJsonRenderer.StepRange.parse(request);
        return timelineOf(find(request), part);
    }

    /** The recorded steps of a run, with PII masked. */
    TimelineView timelineOf(DatabaseRows.RunRow run, RunTimelineJsonRenderer.StepRange part) {
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
        return new RunTimelineJsonRenderer(run.lineage(), kinds, entries, ledger)
                .toView(
                        part,
                        views.maskOf(run),
                        reviews.stream().map(RunRoutes::reference).toList());
    }

    private static TimelineView.ReviewReferenceView reference(HumanReviewStoreWriteCommand.ReviewRow row) {
        return new TimelineView.ReviewReferenceView(
                row.id(),
                row.step().equals(HumanReviewStoreWriteCommand.WHOLE_RUN) ? null : row.step(),
                row.version(),
                row.isOpen());
    }
}
