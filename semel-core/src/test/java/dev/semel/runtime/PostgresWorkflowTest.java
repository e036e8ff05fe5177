package dev.semel.runtime;

import dev.semel.Semel;
import dev.semel.store.PostgresPlace;
import org.postgresql.ds.PGSimpleDataSource;

/** Workflows in Java, beside the tables of an application on PostgreSQL. */
final class PostgresWorkflowTest extends WorkflowRules {
    private final PostgresPlace place = PostgresPlace.withItsOwnClock();

    @Override
    SemelRuntime opened() {
        PGSimpleDataSource source = new PGSimpleDataSource();
        source.setUrl(place.url());
        return (SemelRuntime) Semel.postgres(source).open();
    }
}
