package dev.semel.testing.memory;

import dev.semel.effect.Ledger;
import dev.semel.run.RunId;
import dev.semel.store.Review;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.locks.Lock;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Questions to people, from the tables. */
final class MemoryReviews implements Review.Desk {
    private static final int MOST_OF_A_RUN = 10_000;
    private static final Comparator<Review.Place> BY_PLACE = Comparator.comparingLong(Review.Place::at)
            .thenComparingLong(Review.Place::asked)
            .thenComparing(Review.Place::id);

    private static final Comparator<Review.Row> BY_TIME =
            Comparator.comparingLong(Review.Row::askedAt).thenComparing(Review.Row::run);

    private final Tables tables;
    private final Lock lock;

    MemoryReviews(Tables tables, Lock lock) {
        this.tables = tables;
        this.lock = lock;
    }

    @Override
    public Review.@Nullable Row one(int ws, String id) {
        lock.lock();
        try {
            return tables.reviews.get(new Pair<>(ws, id));
        } finally {
            lock.unlock();
        }
    }

    @Override
    public List<Review.Row> of(RunId run) {
        return ask(() -> tables.reviews.rows().values().stream()
                .filter(row -> row.run().equals(run))
                .sorted(Comparator.comparingLong(Review.Row::askedAt).thenComparing(Review.Row::id))
                .limit(MOST_OF_A_RUN)
                .toList());
    }

    @Override
    public Review.Page open(Review.Filter filter) {
        return ask(() -> {
            List<Review.Row> looked = openOnes()
                    .filter(row -> row.ws() == filter.ws())
                    .filter(row -> BY_PLACE.compare(Review.Place.due(row), filter.after()) > 0)
                    .sorted(Comparator.comparing(Review.Place::due, BY_PLACE))
                    .limit(Review.Filter.LOOKED_AT)
                    .toList();
            List<Review.Row> found = looked.stream()
                    .filter(row -> filter.kind() == null || row.kind() == filter.kind())
                    .filter(row ->
                            filter.workflowId() == null || row.workflowId().equals(filter.workflowId()))
                    .filter(row -> filter.reviewer() == null || row.reviewer().equals(filter.reviewer()))
                    .filter(this::stands)
                    .limit(filter.limit())
                    .toList();
            boolean full = found.size() == filter.limit();
            boolean more = full || looked.size() == Review.Filter.LOOKED_AT;
            Review.Row last = full ? found.getLast() : looked.isEmpty() ? null : looked.getLast();
            return new Review.Page(found, more && last != null ? Review.Place.due(last) : null);
        });
    }

    private Stream<Review.Row> openOnes() {
        return tables.reviews.rows().values().stream().filter(Review.Row::isOpen);
    }

    @Override
    public boolean isAsked(Review.Row row) {
        return ask(() -> {
            Review.Row there = tables.reviews.get(new Pair<>(row.ws(), row.id()));
            return there != null && there.isOpen() && stands(there);
        });
    }

    private boolean stands(Review.Row row) {
        Work work = tables.work.get(row.run());
        return switch (row.kind()) {
            case DOUBT -> isInDoubt(row) && about(row).noneMatch(other -> BY_TIME.compare(other, row) > 0);
            case CHANGE, APPROVAL -> work != null;
            case HELD -> work != null && RunEdits.waitsForRepair(work);
        };
    }

    @Override
    public Review.@Nullable Row about(int ws, String effect) {
        lock.lock();
        try {
            return openOnes()
                    .filter(row -> row.ws() == ws && row.effect().equals(effect))
                    .max(BY_TIME)
                    .orElse(null);
        } finally {
            lock.unlock();
        }
    }

    private Stream<Review.Row> about(Review.Row one) {
        return openOnes().filter(row -> row.ws() == one.ws() && row.effect().equals(one.effect()));
    }

    private boolean isInDoubt(Review.Row row) {
        Ledger.Row effect = tables.effects.get(new Ledger.Id(row.ws(), row.effect()));
        return effect != null && effect.state() == Ledger.State.UNKNOWN;
    }

    @Override
    public List<Review.Row> decided(int ws, Review.@Nullable Place before, int limit) {
        Review.Place end = before == null ? new Review.Place(Long.MAX_VALUE, 0, "") : before;
        return ask(() -> tables.reviews.rows().values().stream()
                .filter(row -> row.ws() == ws && !row.isOpen())
                .filter(row -> BY_PLACE.compare(Review.Place.decided(row), end) < 0)
                .sorted(Comparator.comparing(Review.Place::decided, BY_PLACE).reversed())
                .limit(limit)
                .toList());
    }

    @Override
    public List<Review.Row> tell(long now, int limit) {
        return ask(() -> openOnes()
                .filter(row -> row.nextAt() <= now)
                .sorted(Comparator.comparingLong(Review.Row::nextAt)
                        .thenComparingInt(Review.Row::ws)
                        .thenComparing(Review.Row::id))
                .limit(limit)
                .toList());
    }

    private <T> T ask(Supplier<T> question) {
        lock.lock();
        try {
            return question.get();
        } finally {
            lock.unlock();
        }
    }
}
