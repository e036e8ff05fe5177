package dev.semel.runtime;

import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.store.Store;
import dev.semel.store.postgres.PostgresStore;
import dev.semel.store.sqlite.SqliteStore;
import java.nio.file.Path;

/** Opens the SQLite or PostgreSQL store that a store URL names. */
final class StoreFactory {
    private StoreFactory() {}

    static Store open(RuntimeOptions settings) {
        String url = settings.store();
        if (url.startsWith("jdbc:postgresql:")) {
            return new PostgresStore(url, settings.databaseClockSkew(), settings.ambient().idSupplier());
        }
        if (url.startsWith("sqlite:")) {
            Path file = Path.of(url.substring("sqlite:".length()));
            return new SqliteStore(
                    file, settings.ambient()::micros, settings.ambient().idSupplier());
        }
        throw new SemelException(
                ErrorCode.INVALID_INPUT,
                "The store URL does not begin with sqlite: or jdbc:postgresql:. No store was opened.",
                "Use sqlite:FILE or jdbc:postgresql://host/database.");
    }
}
