/**
 * The Semel library. It exports the packages for users; all other packages are internal and may change at any time.
 */
@SuppressWarnings("requires-automatic") // the PostgreSQL driver has no module descriptor
module dev.semel.core {
    requires transitive java.net.http;
    requires transitive java.sql;
    requires static transitive org.jspecify;
    requires static org.checkerframework.checker.qual;
    requires static org.junit.jupiter.api;
    requires org.postgresql.jdbc;
    requires org.xerial.sqlitejdbc;
    requires transitive tools.jackson.databind;

    exports dev.semel;
    exports dev.semel.error;
    exports dev.semel.http;
    exports dev.semel.testing;
    exports dev.semel.testing.junit;
    exports dev.semel.workflow;

    opens dev.semel.testing.junit;
}
