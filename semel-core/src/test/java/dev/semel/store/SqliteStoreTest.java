package dev.semel.store;

final class SqliteStoreTest extends StoreContract {
    @Override
    Dialect dialect() {
        return Dialect.SQLITE;
    }
}
