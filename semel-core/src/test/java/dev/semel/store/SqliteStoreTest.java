package dev.semel.store;

final class SqliteStoreTest extends StoreContract {
    @Override
    StoreFixture place() {
        return Dialect.SQLITE.open();
    }
}
