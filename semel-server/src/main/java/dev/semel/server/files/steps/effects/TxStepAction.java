package dev.semel.server.files.steps.effects;

import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.json.StrictJsonCodec;
import dev.semel.server.files.expressions.ExpressionCompileContext.ContextKind;
import dev.semel.server.files.expressions.YamlValueTemplate;
import dev.semel.server.files.steps.CompiledYamlStepAction;
import dev.semel.server.files.steps.DeclaredEffect;
import dev.semel.server.files.steps.RetryOptions;
import dev.semel.server.files.steps.YamlStepExecutionContext;
import dev.semel.server.files.steps.YamlStepReadContext;
import dev.semel.server.files.yaml.YamlMapReader;
import java.math.BigDecimal;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.ResultSetMetaData;
import java.sql.SQLException;
import java.sql.Types;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/**
 * Step kind `tx: {sql, params, rows}`: one SQL statement on the store's database, committed together with the step's
 * record.
 *
 * <p>Both commit or neither, so the step needs no protection.
 */
public record TxStepAction(
        NamedParameterSql sql, Map<String, YamlValueTemplate> params, ResultShape shape, RetryOptions retries)
        implements CompiledYamlStepAction {
    private static final int MOST_ROWS = 1_000;

    /** The shape of a query result: `rows: one` or `rows: all`. */
    private enum ResultShape {
        ONE,
        ALL
    }

    public static @Nullable CompiledYamlStepAction read(YamlStepReadContext draft) {
        YamlMapReader section = draft.section("tx", Set.of("datasource", "sql", "params", "rows"));
        if (section == null) {
            return null;
        }
        String source = section.text("datasource");
        if (source != null && !source.equals("main")) {
            draft.addError(
                    section.valueRange("datasource"),
                    "tx.datasource must be main, which is the store's own database; only there can Semel commit its"
                            + " record together with the step.");
        }
        Map<String, YamlValueTemplate> params = draft.templates(section, "params", "tx.params", ContextKind.STEP);
        NamedParameterSql sql = sql(draft, section, params.keySet());
        ResultShape shape = section.choice("rows", ResultShape.class).orElse(ResultShape.ONE);
        RetryOptions retries = RetryOptions.read(draft);
        return sql == null ? null : new TxStepAction(sql, params, shape, retries);
    }

    private static @Nullable NamedParameterSql sql(
            YamlStepReadContext draft, YamlMapReader section, Set<String> params) {
        String text = section.text("sql");
        if (text == null) {
            if (section.get("sql") == null) {
                draft.addError(section.nameRange("sql"), "tx.sql is missing.");
            }
            return null;
        }
        String rejection = text.contains("${")
                ? "tx.sql must not contain expressions, which would allow SQL injection; use a parameter such as"
                        + " :payment and set it under tx.params."
                : NamedParameterSql.findProblem(text);
        if (rejection != null) {
            draft.addError(section.valueRange("sql"), rejection);
            return null;
        }
        NamedParameterSql sql = NamedParameterSql.parse(text);
        Set<String> missing = new TreeSet<>(sql.names());
        missing.removeAll(params);
        Set<String> idle = new TreeSet<>(params);
        idle.removeAll(sql.names());
        missing.forEach(
                name -> draft.addError(section.valueRange("sql"), ":%s is missing under tx.params.".formatted(name)));
        idle.forEach(name -> draft.addError(
                section.valueRange("params"), "tx.sql does not use :%s; remove it from tx.params.".formatted(name)));
        return sql;
    }

    @Override
    public JsonNode run(YamlStepExecutionContext context) {
        if (!context.services().allowsSql()) {
            throw new SemelException(
                    ErrorCode.FORBIDDEN,
                    "Step '%s' runs SQL in the store's database, which this server does not allow. Nothing"
                                    .formatted(context.id())
                            + " was written.",
                    "Start the server with --allow-sql if every user who publishes workflows may read and write the"
                            + " tables of the store.");
        }
        Map<String, JsonNode> values = new LinkedHashMap<>();
        params.forEach((name, template) -> values.put(name, context.evaluate(template)));
        return context.durable().tx(retries.spec(context.id()), (connection, _) -> execute(connection, values));
    }

    private JsonNode execute(Connection connection, Map<String, JsonNode> values) throws SQLException {
        boolean postgres = connection.getMetaData().getDatabaseProductName().equals("PostgreSQL");
        try (PreparedStatement statement = connection.prepareStatement(sql.jdbc())) {
            for (int i = 0; i < sql.names().size(); i++) {
                set(statement, i + 1, values.get(sql.names().get(i)), postgres);
            }
            if (!statement.execute()) {
                // SQLite counts the rows of the statement before.
                int updated = sql.isDefinition() ? 0 : statement.getUpdateCount();
                return JsonNodeFactory.instance.objectNode().put("updated", updated);
            }
            try (ResultSet rows = statement.getResultSet()) {
                return shape == ResultShape.ALL ? all(rows) : one(rows);
            }
        }
    }

    /** PostgreSQL infers the type of a text itself, as it does for a literal. */
    private static void set(PreparedStatement to, int place, @Nullable JsonNode value, boolean postgres)
            throws SQLException {
        switch (value) {
            case null -> to.setNull(place, Types.NULL);
            case JsonNode none when none.isNull() -> to.setNull(place, Types.NULL);
            case JsonNode bool when bool.isBoolean() -> to.setBoolean(place, bool.booleanValue());
            case JsonNode whole
            when whole.isIntegralNumber() && whole.canConvertToLong() -> to.setLong(place, whole.longValue());
            case JsonNode number when number.isNumber() && postgres -> to.setBigDecimal(place, number.decimalValue());
            case JsonNode number when number.isNumber() -> to.setDouble(place, number.doubleValue());
            default -> {
                String text = value.isString() ? value.stringValue() : StrictJsonCodec.write(value);
                if (postgres) {
                    to.setObject(place, text, Types.OTHER);
                } else {
                    to.setString(place, text);
                }
            }
        }
    }

    private static JsonNode one(ResultSet rows) throws SQLException {
        return rows.next() ? row(rows) : JsonNodeFactory.instance.nullNode();
    }

    private static JsonNode all(ResultSet rows) throws SQLException {
        ArrayNode list = JsonNodeFactory.instance.arrayNode();
        while (rows.next()) {
            if (list.size() == MOST_ROWS) {
                throw new SemelException(
                        ErrorCode.INVALID_DEFINITION,
                        "The statement of a tx step returned more than " + MOST_ROWS + " rows. Nothing was written.",
                        "Add a LIMIT or a narrower condition.");
            }
            list.add(row(rows));
        }
        return list;
    }

    private static ObjectNode row(ResultSet rows) throws SQLException {
        ObjectNode row = JsonNodeFactory.instance.objectNode();
        ResultSetMetaData columns = rows.getMetaData();
        for (int i = 1; i <= columns.getColumnCount(); i++) {
            row.set(columns.getColumnLabel(i).toLowerCase(Locale.ROOT), value(rows.getObject(i)));
        }
        return row;
    }

    private static JsonNode value(@Nullable Object value) {
        JsonNodeFactory json = JsonNodeFactory.instance;
        return switch (value) {
            case null -> json.nullNode();
            case Boolean bool -> json.booleanNode(bool);
            case Integer number -> json.numberNode(number);
            case Long number -> json.numberNode(number);
            case Short number -> json.numberNode(number.intValue());
            case Double number -> json.numberNode(number);
            case Float number -> json.numberNode(number);
            case BigDecimal number -> json.numberNode(number);
            default -> json.stringNode(value.toString());
        };
    }

    @Override
    public Stream<YamlValueTemplate> templates() {
        return params.values().stream();
    }

    @Override
    public DeclaredEffect declaredEffect() {
        return DeclaredEffect.tx("SQL in the store's database");
    }
}
