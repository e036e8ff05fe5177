package dev.semel.store;

import java.sql.Connection;
import java.sql.ResultSetMetaData;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** One store on which a script is played. */
final class ScriptedStore implements AutoCloseable {
    static final long TTL = 10_000_000;

    final String name;
    final StoreFixture fixture;
    final StoreQueries reads;
    private final WorkflowStore store;
    private final Connection beside;
    private final List<String> tables;
    private final WorkflowStore.BatchWriter lane;
    private final WorkerLeases leases;
    private long lease = 1;

    ScriptedStore(String name, StoreFixture place) {
        this.name = name;
        this.fixture = place;
        this.store = place.store();
        this.beside = place.jdbc();
        this.tables = tables(beside);
        this.lane = store.openLane();
        this.reads = store.openQueries();
        this.leases = store.openLeases();
        leases.start(lease, "actor", 1, TTL);
    }

    /** What came of it, as a text. */
    String play(ScriptStep step) {
        return switch (step) {
            case ScriptStep.AdvanceClock move -> {
                fixture.setTime(fixture.time() + move.micros());
                yield "moved";
            }
            case ScriptStep.ApplyBatch apply -> apply(apply);
            case ScriptStep.Crash crash -> {
                fixture.setTime(fixture.time() + TTL + 1);
                // How many leases it ended is not notified: SQLite ends none here and all of them with the next start.
                leases.takeOverExpired(0);
                yield start(crash.lease());
            }
            case ScriptStep.Handover handover -> {
                leases.end(lease);
                yield start(handover.lease());
            }
            case ScriptStep.Renew _ ->
                leases.renew(lease, TTL) + " "
                        + leases.heartbeat(lease, new WorkerLeases.WorkerReport("1", 3, StoreFixture.START))
                                .clockAhead();
        };
    }

    private String start(long next) {
        leases.start(next, "actor", 1, TTL);
        lease = next;
        return "started";
    }

    private String apply(ScriptStep.ApplyBatch step) {
        CommitBatch.LeaseSlot hold = hold(step.as());
        List<String> outcomes = new ArrayList<>();
        try {
            List<Object> answers = lane.apply(new CommitBatch(hold, step.writes()));
            for (int i = 0; i < answers.size(); i++) {
                outcomes.add(shown(settled(hold, step.writes().get(i), answers.get(i))));
            }
            return String.join("\n    ", outcomes);
        } catch (StoreFailure e) {
            return e.getClass().getSimpleName();
        }
    }

    private CommitBatch.@Nullable LeaseSlot hold(ScriptStep.BatchAuthor as) {
        return switch (as) {
            case OWNER -> new CommitBatch.LeaseSlot(lease, 0);
            case NOBODY -> null;
            case FENCED -> new CommitBatch.LeaseSlot(lease - 1, 0);
        };
    }

    /** What a neighbour in the batch stood in the way of is applied again, as a lane of the engine does. */
    private Object settled(CommitBatch.@Nullable LeaseSlot hold, StoreWrite<?> write, Object first) {
        Object answer = first;
        for (int i = 0;
                answer instanceof StoreWrite.AdmitResult.RetryNextBatch || answer == StoreWrite.Deferred.DEFERRED;
                i++) {
            if (i == 10) {
                throw new AssertionError(name + " never decides " + write);
            }
            answer = lane.apply(new CommitBatch(hold, List.of(write))).getFirst();
        }
        return answer;
    }

    /** Which runs a claim took is a promise; in which order it tells them is not. */
    private static String shown(Object outcome) {
        if (outcome instanceof List<?> claimed) {
            return claimed.stream().map(ValueText::of).sorted().toList().toString();
        }
        return ValueText.of(outcome);
    }

    long lease() {
        return lease;
    }

    /**
     * Every row of every table as a line of text, sorted. A rate that nobody started by yet is no row: PostgreSQL makes
     * one to have something to lock, and leaves it when the trigger is refused.
     */
    List<String> rows() {
        List<String> lines = new ArrayList<>();
        try {
            for (String table : tables) {
                addRows(beside, table, lines);
            }
        } catch (SQLException e) {
            throw new AssertionError("the rows of " + name + " could not be looked at", e);
        }
        lines.removeIf(line -> line.startsWith("semel_rate_limit ") && line.contains("next_start_at=0"));
        lines.sort(Comparator.naturalOrder());
        return lines;
    }

    private static List<String> tables(Connection connection) {
        List<String> tables = new ArrayList<>();
        try (var found =
                connection.getMetaData().getTables(null, connection.getSchema(), "semel%", new String[] {"TABLE"})) {
            while (found.next()) {
                tables.add(found.getString("TABLE_NAME"));
            }
        } catch (SQLException e) {
            throw new AssertionError("the tables could not be listed", e);
        }
        // It holds when each store was migrated, which differs.
        if (!tables.remove("semel_migration")) {
            throw new AssertionError("not the tables of a store: " + tables);
        }
        return tables;
    }

    private static void addRows(Connection connection, String table, List<String> lines) throws SQLException {
        try (var statement = connection.createStatement();
                var rows = statement.executeQuery("SELECT * FROM " + table)) {
            ResultSetMetaData columns = rows.getMetaData();
            while (rows.next()) {
                TreeMap<String, String> values = new TreeMap<>();
                for (int i = 1; i <= columns.getColumnCount(); i++) {
                    values.put(columns.getColumnName(i).toLowerCase(Locale.ROOT), ValueText.of(rows.getObject(i)));
                }
                lines.add(table + " " + values);
            }
        }
    }

    @Override
    public void close() {
        reads.close();
        lane.close();
        leases.close();
        try {
            beside.close();
        } catch (SQLException e) {
            throw new AssertionError("the connection of " + name + " did not close", e);
        }
        store.close();
        fixture.close();
    }
}
