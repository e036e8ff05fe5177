package dev.semel.store;

final class PostgresStoreTest extends StoreContract {
    @Override
    Dialect dialect() {
        return Dialect.POSTGRES;
    }
}
