package dev.semel.server.api;

import dev.semel.Semel;
import dev.semel.json.Json;
import dev.semel.run.RunId;
import dev.semel.server.signals.Worth;
import dev.semel.store.Counted;
import dev.semel.store.Figure;
import dev.semel.store.Figures;
import dev.semel.store.Rows;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Calculates the amount saved by prevented duplicates: suppressed effects by their step, replayed requests by
 * `idempotency.worth`. It scans a limited number of rows.
 */
final class PreventedWorth {
    private static final int PAGE_SIZE = 1_000;
    private static final int MAX_SCANNED = 5_000;

    private final Semel semel;

    PreventedWorth(Semel semel) {
        this.semel = semel;
    }

    /**
     * @param each amounts by workflow id
     * @param complete false if there are more rows than the scan limit
     */
    record Sum(Worth worth, Map<String, Worth> each, boolean complete) {
        private void add(String workflowId, @Nullable String text, long times) {
            worth.add(text, times);
            each.computeIfAbsent(workflowId, _ -> new Worth()).add(text, times);
        }

        Worth of(String workflowId) {
            return each.getOrDefault(workflowId, new Worth());
        }
    }

    Sum of(Looking looking) {
        Sum sum = new Sum(new Worth(), new HashMap<>(), true);
        boolean complete = suppressed(looking, sum);
        boolean all = !looking.step().isEmpty() 
                || !anyWorkflowDeclaresWorth(looking.workspace())
                || replayed(looking, sum);
        return new Sum(sum.worth(), sum.each(), complete && all);
    }

    /** Avoids reading thousands of runs if no workflow declares an amount. */
    private boolean anyWorkflowDeclaresWorth(int workspace) {
        List<Rows.Workflow> workflows = Objects.requireNonNull(semel.view(reads -> reads.workflows(workspace)));
        return workflows.stream()
                .anyMatch(one -> semel.version(one.workflowId(), one.version()).body() instanceof FileWorkflow file
                        && file.definition().saysWorth());
    }

    private boolean suppressed(Looking looking, Sum sum) {
        List<Counted.Fact> facts = Objects.requireNonNull(semel.view(
                reads -> reads.figures().facts(looking.range(), Figure.SUPPRESSED, Figures.Behind.START, MAX_SCANNED)));
        facts.forEach(fact -> sum.add(fact.workflowId(), fact.worth(), 1));
        return facts.size() < MAX_SCANNED;
    }

    /** Reads in pages; one query returns the requests, their runs and the runs' inputs. */
    private boolean replayed(Looking looking, Sum sum) {
        Figures.Among among = Figures.Among.of(looking.range(), PAGE_SIZE);
        for (int looked = 0; looked < MAX_SCANNED; looked += PAGE_SIZE) {
            Figures.Among slice = among;
            Figures.Met met =
                    Objects.requireNonNull(semel.view(reads -> reads.figures().met(looking.range(), slice)));
            met.runs().forEach(run -> sum.add(run.workflowId(), worthOf(looking.workspace(), run), run.times()));
            if (met.next() == null) {
                return true;
            }
            among = among.behind(met.next());
        }
        return false;
    }

    /** Null if the workflow declares no amount. */
    private @Nullable String worthOf(int workspace, Figures.Replayed run) {
        if (!(semel.version(run.workflowId(), run.version()).body() instanceof FileWorkflow file)
                || !file.definition().saysWorth()) {
            return null;
        }
        String input = run.input() == null ? inputOf(workspace, run.run()) : run.input();
        return input == null ? null : file.definition().worthOf(Json.parse(input));
    }

    /** Loads an input that is too large for the page query. */
    private @Nullable String inputOf(int workspace, RunId id) {
        Rows.Run run = semel.view(reads -> reads.run(workspace, id));
        return run == null ? null : run.input();
    }
}
