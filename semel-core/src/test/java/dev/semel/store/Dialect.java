package dev.semel.store;

/** Both kinds of store. Tests that name neither run on both. */
public enum Dialect {
    SQLITE {
        @Override
        public Place open() {
            return new SqlitePlace();
        }
    },
    POSTGRES {
        @Override
        public Place open() {
            return PostgresPlace.withClockByHand();
        }

        @Override
        public Place emptied() {
            return PostgresPlace.emptied();
        }
    };

    /** A new and empty place whose clock stands still until it is moved. */
    public abstract Place open();

    /** One that others have used before and that is empty again, where a new one costs more than the test. */
    public Place emptied() {
        return open();
    }
}
