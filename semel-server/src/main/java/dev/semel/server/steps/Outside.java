package dev.semel.server.steps;

/** The outside world as the steps of one workspace reach it. */
public interface Outside {
    /** One that reaches nothing: for files that only reckon. */
    Outside NOWHERE = new Outside() {};

    /** Whether files may run SQL in the store's database. Whoever publishes then reads and writes all of its tables. */
    default boolean allowsSql() {
        return false;
    }
}
