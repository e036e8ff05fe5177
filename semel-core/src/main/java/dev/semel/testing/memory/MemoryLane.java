package dev.semel.testing.memory;

import dev.semel.store.Batch;
import dev.semel.store.Lane;
import dev.semel.store.Nothing;
import dev.semel.store.StoreFailure;
import dev.semel.store.Write;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Applies the writes of a batch in turn, all of them or none. */
final class MemoryLane implements Lane {
    private final MemoryStore.Surroundings surroundings;
    private final Tables tables;
    private final Admitting admitting;
    private final Driving driving;
    private final Edits edits;

    MemoryLane(MemoryStore.Surroundings surroundings) {
        this.surroundings = surroundings;
        this.tables = surroundings.tables();
        Gates gates = new Gates(tables);
        this.admitting = new Admitting(tables, gates);
        this.driving = new Driving(tables, gates);
        this.edits = new Edits(tables, surroundings.ids());
    }

    @Override
    public List<Object> apply(Batch batch) {
        surroundings.lock().lock();
        try {
            List<Object> outcomes = applyAll(batch);
            tables.commit();
            return outcomes;
        } finally {
            tables.rollback(); // whatever was thrown; after a commit there is nothing left to take back
            surroundings.lock().unlock();
        }
    }

    private List<Object> applyAll(Batch batch) {
        long now = surroundings.clock().getAsLong();
        Batch.Hold hold = batch.hold();
        if (hold != null && !tables.fence.has(new Pair<>(hold.lease(), hold.slot()))) {
            throw new StoreFailure.Fenced(hold.lease());
        }
        Moment moment = new Moment(now, hold == null ? null : hold.lease());
        tables.counted.clear();
        List<Object> outcomes = new ArrayList<>(batch.writes().size());
        for (Write<?> write : batch.writes()) {
            outcomes.add(applyOne(write, moment));
        }
        MemoryFigures.write(tables, hold);
        return outcomes;
    }

    private Object applyOne(Write<?> write, Moment moment) {
        return switch (write) {
            case Write.Admit admit -> admitting.admit(admit, moment);
            case Write.Append append -> driving.append(append, moment);
            case Write.End end -> driving.end(end, moment);
            case Write.Tally tally -> driving.tally(tally);
            case Write.Keep keep -> EventTable.keep(tables, keep, moment.now());
            case Write.Claim claim -> driving.claim(claim, moment);
            case Write.Tx tx -> driving.tx(tx, moment);
            case Write.Change<?> change -> Nothing.orNothing(edits.apply(change.edit(), moment.now()));
        };
    }

    /** When, by the store's clock, and under which lease. */
    record Moment(long now, @Nullable Long lease) {}

    @Override
    public void close() {}
}
