package dev.semel.server.api;

import dev.semel.runtime.SemelRuntime;
import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.json.StrictJson;
import dev.semel.admission.IdempotencyKey;
import dev.semel.server.http.HttpResponse;
import dev.semel.server.http.Principal;
import dev.semel.server.http.HttpRequest;
import dev.semel.store.StoreCommand;
import dev.semel.store.StoreCommand.CommandReply;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.List;
import java.util.function.Function;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * Executes API changes once per `Idempotency-Key`. A repeated request within 24 hours gets the first response, which
 * the store saves in the transaction of the change. Also writes the audit entries of changes.
 */
final class IdempotentActions {
    private static final long RETENTION_MICROS = Duration.ofHours(24).toNanos() / 1_000;
    private static final int LONGEST_REASON = 500;
    private static final String DRAFT =
            "https://datatracker.ietf.org/doc/html/draft-ietf-httpapi-idempotency-key-header-07#section-2.2";

    private final SemelRuntime semel;

    IdempotentActions(SemelRuntime semel) {
        this.semel = semel;
    }

    /**
     * Identifies a requested change.
     *
     * @param operation the kind of change; the same key may be used for different operations
     * @param parts the values that define the change; other values with the same key are a conflict
     */
    record ActionRequest(String operation, List<String> parts) {
        ActionRequest(String operation, String... parts) {
            this(operation, List.of(parts));
        }

        byte[] digest() {
            try {
                MessageDigest sha = MessageDigest.getInstance("SHA-256");
                for (String word : parts) {
                    byte[] bytes = word.getBytes(StandardCharsets.UTF_8);
                    // The length first, so that two different lists never have the same bytes.
                    sha.update((bytes.length + "\n").getBytes(StandardCharsets.UTF_8));
                    sha.update(bytes);
                }
                return sha.digest();
            } catch (NoSuchAlgorithmException e) {
                throw new IllegalStateException("every JDK has SHA-256", e);
            }
        }
    }

    /** The response body of a change, and whether it was saved by an earlier request. */
    record ActionResult(JsonNode body, boolean replayed) {
        HttpResponse toResponse() {
            HttpResponse plain = JsonViews.ok(body);
            return replayed ? IdempotentActions.addReplayedHeaders(plain) : plain;
        }
    }

    static HttpResponse addReplayedHeaders(HttpResponse plain) {
        return plain.with("X-Idempotent-Replayed", "true").with("Idempotent-Replayed", "true");
    }

    /**
     * Executes the change, or returns the response of the first execution. Null: the store rejected the change and
     * nothing was saved.
     *
     * @param view builds the response body, which is stored and so must not contain a secret; null if the change was
     *     rejected
     */
    <T> @Nullable ActionResult runOnce(
            HttpRequest request, ActionRequest action, StoreCommand<T> edit, Function<@Nullable T, @Nullable ObjectNode> view) {
        IdempotencyKey key = IdempotencyKey.fromHeader(request.headerLines("Idempotency-Key"));
        if (key == null) {
            ObjectNode body = view.apply(semel.changeOrNull(edit));
            return body == null ? null : new ActionResult(body, false);
        }
        StoreCommand.CommandRequest command = new StoreCommand.CommandRequest(
                semel.newId(),
                request.principal().workspace(),
                action.operation(),
                key.text(),
                action.digest(),
                RETENTION_MICROS);
        CommandReply replied = semel.change(new StoreCommand.IdempotentCommand<T>(command, edit, outcome -> {
            ObjectNode body = view.apply(outcome);
            return body == null ? null : StrictJson.write(body);
        }));
        return switch (replied) {
            case CommandReply.Done done -> new ActionResult(StrictJson.parse(done.answer()), done.replayed());
            case CommandReply.Rejected _ -> null;
            case CommandReply.DifferentRequest _ -> throw conflict(key);
        };
    }

    /**
     * The audit entry of an action.
     *
     * @param target the name or id of the changed object, never a value
     * @param reason the reason that the user gave, or another distinguishing detail; may be empty
     */
    record AuditNote(String action, String target, String reason) {}

    /** Adds an audit entry to the change, written only if its outcome shows that something changed. */
    <T> StoreCommand<T> withAudit(HttpRequest request, AuditNote entry, StoreCommand<T> edit, Predicate<@Nullable T> done) {
        return new StoreCommand.AuditedCommand<>(edit, done, auditEntry(request.principal(), entry));
    }

    /** Writes the audit entry before the action begins, for actions of more than one change. */
    void recordAudit(HttpRequest request, AuditNote entry) {
        StoreCommand.WakeRuns nothing = new StoreCommand.WakeRuns(List.of());
        semel.change(new StoreCommand.AuditedCommand<>(nothing, _ -> true, auditEntry(request.principal(), entry)));
    }

    private StoreCommand.AuditEntry auditEntry(Principal who, AuditNote entry) {
        String reason = entry.reason().length() <= LONGEST_REASON
                ? entry.reason()
                : entry.reason().substring(0, LONGEST_REASON);
        StoreCommand.ChangeAuthor by = new StoreCommand.ChangeAuthor(semel.newId(), who.tokenId(), reason);
        return new StoreCommand.AuditEntry(who.workspace(), entry.action(), entry.target(), by);
    }

    private static SemelException conflict(IdempotencyKey key) {
        return new SemelException(
                        ErrorCode.IDEMPOTENCY_KEY_CONFLICT,
                        "Key \"" + key.text()
                                + "\" was used before with a different request of this kind. Nothing was changed.",
                        "Send the original request to get the original response, or use a new key.")
                .with("reason", "request")
                .with("idempotency_key", key.text())
                .with("spec", DRAFT);
    }
}
