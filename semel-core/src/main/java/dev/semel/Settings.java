package dev.semel;

import dev.semel.engine.Ambient;
import dev.semel.engine.Catalog;
import dev.semel.engine.Limits;
import dev.semel.engine.Requests;
import java.util.function.LongSupplier;

/**
 * Options for opening Semel: its store, worker name, limits and clock.
 *
 * @param store URL of the store: `sqlite:FILE` or `jdbc:postgresql://…`
 * @param worker display name of this worker; its lease has a separate id
 * @param compiler compiles stored workflow versions that are not written in Java
 * @param requests notified of every replayed or conflicting request once its row is durable
 * @param ambient clock, ids and randomness; tests replace it
 * @param skew microseconds added to the database's clock; 0 except in tests
 */
public record Settings(
        String store,
        String worker,
        Catalog.Compiler compiler,
        Requests.Observer requests,
        Limits limits,
        Ambient ambient,
        LongSupplier skew) {
    public static Settings of(String store, Catalog.Compiler compiler) {
        return new Settings(
                store, Standing.usualName(), compiler, (_, _) -> {}, Limits.DEFAULT, Ambient.real(), () -> 0);
    }

    public Settings withLimits(Limits value) {
        return new Settings(store, worker, compiler, requests, value, ambient, skew);
    }

    public Settings withRequests(Requests.Observer value) {
        return new Settings(store, worker, compiler, value, limits, ambient, skew);
    }

    public Settings withWorker(String value) {
        return new Settings(store, value, compiler, requests, limits, ambient, skew);
    }

    /** For tests: a manual clock, on either store. */
    public Settings withClock(Ambient clock, LongSupplier databaseSkew) {
        return new Settings(store, worker, compiler, requests, limits, clock, databaseSkew);
    }
}
