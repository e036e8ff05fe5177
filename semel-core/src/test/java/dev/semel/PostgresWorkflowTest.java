package dev.semel;

import dev.semel.store.PostgresStoreFixture;
import org.postgresql.ds.PGSimpleDataSource;

/** Workflows in Java, beside the tables of an application on PostgreSQL. */
final class PostgresWorkflowTest extends WorkflowApiContract {
    private final PostgresStoreFixture place = PostgresStoreFixture.withItsOwnClock();

    @Override
    Semel opened() {
        PGSimpleDataSource source = new PGSimpleDataSource();
        source.setUrl(place.url());
        return Semel.on(source);
    }
}
