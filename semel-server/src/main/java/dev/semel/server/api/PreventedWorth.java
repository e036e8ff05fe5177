package dev.semel.server.api;

import dev.semel.Semel;
import dev.semel.json.Json;
import dev.semel.run.RunId;
import dev.semel.server.signals.Worth;
import dev.semel.store.Counted;
import dev.semel.store.Figure;
import dev.semel.store.Figures;
import dev.semel.store.Rows;
import dev.semel.store.Write;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * What duplicates would have cost: of a suppressed effect what its step says, of a replayed request what its workflow says
 * of the input (`idempotency.worth`). Looked up among rows, so it is told up to so many of them.
 */
final class PreventedWorth {
    private static final int PAGE = 500;
    private static final int LOOKED_AT = 5_000;

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

    private boolean replayed(Looking looking, Worth worth) {
        Map<RunId, String> known = new HashMap<>();
        RunId before = null;
        for (int looked = 0; looked < LOOKED_AT; looked += PAGE) {
            RunId from = before;
            List<Write.Seen> page =
                    Objects.requireNonNull(semel.view(reads -> reads.requests(looking.workspace(), from, PAGE)));
            for (Write.Seen row : page) {
                boolean counts = !row.conflict()
                        && row.at() >= looking.period().since()
                        && row.at() < looking.period().until();
                if (counts) {
                    String one = known.computeIfAbsent(row.run(), run -> worthOf(looking, run));
                    worth.add(one.isEmpty() ? null : one, row.times());
                }
            }
            if (page.size() < PAGE || page.getLast().at() < looking.period().since()) {
                return true;
            }
            before = page.getLast().id();
        }
        return false;
    }

    /** Empty where nobody says. */
    private String worthOf(Looking looking, RunId id) {
        Rows.Run run = semel.view(reads -> reads.run(looking.workspace(), id));
        if (run == null
                || (!looking.workflowId().isEmpty() && !looking.workflowId().equals(run.workflowId()))) {
            return "";
        }
        @Nullable
        String worth = semel.version(run.workflowId(), run.version()).body() instanceof FileWorkflow file
                ? file.definition().worthOf(Json.parse(run.input()))
                : null;
        return worth == null ? "" : worth;
    }
}
