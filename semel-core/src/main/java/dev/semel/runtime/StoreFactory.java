package dev.semel.runtime;

import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.store.WorkflowStore;
import dev.semel.store.postgres.PostgresStore;
import dev.semel.store.sqlite.SqliteStore;
import java.nio.file.Path;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

public final class StoreFactory {
    private StoreFactory() {}

    static WorkflowStore open(RuntimeOptions settings) {
        String url = settings.store();
        if (url.startsWith("jdbc:postgresql:")) {
            return new PostgresStore(
                    url, settings.databaseClockSkew(), settings.ambient().idSupplier());
        }
        if (url.startsWith("sqlite:")) {
            return sqlite(Path.of(url.substring("sqlite:".length())), settings);
        }
        throw new SemelException(
                ErrorCode.INVALID_INPUT,
                "The store URL does not begin with sqlite: or jdbc:postgresql:. No store was opened.",
                "Use sqlite:FILE or jdbc:postgresql://host/database.");
    }

    public static WorkflowStore sqlite(Path file, RuntimeOptions settings) {
        return new SqliteStore(
                file, settings.ambient().trustedClock(), settings.ambient().idSupplier());
    }

    /** @param schema the schema of Semel's tables; null for the default schema of the connections */
    public static WorkflowStore postgres(DataSource source, @Nullable String schema, RuntimeOptions settings) {
        return new PostgresStore(
                source, schema, settings.databaseClockSkew(), settings.ambient().idSupplier());
    }
}
