package dev.semel.runtime;

import dev.semel.Semel;
import dev.semel.store.PostgresPlace;
import org.postgresql.ds.PGSimpleDataSource;

/** Hard cases on PostgreSQL. */
final class HardCasesOnPostgresTest extends HardCases {
    private final PostgresPlace place = PostgresPlace.withItsOwnClock();

    @Override
    SemelRuntime opened() {
        PGSimpleDataSource source = new PGSimpleDataSource();
        source.setUrl(place.url());
        return (SemelRuntime) Semel.postgres(source).open();
    }
}
