package dev.semel.server.operations;

import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.idempotency.IdempotencyKey;
import dev.semel.json.StrictJsonCodec;
import dev.semel.runtime.SemelRuntime;
import dev.semel.server.http.Principal;
import dev.semel.server.http.ServerHttpRequest;
import dev.semel.store.StoreWriteCommand;
import dev.semel.store.StoreWriteCommand.CommandReply;
import java.time.Duration;
import java.util.List;
import java.util.function.Function;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/**
 * Executes API changes once per `Idempotency-Key`. A repeated request within 24 hours gets the first response, which
 * the store saves in the transaction of the change. Also writes the audit entries of changes.
 */
public record IdempotentInboundRequestExecutor(SemelRuntime semel) {
    private static final long RETENTION_MICROS = Duration.ofHours(24).toNanos() / 1_000;
    private static final int LONGEST_REASON = 500;
    /**
     * Executes the change, or returns the response of the first execution. Null: the store rejected the change and
     * nothing was saved.
     *
     * @param view builds the response body, which is stored and so must not contain a secret; null if the change was
     *     rejected
     */
    public <T> @Nullable ActionResult runOnce(
            ServerHttpRequest request,
            ActionRequest action,
            StoreWriteCommand<T> edit,
            Function<@Nullable T, @Nullable ObjectNode> view) {
        IdempotencyKey key = IdempotencyKey.fromHeader(request.headerLines("Idempotency-Key"));
        if (key == null) {
            ObjectNode body = view.apply(semel.changeOrNull(edit));
            return body == null ? null : new ActionResult(body, false);
        }
        StoreWriteCommand.CommandRequest command = new StoreWriteCommand.CommandRequest(
                semel.newId(),
                request.principal().workspace(),
                action.operation(),
                key.text(),
                action.digest(),
                RETENTION_MICROS);
        CommandReply replied = semel.change(new StoreWriteCommand.IdempotentCommand<T>(command, edit, outcome -> {
            ObjectNode body = view.apply(outcome);
            return body == null ? null : StrictJsonCodec.write(body);
        }));
        return switch (replied) {
            case CommandReply.Done done -> new ActionResult(StrictJsonCodec.parse(done.answer()), done.replayed());
            case CommandReply.Rejected _ -> null;
            case CommandReply.DifferentRequest _ -> throw conflict(key);
        };
    }

    /** Adds an audit entry to the change, written only if its outcome shows that something changed. */
    public <T> StoreWriteCommand<T> withAudit(
            ServerHttpRequest request, AuditNote entry, StoreWriteCommand<T> edit, Predicate<@Nullable T> done) {
        return new StoreWriteCommand.AuditedCommand<>(edit, done, auditEntry(request.principal(), entry));
    }

    /** Writes the audit entry before the action begins, for actions of more than one change. */
    public void recordAudit(ServerHttpRequest request, AuditNote entry) {
        StoreWriteCommand.WakeRuns nothing = new StoreWriteCommand.WakeRuns(List.of());
        semel.change(
                new StoreWriteCommand.AuditedCommand<>(nothing, _ -> true, auditEntry(request.principal(), entry)));
    }

    private StoreWriteCommand.AuditEntry auditEntry(Principal who, AuditNote entry) {
        String reason = entry.reason().length() <= LONGEST_REASON
                ? entry.reason()
                : entry.reason().substring(0, LONGEST_REASON);
        StoreWriteCommand.ChangeAuthor by = new StoreWriteCommand.ChangeAuthor(semel.newId(), who.tokenId(), reason);
        return new StoreWriteCommand.AuditEntry(who.workspace(), entry.action(), entry.target(), by);
    }

    private static SemelException conflict(IdempotencyKey key) {
        return new SemelException(
                        ErrorCode.IDEMPOTENCY_KEY_CONFLICT,
                        "Key \"" + key.text() + "\" was used before for a different request. Nothing was changed.",
                        "Send the original request to get the original response, or use a new key.")
                .with("reason", "request")
                .with("idempotency_key", key.text());
    }
}
