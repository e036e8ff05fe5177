package dev.semel.testing.memory;

import dev.semel.run.RunId;
import dev.semel.run.RunState;
import dev.semel.store.Plans;
import dev.semel.store.Replay;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.TreeMap;
import java.util.concurrent.locks.Lock;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Plans of safe replays, from the tables. */
final class MemoryPlans implements Plans {
    private final Tables tables;
    private final Lock lock;

    MemoryPlans(Tables tables, Lock lock) {
        this.tables = tables;
        this.lock = lock;
    }

    @Override
    public Replay.@Nullable Plan plan(int ws, RunId id) {
        return maybe(() -> ReplayEdits.find(tables, ws, id));
    }

    @Override
    public List<Replay.Plan> page(int ws, @Nullable RunId before, int limit) {
        RunId end = before == null ? Tables.AFTER_ALL : before;
        return ask(() -> tables.plans.rows().headMap(end, false).descendingMap().values().stream()
                .filter(plan -> plan.ws() == ws)
                .limit(limit)
                .toList());
    }

    static Stream<Replay.Item> items(Tables tables, RunId plan) {
        return tables.planItems.rows().tailMap(new Pair<>(plan, Tables.FIRST)).entrySet().stream()
                .takeWhile(entry -> entry.getKey().first().equals(plan))
                .map(java.util.Map.Entry::getValue);
    }

    @Override
    public List<Replay.Item> items(Wanted wanted, @Nullable RunId after, int limit) {
        RunId from = after == null ? Tables.FIRST : after;
        return ask(() -> items(tables, wanted.plan())
                .filter(item -> item.run().compareTo(from) > 0)
                .filter(item -> wanted.actions() == 0 || (item.actions() & wanted.actions()) != 0)
                .filter(item -> wanted.fate() == null || item.fate() == wanted.fate())
                .limit(limit)
                .toList());
    }

    @Override
    public List<Count> progress(RunId plan) {
        return ask(() -> {
            TreeMap<Pair<Integer, Integer>, Long> counts = new TreeMap<>();
            items(tables, plan).forEach(item -> {
                RunState state = item.made() == null ? null : tables.stateOf(item.made());
                counts.merge(new Pair<>(item.fate().code(), state == null ? 0 : state.code()), 1L, Long::sum);
            });
            return counts.entrySet().stream()
                    .map(entry -> new Count(
                            Replay.Fate.of(entry.getKey().first()),
                            entry.getKey().second() == 0
                                    ? null
                                    : RunState.of(entry.getKey().second()),
                            entry.getValue()))
                    .toList();
        });
    }

    @Override
    public Replay.@Nullable Plan applying() {
        return maybe(() -> tables.plans.rows().values().stream()
                .filter(plan -> plan.state() == Replay.State.APPLYING)
                .min(Comparator.comparingLong(Replay.Plan::takenUntil))
                .orElse(null));
    }

    @Override
    public List<Replay.Plan> free(RunId worker, long now, int limit) {
        return ask(() -> tables.plans.rows().values().stream()
                .filter(plan -> plan.state() == Replay.State.APPLYING)
                .filter(plan -> plan.takenUntil() <= now || worker.equals(plan.takenBy()))
                .sorted(Comparator.comparingLong(Replay.Plan::takenUntil).thenComparing(Replay.Plan::id))
                .limit(limit)
                .toList());
    }

    @Override
    public List<Ended> ended(List<RunId> runs) {
        return ask(() -> {
            List<Ended> all = new ArrayList<>();
            for (RunId run : runs) {
                RunState state = tables.ends.get(run) == null ? null : tables.stateOf(run);
                if (state != null) {
                    all.add(new Ended(run, state));
                }
            }
            return all;
        });
    }

    @Override
    public boolean hasPlansBefore(long time) {
        return ask(() -> tables.plans.rows().values().stream()
                .anyMatch(plan -> plan.madeAt() < time && plan.state() != Replay.State.APPLYING));
    }

    private <T> T ask(Supplier<T> question) {
        lock.lock();
        try {
            return question.get();
        } finally {
            lock.unlock();
        }
    }

    private Replay.@Nullable Plan maybe(Supplier<Replay.@Nullable Plan> question) {
        lock.lock();
        try {
            return question.get();
        } finally {
            lock.unlock();
        }
    }
}
