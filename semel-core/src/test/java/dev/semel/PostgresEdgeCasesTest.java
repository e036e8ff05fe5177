package dev.semel;

import dev.semel.store.PostgresStoreFixture;
import org.postgresql.ds.PGSimpleDataSource;

/** Hard cases on PostgreSQL. */
final class PostgresEdgeCasesTest extends EdgeCaseContract {
    private final PostgresStoreFixture place = PostgresStoreFixture.withItsOwnClock();

    @Override
    Semel opened() {
        PGSimpleDataSource source = new PGSimpleDataSource();
        source.setUrl(place.url());
        return Semel.on(source);
    }
}
