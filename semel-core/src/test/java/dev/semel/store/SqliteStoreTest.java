package dev.semel.store;

final class SqliteStoreTest extends StoreContract {
    @Override
    Place place() {
        return Dialect.SQLITE.open();
    }
}
