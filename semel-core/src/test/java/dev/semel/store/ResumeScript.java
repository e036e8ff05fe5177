package dev.semel.store;

import dev.semel.effect.Ledger;
import dev.semel.key.Known;
import dev.semel.run.RunId;
import dev.semel.run.RunState;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import java.util.random.RandomGenerator;

/** Runs that failed go on in place; sometimes others are asked to, or an end that was not seen. Has dice of its own. */
final class ResumeScript {
    private static final String MARK = "[\"resumed\"]";

    private final RandomGenerator random = new Random(23);
    private final Reads reads;
    private long made;

    ResumeScript(Reads reads) {
        this.reads = reads;
    }

    Edit<?> next(List<RunId> runs) {
        List<RunId> newest = runs.subList(Math.max(0, runs.size() - 30), runs.size());
        List<Rows.Run> failed = newest.stream()
                .map(reads::claimed)
                .filter(run -> run != null && run.state() == RunState.FAILED)
                .toList();
        Rows.Run run = failed.isEmpty() ? null : failed.get(random.nextInt(failed.size()));
        RunId id = run == null ? new RunId(9, 9) : run.id();
        Rows.End end = run == null ? null : run.end();
        List<Reads.Chunk> chunks = reads.journal(id);
        int count = (int)
                chunks.stream().filter(chunk -> chunk.entries().equals(MARK)).count();
        Name name = new Name(run == null ? 1 : run.ws(), Name.Kind.REPLAY, id.text() + "." + count);
        return new Edit.Resume(
                random.nextInt(9) == 0 ? 2 : 1,
                id,
                end == null || random.nextInt(9) == 0 ? 7 : end.endedAt(),
                new Wish(name, new byte[0], 5_000_000, Known.HOLD, true),
                (count + 1) << 24,
                chunks.size(),
                MARK,
                random.nextInt(3) == 0 ? List.of(new NewRun.Gate.Place("q1", 1)) : List.of(),
                said(id),
                new Edit.By(new RunId(930_000 + ++made, 5), "ann", "mended"));
    }

    /** A person says that an effect of the run happened. */
    private List<Ledger.Op> said(RunId run) {
        List<Ledger.Row> rows = reads.effects(run).stream()
                .filter(row -> row.state() != Ledger.State.DONE)
                .sorted(Comparator.comparing(Ledger.Row::id))
                .toList();
        if (rows.isEmpty() || random.nextBoolean()) {
            return List.of();
        }
        Ledger.Row row = rows.getFirst();
        return List.of(new Ledger.Settle(row.id(), row.holder(), Ledger.State.DONE, "{\"by\":\"hand\"}"));
    }
}
