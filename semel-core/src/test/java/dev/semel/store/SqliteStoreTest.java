package dev.semel.store;

final class SqliteStoreTest extends StoreContract implements TxRules {
    @Override
    Place place() {
        return Dialect.SQLITE.open();
    }
}
