package dev.semel.testing.memory;

import dev.semel.store.StoreFailure;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.List;
import java.util.NavigableMap;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Rows by their key, sorted. A row never changes; another one is put in its place, and the log remembers how to take
 * that back. Whoever uses a table holds the lock of the store.
 */
final class Table<K extends Comparable<K>, V> {
    private final NavigableMap<K, V> rows = new TreeMap<>();
    private final List<Index<?, V>> indexes = new ArrayList<>();
    private final Deque<Runnable> undo;
    private final Predicate<V> legal;

    /** @param legal what the schema of the other stores says in its constraints */
    Table(Deque<Runnable> undo, Predicate<V> legal) {
        this.undo = undo;
        this.legal = legal;
    }

    Table(Deque<Runnable> undo) {
        this(undo, _ -> true);
    }

    /** Another order of the rows. Rows without an index key are left out; no two rows may have the same one. */
    <I extends Comparable<I>> NavigableMap<I, V> index(Function<V, @Nullable I> by) {
        Index<I, V> index = new Index<>(by, new TreeMap<>());
        indexes.add(index);
        return Collections.unmodifiableNavigableMap(index.rows());
    }

    NavigableMap<K, V> rows() {
        return Collections.unmodifiableNavigableMap(rows);
    }

    @Nullable
    V get(K key) {
        return rows.get(key);
    }

    boolean has(K key) {
        return rows.containsKey(key);
    }

    void put(K key, V row) {
        if (!legal.test(row)) {
            throw new StoreFailure.Poisoned("the store refused a value", new IllegalArgumentException("constraint"));
        }
        V old = rows.get(key);
        set(key, row);
        undo.push(() -> set(key, old));
    }

    /** For keys that must be new: false where there is a row already, which stays. */
    boolean add(K key, V row) {
        if (rows.containsKey(key)) {
            return false;
        }
        put(key, row);
        return true;
    }

    /** True: there was a row. */
    boolean remove(K key) {
        V old = rows.get(key);
        if (old == null) {
            return false;
        }
        set(key, null);
        undo.push(() -> set(key, old));
        return true;
    }

    private void set(K key, @Nullable V row) {
        V old = row == null ? rows.remove(key) : rows.put(key, row);
        for (Index<?, V> index : indexes) {
            index.replace(old, row);
        }
    }

    private record Index<I extends Comparable<I>, V>(Function<V, @Nullable I> by, NavigableMap<I, V> rows) {
        void replace(@Nullable V old, @Nullable V row) {
            I before = old == null ? null : by.apply(old);
            I after = row == null ? null : by.apply(row);
            if (before != null) {
                rows.remove(before);
            }
            if (row != null && after != null) {
                rows.put(after, row);
            }
        }
    }
}
