package dev.semel.runtime;

import dev.semel.Semel;
import dev.semel.store.PostgresStoreFixture;
import org.postgresql.ds.PGSimpleDataSource;

/** Hard cases on PostgreSQL. */
final class PostgresEdgeCasesTest extends EdgeCaseContract {
    private final PostgresStoreFixture fixture = PostgresStoreFixture.withItsOwnClock();

    @Override
    SemelRuntime opened() {
        PGSimpleDataSource source = new PGSimpleDataSource();
        source.setUrl(fixture.url());
        return (SemelRuntime) Semel.postgres(source).open();
    }
}
