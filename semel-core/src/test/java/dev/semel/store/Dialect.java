package dev.semel.store;

/** Both kinds of store. Tests that name neither run on both. */
public enum Dialect {
    SQLITE {
        @Override
        public StoreFixture open() {
            return new SqliteStoreFixture();
        }
    },
    POSTGRES {
        @Override
        public StoreFixture open() {
            return PostgresStoreFixture.withClockByHand();
        }

        @Override
        public StoreFixture emptied() {
            return PostgresStoreFixture.emptied();
        }
    };

    /** A new and empty place whose clock stands still until it is moved. */
    public abstract StoreFixture open();

    /** One that others have used before and that is empty again, where a new one costs more than the test. */
    public StoreFixture emptied() {
        return open();
    }
}
