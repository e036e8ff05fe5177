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
 * Changes that people ask for. With an `Idempotency-Key` the deed is done once: whoever asks again within a day gets the
 * same answer, which is kept in the transaction of the deed.
 */
final class Deeds {
    private static final long KEPT_MICROS = Duration.ofHours(24).toNanos() / 1_000;
    private static final int LONGEST_REASON = 500;
    private static final String DRAFT =
            "https://datatracker.ietf.org/doc/html/draft-ietf-httpapi-idempotency-key-header-07#section-2.2";

    private final Semel semel;

    Deeds(Semel semel) {
        this.semel = semel;
    }

    /**
     * What is asked for.
     *
     * @param operation its kind; keys of different kinds never meet
     * @param what all that defines it: with one key, other words are another request
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
                    // The length first, so that no two lists of words are the same bytes.
                    sha.update((bytes.length + "\n").getBytes(StandardCharsets.UTF_8));
                    sha.update(bytes);
                }
                return sha.digest();
            } catch (NoSuchAlgorithmException e) {
                throw new IllegalStateException("every JDK has SHA-256", e);
            }
        }
    }

    /** What is answered, now and to whoever asks again. */
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
     * Does it, or tells what was answered when it was done. Null: the change refused, and nothing is kept.
     *
     * @param view the body of the answer, which is kept as it is: no secret may be in it. Null where the change refused
     */
    <T> @Nullable Done once(
            Request request, Deed deed, Edit<T> edit, Function<@Nullable T, @Nullable ObjectNode> view) {
        IdempotencyKey key = IdempotencyKey.fromHeader(request.headerLines("Idempotency-Key"));
        if (key == null) {
            ObjectNode body = view.apply(semel.maybeChange(edit));
            return body == null ? null : new Done(body, false);
        }
        Edit.Asked asked = new Edit.Asked(
                semel.newId(),
                request.principal().workspace(),
                deed.operation(),
                key.text(),
                deed.digest(),
                KEPT_MICROS);
        Replied replied = semel.change(new Edit.Once<T>(asked, edit, outcome -> {
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
     * What the audit says of a deed.
     *
     * @param target what it was done to: a name or an id, never a value
     * @param reason in the words of whoever did it, or what else tells such deeds apart; may be empty
     */
    record Entry(String action, String target, String reason) {}

    /** The change with a row in the audit beside it, where its outcome says that something was done. */
    <T> Edit<T> noting(Request request, Entry entry, Edit<T> edit, Predicate<@Nullable T> done) {
        return new Edit.Noted<>(edit, done, note(request.principal(), entry));
    }

    /** Writes down what somebody asks for, before it is begun; for deeds that are more than one change. */
    void note(Request request, Entry entry) {
        Edit.Wake nothing = new Edit.Wake(List.of());
        semel.change(new Edit.Noted<>(nothing, _ -> true, note(request.principal(), entry)));
    }

    private Edit.Note note(Principal who, Entry entry) {
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
                                + "\" came with another request of this kind before. Nothing was changed.",
                        "Send the original request to get the original answer, or use a new key.")
                .with("reason", "request")
                .with("idempotency_key", key.text())
                .with("spec", DRAFT);
    }
}
