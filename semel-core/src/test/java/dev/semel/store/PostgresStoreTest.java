package dev.semel.store;

final class PostgresStoreTest extends StoreContract {
    @Override
    Place place() {
        return Dialect.POSTGRES.emptied();
    }
}
