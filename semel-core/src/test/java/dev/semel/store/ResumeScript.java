package dev.semel.store;

import dev.semel.admission.RunDeduplicationKey;
import dev.semel.admission.RunDeduplicationKeyClaim;
import dev.semel.admission.RunDeduplicationKeyRecord;
import dev.semel.admission.StartConditions;
import dev.semel.effect.EffectLedger;
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
    private final StoreQueries reads;
    private long made;

    ResumeScript(StoreQueries reads) {
        this.reads = reads;
    }

    StoreWriteCommand<?> next(List<RunId> runs) {
        List<RunId> newest = runs.subList(Math.max(0, runs.size() - 30), runs.size());
        List<DatabaseRows.RunRow> failed = newest.stream()
                .map(reads::claimedRun)
                .filter(run -> run != null && run.state() == RunState.FAILED)
                .toList();
        DatabaseRows.RunRow run = failed.isEmpty() ? null : failed.get(random.nextInt(failed.size()));
        RunId id = run == null ? new RunId(9, 9) : run.id();
        DatabaseRows.RunEnd end = run == null ? null : run.end();
        List<StoreQueries.JournalChunk> chunks = reads.journal(id);
        int count = (int)
                chunks.stream().filter(chunk -> chunk.entries().equals(MARK)).count();
        RunDeduplicationKey name = new RunDeduplicationKey(
                run == null ? 1 : run.ws(), RunDeduplicationKey.KeyKind.REPLAY, id.text() + "." + count);
        return new StoreWriteCommand.ResumeFailedRun(
                random.nextInt(9) == 0 ? 2 : 1,
                id,
                end == null || random.nextInt(9) == 0 ? 7 : end.endedAt(),
                new RunDeduplicationKeyClaim(name, new byte[0], 5_000_000, RunDeduplicationKeyRecord.HOLD, true),
                (count + 1) << 24,
                chunks.size(),
                MARK,
                random.nextInt(3) == 0 ? List.of(new StartConditions.QueueLimit("q1", 1)) : List.of(),
                said(id),
                new StoreWriteCommand.ChangeAuthor(new RunId(930_000 + ++made, 5), "ann", "mended"));
    }

    /** A person says that an effect of the run happened. */
    private List<EffectLedger.LedgerOperation> said(RunId run) {
        List<EffectLedger.EffectRow> rows = reads.effects(run).stream()
                .filter(row -> row.state() != EffectLedger.EffectState.DONE)
                .sorted(Comparator.comparing(EffectLedger.EffectRow::id))
                .toList();
        if (rows.isEmpty() || random.nextBoolean()) {
            return List.of();
        }
        EffectLedger.EffectRow row = rows.getFirst();
        return List.of(new EffectLedger.SettleSend(
                row.id(), row.holder(), EffectLedger.EffectState.DONE, "{\"by\":\"hand\"}"));
    }
}
