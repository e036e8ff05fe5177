package dev.semel.store;

final class PostgresStoreTest extends StoreContract implements TxRules {
    @Override
    Place place() {
        return Dialect.POSTGRES.emptied();
    }
}
