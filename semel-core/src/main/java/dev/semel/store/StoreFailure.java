package dev.semel.store;

/** Why a batch could not be applied. Each kind says what is known about the state of the store. */
public abstract sealed class StoreFailure extends RuntimeException {
    private StoreFailure(String message, Throwable cause) {
        super(message, cause);
    }

    /** Nothing was applied: the store cannot be reached or refuses writes. */
    public static final class Down extends StoreFailure {
        public Down(String message, Throwable cause) {
            super(message, cause);
        }
    }

    /** COMMIT was sent and its answer never came. Applying the same writes again tells. */
    public static final class CommitUnknown extends StoreFailure {
        public CommitUnknown(Throwable cause) {
            super("the answer to COMMIT was lost", cause);
        }
    }

    /** The lease is gone. Nothing of this batch was applied. */
    public static final class Fenced extends StoreFailure {
        public Fenced(long lease) {
            super("lease " + lease + " is gone; another worker may drive its runs", new IllegalStateException());
        }
    }

    /**
     * A newer Semel has changed the schema in a way that this version does not understand. Nothing was applied, and
     * trying again does not help.
     */
    public static final class Outdated extends StoreFailure {
        /** @param migration the newest one that this version does not know */
        public Outdated(String migration) {
            super(
                    "This store was upgraded by a newer Semel (" + migration
                            + ") that this version does not understand. "
                            + "Nothing was changed. Start the newer version.",
                    new IllegalStateException("schema"));
        }
    }

    /** The store refused a value. Nothing was applied; the writes around it are innocent. */
    public static final class Poisoned extends StoreFailure {
        public Poisoned(String message, Throwable cause) {
            super(message, cause);
        }
    }

    /** Another transaction was in the way. Nothing was applied. */
    public static final class Locked extends StoreFailure {
        private final boolean waited;

        /** @param waited the full time for a lock has passed; otherwise trying again may succeed at once */
        public Locked(boolean waited, Throwable cause) {
            super("another transaction was in the way", cause);
            this.waited = waited;
        }

        public boolean waited() {
            return waited;
        }
    }
}
