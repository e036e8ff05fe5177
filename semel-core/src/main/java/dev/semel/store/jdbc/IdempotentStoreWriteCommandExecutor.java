package dev.semel.store.jdbc;

import dev.semel.run.RunId;
import dev.semel.store.StoreWriteCommand;
import dev.semel.store.StoreWriteCommand.CommandReply;
import dev.semel.store.jdbc.session.JdbcSession;
import java.security.MessageDigest;
import java.sql.SQLException;
import org.jspecify.annotations.Nullable;

final class IdempotentStoreWriteCommandExecutor {
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
    private final StoreWriteCommandExecutor edits;

    IdempotentStoreWriteCommandExecutor(JdbcSession session, StoreWriteCommandExecutor edits) {
        this.session = session;
        this.edits = edits;
    }

    private record StoredResponse(RunId id, byte[] digest, String answer) {}

    CommandReply execute(StoreWriteCommand.IdempotentCommand<?> once, long now) throws SQLException {
        StoreWriteCommand.CommandRequest commandRequest = once.request();
        for (int attempt = 0; attempt < MOST_ATTEMPTS; attempt++) {
            session.update(
                    DELETE_IF_EXPIRED,
                    commandRequest.workspace(),
                    commandRequest.operation(),
                    commandRequest.key(),
                    now);
            boolean first = session.update(
                            CLAIM,
                            commandRequest.workspace(),
                            commandRequest.operation(),
                            commandRequest.key(),
                            commandRequest.id(),
                            commandRequest.digest(),
                            now + commandRequest.window())
                    == 1;
            if (first) {
                return executeFirst(once, now);
            }
            StoredResponse storedResponse = session.queryOne(
                    FIND,
                    row -> new StoredResponse(RunId.of(row.getBytes(1)), row.getBytes(2), row.getString(3)),
                    commandRequest.workspace(),
                    commandRequest.operation(),
                    commandRequest.key());
            if (storedResponse != null) {
                return storedReply(storedResponse, commandRequest);
            }
        }
        throw new IllegalStateException(
                "The key of a " + commandRequest.operation() + " request was claimed and released " + MOST_ATTEMPTS
                        + " times by other requests. Nothing was changed. Retry.");
    }

    private static CommandReply storedReply(
            StoredResponse storedResponse, StoreWriteCommand.CommandRequest commandRequest) {
        return MessageDigest.isEqual(storedResponse.digest(), commandRequest.digest())
                ? new CommandReply.Done(
                        storedResponse.answer(), !storedResponse.id().equals(commandRequest.id()))
                : new CommandReply.DifferentRequest();
    }

    @SuppressWarnings("unchecked") // each command returns the outcome of its own type
    private <T> CommandReply executeFirst(StoreWriteCommand.IdempotentCommand<T> once, long now) throws SQLException {
        StoreWriteCommand.CommandRequest commandRequest = once.request();
        @Nullable T outcome = (T) edits.apply(once.command(), now);
        String answer = once.encodeReply().apply(outcome);
        if (answer == null) {
            session.update(RELEASE, commandRequest.workspace(), commandRequest.operation(), commandRequest.key());
            return new CommandReply.Rejected();
        }
        session.update(
                SAVE_RESPONSE, answer, commandRequest.workspace(), commandRequest.operation(), commandRequest.key());
        return new CommandReply.Done(answer, false);
    }

    int deleteExpired(int limit, long now) throws SQLException {
        return session.update(DELETE_EXPIRED, now, limit);
    }
}
