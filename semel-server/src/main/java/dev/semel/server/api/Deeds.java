package dev.semel.server.api;

import dev.semel.Semel;
import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.json.Json;
import dev.semel.key.IdempotencyKey;
import dev.semel.server.http.Answer;
import dev.semel.server.http.Principal;
import dev.semel.server.http.Request;
import dev.semel.store.Edit;
import dev.semel.store.Edit.Replied;
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
final class Deeds {
    private static final long RETENTION_MICROS = Duration.ofHours(24).toNanos() / 1_000;
    private static final int LONGEST_REASON = 500;
    private static final String DRAFT =
            "https://datatracker.ietf.org/doc/html/draft-ietf-httpapi-idempotency-key-header-07#section-2.2";

    private final Semel semel;

    Deeds(Semel semel) {
        this.semel = semel;
    }

    /**
     * Identifies a requested change.
     *
     * @param operation the kind of change; the same key may be used for different operations
     * @param what the values that define the change; other values with the same key are a conflict
     */
    record Deed(String operation, List<String> what) {
        Deed(String operation, String... what) {
            this(operation, List.of(what));
        }

        byte[] digest() {
            try {
                MessageDigest sha = MessageDigest.getInstance("SHA-256");
                for (String word : what) {
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
    record Done(JsonNode body, boolean replayed) {
        Answer answer() {
            Answer plain = Views.ok(body);
            return replayed ? Deeds.replayed(plain) : plain;
        }
    }

    static Answer replayed(Answer plain) {
        return plain.with("X-Idempotent-Replayed", "true").with("Idempotent-Replayed", "true");
    }

    /**
     * Executes the change, or returns the response of the first execution. Null: the store rejected the change and
     * nothing was saved.
     *
     * @param view builds the response body, which is stored and so must not contain a secret; null if the change was
     *     rejected
     */
    <T> @Nullable Done once(
            Request request, Deed action, Edit<T> edit, Function<@Nullable T, @Nullable ObjectNode> view) {
        IdempotencyKey key = IdempotencyKey.fromHeader(request.headerLines("Idempotency-Key"));
        if (key == null) {
            ObjectNode body = view.apply(semel.maybeChange(edit));
            return body == null ? null : new Done(body, false);
        }
        Edit.Asked command = new Edit.Asked(
                semel.newId(),
                request.principal().workspace(),
                action.operation(),
                key.text(),
                action.digest(),
                RETENTION_MICROS);
        Replied replied = semel.change(new Edit.Once<T>(command, edit, outcome -> {
            ObjectNode body = view.apply(outcome);
            return body == null ? null : Json.write(body);
        }));
        return switch (replied) {
            case Replied.Done done -> new Done(Json.parse(done.answer()), done.replayed());
            case Replied.Refused _ -> null;
            case Replied.OtherRequest _ -> throw conflict(key);
        };
    }

    /**
     * The audit entry of an action.
     *
     * @param target the name or id of the changed object, never a value
     * @param reason the reason that the user gave, or another distinguishing detail; may be empty
     */
    record Entry(String action, String target, String reason) {}

    /** Adds an audit entry to the change, written only if its outcome shows that something changed. */
    <T> Edit<T> noting(Request request, Entry entry, Edit<T> edit, Predicate<@Nullable T> done) {
        return new Edit.Noted<>(edit, done, auditEntry(request.principal(), entry));
    }

    /** Writes the audit entry before the action begins, for actions of more than one change. */
    void note(Request request, Entry entry) {
        Edit.Wake nothing = new Edit.Wake(List.of());
        semel.change(new Edit.Noted<>(nothing, _ -> true, auditEntry(request.principal(), entry)));
    }

    private Edit.Note auditEntry(Principal who, Entry entry) {
        String reason = entry.reason().length() <= LONGEST_REASON
                ? entry.reason()
                : entry.reason().substring(0, LONGEST_REASON);
        Edit.By by = new Edit.By(semel.newId(), who.tokenId(), reason);
        return new Edit.Note(who.workspace(), entry.action(), entry.target(), by);
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
