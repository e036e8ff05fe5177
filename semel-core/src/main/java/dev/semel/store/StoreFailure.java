package dev.semel.store;

/** A write to the store failed. Each subclass says what is known about the state of the store. */
public abstract sealed class StoreFailure extends RuntimeException {
    private StoreFailure(String message, Throwable cause) {
        super(message, cause);
    }

    /** The store is unreachable or rejects writes. Nothing was applied. */
    public static final class Unreachable extends StoreFailure {
        public Unreachable(String message, Throwable cause) {
            super(message, cause);
        }
    }

    /** COMMIT was sent and its response was lost. Applying the same writes again shows the outcome. */
    public static final class CommitUnknown extends StoreFailure {
        public CommitUnknown(Throwable cause) {
            super("the response to COMMIT was lost", cause);
        }
    }

    /** The lease has ended. Nothing of this batch was applied. */
    public static final class Fenced extends StoreFailure {
        public Fenced(long lease) {
            super("lease " + lease + " has ended; another worker may execute its runs", new IllegalStateException());
        }
    }

    /** A newer Semel changed the schema incompatibly. Nothing was applied, and a retry does not help. */
    public static final class SchemaTooNew extends StoreFailure {
        /** @param migration the newest migration that this version does not know */
        public SchemaTooNew(String migration) {
            super(
                    "A newer version of Semel upgraded this store (" + migration
                            + "). This version does not support the new schema. "
                            + "Nothing was changed. Start the newer version.",
                    new IllegalStateException("schema"));
        }
    }

    /** The store rejected a value. Nothing was applied; the other writes of the batch are valid. */
    public static final class ValueRejected extends StoreFailure {
        public ValueRejected(String message, Throwable cause) {
            super(message, cause);
        }
    }

    /** Another transaction holds a lock. Nothing was applied. */
    public static final class LockConflict extends StoreFailure {
        private final boolean waited;

        /** @param waited the lock timeout has passed; otherwise an immediate retry may succeed */
        public LockConflict(boolean waited, Throwable cause) {
            super("another transaction holds a lock", cause);
            this.waited = waited;
        }

        public boolean waited() {
            return waited;
        }
    }
}
