package dev.semel.store.jdbc;

import dev.semel.run.RunId;
import dev.semel.store.StoreCommand;
import dev.semel.store.StoreCommand.CommandReply;
import java.security.MessageDigest;
import java.sql.SQLException;
import org.jspecify.annotations.Nullable;

/** Executes a store command once per idempotency key and stores its response for retries. */
final class IdempotentCommandExecutor {
    private static final int MOST_ATTEMPTS = 20;

    private static final String DELETE_IF_EXPIRED = """
        DELETE FROM semel_idempotent_response WHERE ws = ? AND operation = ? AND key = ? AND expires_at <= ?
        """;

    // Inserted without the response: a request with the same key waits here until this transaction ends.
    private static final String CLAIM = """
        INSERT INTO semel_idempotent_response (ws, operation, key, id, request_digest, response, expires_at)
            VALUES (?, ?, ?, ?, ?, '', ?)
        ON CONFLICT (ws, operation, key) DO NOTHING
        """;

    private static final String FIND = """
        SELECT id, request_digest, response FROM semel_idempotent_response WHERE ws = ? AND operation = ? AND key = ?
        """;

    private static final String SAVE_RESPONSE = """
        UPDATE semel_idempotent_response SET response = ? WHERE ws = ? AND operation = ? AND key = ?
        """;

    private static final String RELEASE = """
        DELETE FROM semel_idempotent_response WHERE ws = ? AND operation = ? AND key = ?
        """;

    private static final String DELETE_EXPIRED = """
        DELETE FROM semel_idempotent_response WHERE (ws, operation, key) IN (
            SELECT ws, operation, key FROM semel_idempotent_response WHERE expires_at <= ? ORDER BY expires_at LIMIT ?)
        """;

    private final JdbcSession session;
    private final StoreCommandExecutor edits;

    IdempotentCommandExecutor(JdbcSession session, StoreCommandExecutor edits) {
        this.session = session;
        this.edits = edits;
    }

    /** The stored response of an earlier request. */
    private record StoredResponse(RunId id, byte[] digest, String answer) {}

    CommandReply execute(StoreCommand.IdempotentCommand<?> once, long now) throws SQLException {
        StoreCommand.CommandRequest asked = once.request();
        for (int attempt = 0; attempt < MOST_ATTEMPTS; attempt++) {
            session.update(DELETE_IF_EXPIRED, asked.workspace(), asked.operation(), asked.key(), now);
            boolean first = session.update(
                            CLAIM,
                            asked.workspace(),
                            asked.operation(),
                            asked.key(),
                            asked.id(),
                            asked.digest(),
                            now + asked.window())
                    == 1;
            if (first) {
                return executeFirst(once, now);
            }
            StoredResponse kept = session.queryOne(
                    FIND,
                    row -> new StoredResponse(RunId.of(row.getBytes(1)), row.getBytes(2), row.getString(3)),
                    asked.workspace(),
                    asked.operation(),
                    asked.key());
            if (kept != null) {
                return storedReply(kept, asked);
            }
        }
        throw new IllegalStateException("The key of a " + asked.operation() + " request was claimed and released "
                + MOST_ATTEMPTS + " times by other requests. Nothing was changed. Retry.");
    }

    private static CommandReply storedReply(StoredResponse kept, StoreCommand.CommandRequest asked) {
        return MessageDigest.isEqual(kept.digest(), asked.digest())
                ? new CommandReply.Done(kept.answer(), !kept.id().equals(asked.id()))
                : new CommandReply.DifferentRequest();
    }

    @SuppressWarnings("unchecked") // each command returns the outcome of its own type
    private <T> CommandReply executeFirst(StoreCommand.IdempotentCommand<T> once, long now) throws SQLException {
        StoreCommand.CommandRequest asked = once.request();
        @Nullable T outcome = (T) edits.apply(once.command(), now);
        String answer = once.encodeReply().apply(outcome);
        if (answer == null) {
            session.update(RELEASE, asked.workspace(), asked.operation(), asked.key());
            return new CommandReply.Rejected();
        }
        session.update(SAVE_RESPONSE, answer, asked.workspace(), asked.operation(), asked.key());
        return new CommandReply.Done(answer, false);
    }

    int deleteExpired(int limit, long now) throws SQLException {
        return session.update(DELETE_EXPIRED, now, limit);
    }
}
