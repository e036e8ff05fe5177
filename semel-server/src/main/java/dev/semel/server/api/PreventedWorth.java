package dev.semel.server.api;

import dev.semel.Semel;
import dev.semel.json.Json;
import dev.semel.run.RunId;
import dev.semel.server.signals.Worth;
import dev.semel.store.Counted;
import dev.semel.store.Figure;
import dev.semel.store.Figures;
import dev.semel.store.Rows;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * What duplicates would have cost: of a suppressed effect what its step says, of a replayed request what its workflow says
 * of the input (`idempotency.worth`). Looked up among rows, so it is told up to so many of them.
 */
final class PreventedWorth {
    private static final int PAGE = 1_000;
    private static final int LOOKED_AT = 5_000;
    private static final int REQUESTS_LOOKED_AT = 20_000;

    private final Semel semel;

    PreventedWorth(Semel semel) {
        this.semel = semel;
    }

    /** @param complete false: there are more rows than were looked at */
    record Sum(Worth worth, boolean complete) {}

    Sum of(Looking looking) {
        Worth worth = new Worth();
        boolean complete = suppressed(looking, worth);
        boolean all = !looking.step().isEmpty() || !isSaid(looking.workspace()) || replayed(looking, worth);
        return new Sum(worth, complete && all);
    }

    /** Thousands of runs are not read where no workflow says what a trigger is worth. */
    private boolean isSaid(int workspace) {
        List<Rows.Workflow> workflows = Objects.requireNonNull(semel.view(reads -> reads.workflows(workspace)));
        return workflows.stream()
                .anyMatch(one -> semel.version(one.workflowId(), one.version()).body() instanceof FileWorkflow file
                        && file.definition().saysWorth());
    }

    private boolean suppressed(Looking looking, Worth worth) {
        List<Counted.Fact> facts = Objects.requireNonNull(semel.view(
                reads -> reads.figures().facts(looking.range(), Figure.SUPPRESSED, Figures.Behind.START, LOOKED_AT)));
        facts.forEach(fact -> worth.add(fact.worth(), 1));
        return facts.size() < LOOKED_AT;
    }

    /** In slices, each of which is one question for the requests, their runs and what was asked of those. */
    private boolean replayed(Looking looking, Worth worth) {
        Figures.Among among = Figures.Among.of(looking.range(), PAGE);
        for (int looked = 0; looked < REQUESTS_LOOKED_AT; looked += PAGE) {
            Figures.Among slice = among;
            Figures.Met met =
                    Objects.requireNonNull(semel.view(reads -> reads.figures().met(looking.range(), slice)));
            met.runs().forEach(run -> worth.add(worthOf(looking.workspace(), run), run.times()));
            if (met.next() == null) {
                return true;
            }
            among = among.behind(met.next());
        }
        return false;
    }

    /** Null where nobody says. */
    private @Nullable String worthOf(int workspace, Figures.Replayed run) {
        if (!(semel.version(run.workflowId(), run.version()).body() instanceof FileWorkflow file)
                || !file.definition().saysWorth()) {
            return null;
        }
        String input = run.input() == null ? inputOf(workspace, run.run()) : run.input();
        return input == null ? null : file.definition().worthOf(Json.parse(input));
    }

    /** Of a run that was asked for with much. */
    private @Nullable String inputOf(int workspace, RunId id) {
        Rows.Run run = semel.view(reads -> reads.run(workspace, id));
        return run == null ? null : run.input();
    }
}
