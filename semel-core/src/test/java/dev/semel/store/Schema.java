package dev.semel.store;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;

/** What a database says about its own tables, in words that both dialects share. */
record Schema(SortedMap<String, List<String>> tables, List<String> indexes) {

    static Schema of(Dialect dialect, StoreFixture fixture) throws SQLException {
        try (Connection connection = fixture.jdbc()) {
            return switch (dialect) {
                case SQLITE -> sqlite(connection);
                case POSTGRES -> postgres(connection);
            };
        }
    }

    private static Schema sqlite(Connection connection) throws SQLException {
        SortedMap<String, List<String>> tables = new TreeMap<>();
        for (String table : texts(connection, "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name")) {
            List<String> facts = texts(
                    connection,
                    "SELECT name || CASE WHEN \"notnull\" = 1 THEN ' NOT NULL' ELSE '' END"
                            + " FROM pragma_table_info('" + table + "') ORDER BY cid");
            facts.add("PRIMARY KEY "
                    + texts(
                            connection,
                            "SELECT name FROM pragma_table_info('" + table + "') WHERE pk > 0 ORDER BY pk"));
            for (String index : texts(
                    connection,
                    "SELECT name FROM pragma_index_list('" + table + "') WHERE origin = 'u' ORDER BY name")) {
                facts.add("UNIQUE " + texts(connection, "SELECT name FROM pragma_index_info('" + index + "')"));
            }
            tables.put(table, facts);
        }
        return new Schema(tables, texts(connection, """
            SELECT name FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL ORDER BY name
            """));
    }

    private static Schema postgres(Connection connection) throws SQLException {
        SortedMap<String, List<String>> tables = new TreeMap<>();
        for (String table : texts(connection, """
            SELECT table_name FROM information_schema.tables
            WHERE table_schema = current_schema() AND table_name LIKE 'semel%' ORDER BY table_name
            """)) {
            List<String> facts = texts(
                    connection,
                    "SELECT column_name || CASE is_nullable WHEN 'NO' THEN ' NOT NULL' "
                            + "ELSE '' END FROM information_schema.columns WHERE table_schema = current_schema() "
                            + "AND table_name = '" + table + "' ORDER BY ordinal_position");
            facts.addAll(texts(
                    connection,
                    "SELECT CASE contype WHEN 'p' THEN 'PRIMARY KEY [' ELSE 'UNIQUE [' END || (SELECT"
                            + " string_agg(a.attname, ', ' ORDER BY k.n) FROM unnest(c.conkey) WITH ORDINALITY k(at, n)"
                            + " JOIN pg_attribute a ON a.attrelid = c.conrelid AND a.attnum = k.at) || ']' FROM"
                            + " pg_constraint c WHERE contype IN ('p', 'u') AND conrelid = '" + table
                            + "'::regclass ORDER BY contype"));
            tables.put(table, facts);
        }
        return new Schema(tables, texts(connection, """
            SELECT indexname FROM pg_indexes i WHERE schemaname = current_schema() AND tablename LIKE 'semel%'
            AND NOT EXISTS (SELECT 1 FROM pg_constraint c WHERE c.conname = i.indexname)
            ORDER BY indexname COLLATE "C"
            """));
    }

    private static List<String> texts(Connection connection, String query) throws SQLException {
        List<String> texts = new ArrayList<>();
        try (var statement = connection.createStatement();
                var rows = statement.executeQuery(query)) {
            while (rows.next()) {
                texts.add(rows.getString(1));
            }
        }
        return texts;
    }
}
