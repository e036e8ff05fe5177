package dev.semel.runtime;

import dev.semel.Semel;
import dev.semel.store.PostgresStoreFixture;
import org.postgresql.ds.PGSimpleDataSource;

/** Workflows in Java, beside the tables of an application on PostgreSQL. */
final class PostgresWorkflowTest extends WorkflowApiContract {
    private final PostgresStoreFixture fixture = PostgresStoreFixture.withItsOwnClock();

    @Override
    SemelRuntime opened() {
        PGSimpleDataSource source = new PGSimpleDataSource();
        source.setUrl(fixture.url());
        return (SemelRuntime) Semel.postgres(source).open();
    }
}
