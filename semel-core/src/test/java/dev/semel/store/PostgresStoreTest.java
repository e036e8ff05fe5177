package dev.semel.store;

final class PostgresStoreTest extends StoreContract {
    @Override
    StoreFixture place() {
        return Dialect.POSTGRES.emptied();
    }
}
