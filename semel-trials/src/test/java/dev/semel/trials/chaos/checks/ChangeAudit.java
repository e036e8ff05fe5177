package dev.semel.trials.chaos.checks;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The database's own witness: triggers that write down who changed what, in the order in which rows were locked. A
 * worker says its name when it connects. What was rolled back leaves nothing here.
 *
 * @param owner the lease that the row names after the change; null for none
 * @param number the claim of a run at work, the attempt of an effect, 1 for a lease that was ended before its time
 */
public record ChangeAudit(
        long seq,
        String worker,
        String what,
        @Nullable String run,
        @Nullable Long owner,
        int number,
        String detail) {
    private static final String WATCH = """
        CREATE TABLE chaos_audit (
            seq bigserial PRIMARY KEY,
            worker text NOT NULL,
            what text NOT NULL,
            run bytea,
            owner bigint,
            number integer NOT NULL,
            detail text NOT NULL);

        CREATE FUNCTION chaos_note(what text, run bytea, owner bigint, number integer, detail text)
        RETURNS void LANGUAGE sql AS $$
            INSERT INTO chaos_audit (worker, what, run, owner, number, detail)
            VALUES (COALESCE(current_setting('chaos.worker', true), ''), what, run, owner, number, COALESCE(detail, ''))
        $$;

        CREATE FUNCTION chaos_work() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
            IF TG_OP = 'DELETE' THEN
                PERFORM chaos_note('work-', OLD.run, OLD.owner, OLD.claim_count, '');
            ELSIF TG_OP = 'INSERT' THEN
                PERFORM chaos_note('work+', NEW.run, NEW.owner, NEW.claim_count, '');
            ELSIF NEW.owner IS DISTINCT FROM OLD.owner OR NEW.claim_count <> OLD.claim_count THEN
                PERFORM chaos_note('work~', NEW.run, NEW.owner, NEW.claim_count, OLD.owner::text);
            END IF;
            RETURN NULL;
        END $$;
        CREATE TRIGGER chaos_work AFTER INSERT OR UPDATE OR DELETE ON semel_unfinished_run
            FOR EACH ROW EXECUTE FUNCTION chaos_work();

        CREATE FUNCTION chaos_lease() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
            IF TG_OP = 'DELETE' THEN
                PERFORM chaos_note('lease-', NULL, OLD.lease,
                    (OLD.expires_at >= (extract(epoch FROM clock_timestamp()) * 1000000)::bigint)::integer, OLD.worker);
            ELSE
                PERFORM chaos_note('lease+', NULL, NEW.lease, 0, NEW.worker);
            END IF;
            RETURN NULL;
        END $$;
        INSERT INTO chaos_audit (worker, what, owner, number, detail)
        SELECT worker, 'lease+', lease, 0, worker FROM semel_lease;
        CREATE TRIGGER chaos_lease AFTER INSERT OR DELETE ON semel_lease
            FOR EACH ROW EXECUTE FUNCTION chaos_lease();

        CREATE FUNCTION chaos_row() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
            IF TG_OP = 'DELETE' THEN
                PERFORM chaos_note(TG_ARGV[0] || '-', OLD.run, NULL, 0, '');
            ELSIF TG_OP = 'UPDATE' THEN
                PERFORM chaos_note(TG_ARGV[0] || '~', NEW.run, NULL, 0, '');
            ELSE
                PERFORM chaos_note(TG_ARGV[0] || '+', NEW.run, NULL, 0, '');
            END IF;
            RETURN NULL;
        END $$;
        CREATE TRIGGER chaos_journal AFTER INSERT OR UPDATE ON semel_journal
            FOR EACH ROW EXECUTE FUNCTION chaos_row('journal');
        CREATE TRIGGER chaos_end AFTER INSERT OR UPDATE OR DELETE ON semel_finished_run
            FOR EACH ROW EXECUTE FUNCTION chaos_row('end');

        CREATE FUNCTION chaos_effect() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
            IF NEW.state = 1 THEN
                PERFORM chaos_note('reserved', NEW.run, NULL, NEW.attempt, NEW.path);
            END IF;
            RETURN NULL;
        END $$;
        CREATE TRIGGER chaos_effect AFTER INSERT OR UPDATE ON semel_effect
            FOR EACH ROW EXECUTE FUNCTION chaos_effect();
        """;

    /** Begins to watch; the tables must be there. */
    public static void begin(String url) {
        try (Connection connection = DriverManager.getConnection(url);
                Statement statement = connection.createStatement()) {
            statement.execute(WATCH);
        } catch (SQLException e) {
            throw new AssertionError("the database cannot be watched", e);
        }
    }

    static List<ChangeAudit> read(Connection connection) throws SQLException {
        List<ChangeAudit> all = new ArrayList<>();
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(
                        "SELECT seq, worker, what, run, owner, number, detail FROM chaos_audit ORDER BY seq")) {
            while (row.next()) {
                byte[] run = row.getBytes("run");
                long owner = row.getLong("owner");
                Long lease = row.wasNull() ? null : owner;
                all.add(new ChangeAudit(
                        row.getLong("seq"),
                        row.getString("worker"),
                        row.getString("what"),
                        run == null ? null : DatabaseDump.runId(run),
                        lease,
                        row.getInt("number"),
                        row.getString("detail")));
            }
        }
        return all;
    }
}
