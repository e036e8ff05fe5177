package dev.semel.trials.support;

import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;

/** The stores that every trial runs on. */
public enum StoreKind {
    SQLITE {
        @Override
        public String fresh(Path folder) {
            return "sqlite:" + folder.resolve("semel.db");
        }
    },
    POSTGRES {
        @Override
        public String fresh(Path folder) {
            return Databases.fresh();
        }
    };

    /** The URL of an empty store. */
    public abstract String fresh(Path folder);

    /** A connection of our own beside the server's: tests look at rows without asking the code under test. */
    public static Connection connect(String store) throws SQLException {
        if (!store.startsWith("sqlite:")) {
            return DriverManager.getConnection(store);
        }
        Connection connection = DriverManager.getConnection("jdbc:" + store);
        try (var statement = connection.createStatement()) {
            statement.execute("PRAGMA busy_timeout = 20000");
        }
        return connection;
    }
}
