package dev.semel.server.operations.monitoring;

import dev.semel.json.StrictJsonCodec;
import dev.semel.run.RunId;
import dev.semel.runtime.SemelRuntime;
import dev.semel.server.monitoring.DuplicateSavingsByCurrency;
import dev.semel.server.operations.PublishedYamlWorkflow;
import dev.semel.server.query.StoreReader;
import dev.semel.store.DatabaseRows;
import dev.semel.store.MetricCounter;
import dev.semel.store.MetricQueries;
import dev.semel.store.MetricUpdateCollector;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Suppressed effects count by their step, replayed requests by `idempotency.worth`. Scans a limited number of rows. */
record PreventedDuplicateSavingsCalculator(SemelRuntime semel) {
    private static final int PAGE_SIZE = 1_000;
    private static final int MAX_SCANNED = 5_000;

    /**
     * @param each amounts by workflow id
     * @param complete false if there are more rows than the scan limit
     */
    record SavingsSummary(
            DuplicateSavingsByCurrency worth, Map<String, DuplicateSavingsByCurrency> each, boolean complete) {
        private void add(String workflowId, @Nullable String text, long times) {
            worth.add(text, times);
            each.computeIfAbsent(workflowId, _ -> new DuplicateSavingsByCurrency())
                    .add(text, times);
        }

        DuplicateSavingsByCurrency ofWorkflow(String workflowId) {
            return each.getOrDefault(workflowId, new DuplicateSavingsByCurrency());
        }
    }

    SavingsSummary calculate(MetricQuery looking) {
        SavingsSummary sum = new SavingsSummary(new DuplicateSavingsByCurrency(), new HashMap<>(), true);
        boolean complete = suppressed(looking, sum);
        boolean all =
                !looking.step().isEmpty() || !anyWorkflowDeclaresWorth(looking.workspace()) || replayed(looking, sum);
        return new SavingsSummary(sum.worth(), sum.each(), complete && all);
    }

    /** Avoids reading thousands of runs if no workflow declares an amount. */
    private boolean anyWorkflowDeclaresWorth(int workspace) {
        List<DatabaseRows.WorkflowRow> workflows = StoreReader.read(semel, reads -> reads.workflows(workspace));
        return workflows.stream()
                .anyMatch(one ->
                        semel.version(one.workflowId(), one.version()).body() instanceof PublishedYamlWorkflow file
                                && file.definition().hasWorth());
    }

    private boolean suppressed(MetricQuery looking, SavingsSummary sum) {
        List<MetricUpdateCollector.MetricFact> facts = StoreReader.read(
                semel,
                reads -> reads.metrics()
                        .facts(looking.range(), MetricCounter.SUPPRESSED, MetricQueries.FactCursor.START, MAX_SCANNED));
        facts.forEach(fact -> sum.add(fact.workflowId(), fact.worth(), 1));
        return facts.size() < MAX_SCANNED;
    }

    /** Reads in pages; one query returns the requests, their runs and the runs' inputs. */
    private boolean replayed(MetricQuery looking, SavingsSummary sum) {
        MetricQueries.RequestScan among = MetricQueries.RequestScan.of(looking.range(), PAGE_SIZE);
        for (int looked = 0; looked < MAX_SCANNED; looked += PAGE_SIZE) {
            MetricQueries.RequestScan slice = among;
            MetricQueries.ReplayedPage met =
                    StoreReader.read(semel, reads -> reads.metrics().replayedRuns(looking.range(), slice));
            met.runs().forEach(run -> sum.add(run.workflowId(), worthOf(looking.workspace(), run), run.requests()));
            if (met.next() == null) {
                return true;
            }
            among = among.continueAfter(met.next());
        }
        return false;
    }

    /** Null if the workflow declares no amount. */
    private @Nullable String worthOf(int workspace, MetricQueries.ReplayedRun run) {
        if (!(semel.version(run.workflowId(), run.version()).body() instanceof PublishedYamlWorkflow file)
                || !file.definition().hasWorth()) {
            return null;
        }
        String input = run.input() == null ? inputOf(workspace, run.run()) : run.input();
        return input == null ? null : file.definition().worthOf(StrictJsonCodec.parse(input));
    }

    /** Loads an input that is too large for the page query. */
    private @Nullable String inputOf(int workspace, RunId id) {
        DatabaseRows.RunRow run = semel.view(reads -> reads.run(workspace, id));
        return run == null ? null : run.input();
    }
}
