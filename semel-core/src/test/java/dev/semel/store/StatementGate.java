package dev.semel.store;

import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/** Where one side stops before every statement until it is let through. */
final class StatementGate {
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    private final Set<String> locked = new TreeSet<>();
    private final List<String> errors = new ArrayList<>();
    private boolean closed;
    private boolean open;
    private boolean inTransaction;
    private int backend;
    private @Nullable StatementFootprint next;

    /** From now on statements wait. */
    void begin() {
        locked(() -> {
            closed = true;
            open = false;
            inTransaction = false;
            next = null;
            locked.clear();
            errors.clear();
        });
    }

    /** From now on nothing waits. */
    void end() {
        locked(() -> {
            closed = false;
            next = null;
        });
    }

    /** Called by the side: waits for its turn. */
    void pass(String sql, int pid) {
        lock.lock();
        try {
            backend = pid;
            if (!closed) {
                return;
            }
            StatementFootprint here = StatementFootprint.of(sql, locked);
            next = here;
            changed.signalAll();
            while (!open && closed) {
                changed.awaitUninterruptibly();
            }
            open = false;
            locked.addAll(here.locks());
            if (here.ends()) {
                locked.clear();
            }
            inTransaction = !here.ends();
        } finally {
            lock.unlock();
        }
    }

    /** Called by the side: a statement failed. */
    void failed(SQLException e) {
        locked(() -> errors.add(String.valueOf(e.getSQLState())));
    }

    /** Lets the side through that stands here. */
    void let() {
        locked(() -> {
            if (next == null) {
                throw new IllegalStateException("nobody stands here");
            }
            next = null;
            open = true;
            changed.signalAll();
        });
    }

    /** The statement before which the side stands; null where it is on its way. */
    @Nullable
    StatementFootprint next() {
        lock.lock();
        try {
            return next;
        } finally {
            lock.unlock();
        }
    }

    boolean inTransaction() {
        lock.lock();
        try {
            return inTransaction;
        } finally {
            lock.unlock();
        }
    }

    int backend() {
        lock.lock();
        try {
            return backend;
        } finally {
            lock.unlock();
        }
    }

    List<String> errors() {
        lock.lock();
        try {
            return List.copyOf(errors);
        } finally {
            lock.unlock();
        }
    }

    /** Waits a moment for the side to come here, or to be done. */
    boolean awaitArrival(java.util.function.BooleanSupplier done) {
        lock.lock();
        try {
            long left = TimeUnit.MILLISECONDS.toNanos(2);
            while (next == null && !done.getAsBoolean() && left > 0) {
                left = changed.awaitNanos(left);
            }
            return next != null || done.getAsBoolean();
        } catch (InterruptedException e) {
            throw new AssertionError("nobody interrupts this", e);
        } finally {
            lock.unlock();
        }
    }

    /** The side has nothing more to do. */
    void wakeUp() {
        locked(changed::signalAll);
    }

    private void locked(Runnable change) {
        lock.lock();
        try {
            change.run();
        } finally {
            lock.unlock();
        }
    }
}
