package dev.semel.server.steps;

import org.jspecify.annotations.Nullable;

/** The outside world as the steps of one workspace reach it. */
public interface Outside {
    /** One that reaches nothing: for files that only reckon. */
    Outside NOWHERE = new Outside() {};

    /** Whether files may run SQL in the store's database. Whoever publishes then reads and writes all of its tables. */
    default boolean allowsSql() {
        return false;
    }

    default Messages messages() {
        throw new IllegalStateException("no message leaves from here");
    }

    default People people() {
        throw new IllegalStateException("nobody is known here");
    }

    default Digests digests() {
        throw new IllegalStateException("nothing is gathered here");
    }

    /** The Java step of that name; null where there is none. */
    default @Nullable JavaStep java(String name) {
        return null;
    }
}
