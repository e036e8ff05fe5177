package dev.semel;

import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.json.Codec;
import dev.semel.json.Json;
import dev.semel.key.CanonicalJson;
import dev.semel.run.RunId;
import dev.semel.store.Edit;
import dev.semel.store.Letter;
import dev.semel.store.Letter.Posted;
import dev.semel.store.Rows;
import dev.semel.workflow.Key;
import dev.semel.workflow.Signal;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.List;
import java.util.Optional;
import tools.jackson.databind.JsonNode;

/**
 * Signals for whoever waits under a key: {@code Letters.of(semel).send(PAID.withKey(order), payment, Key.of(event))}.
 * All runs that wait with that name and key get it; where none does it is kept for seven days, for the first that comes.
 */
public final class Letters {
    private final Semel semel;

    private Letters(Semel semel) {
        this.semel = semel;
    }

    public static Letters of(Semel semel) {
        return new Letters(semel);
    }

    /**
     * What became of a letter.
     *
     * @param runs the ids of those who have it by now; none while it is kept
     * @param until when it is kept, or its id known, no longer: microseconds of the store's clock
     * @param replayed it was sent before under this id
     */
    public record Sent(List<String> runs, long until, boolean replayed) {}

    /** @param once the sender's id for it: with the same one it arrives once, within seven days */
    public <T> Sent send(Signal<T> signal, T value, Key once) {
        if (signal.key() == null) {
            throw new IllegalArgumentException("signal " + signal.name() + " has no key; send it as " + signal.name()
                    + ".withKey(…), or to a run");
        }
        JsonNode written = Codec.STANDARD.write(value, "the signal " + signal.name());
        Letter.Address to = new Letter.Address(semel.library().home().workspace(), signal.name(), signal.key());
        return send(to, written, once.text());
    }

    public Sent send(Letter.Address to, JsonNode value, String once) {
        return post(to, value, once)
                .orElseThrow(() -> new SemelException(
                                ErrorCode.IDEMPOTENCY_KEY_CONFLICT,
                                "The id \"" + once + "\" came with another signal " + to.name()
                                        + " before: its key or its data differ. Nothing was sent.",
                                "Send the original to learn who got it, or use a new id.")
                        .with("reason", "request")
                        .with("idempotency_key", once));
    }

    /** Empty: the id came with another letter before. */
    private Optional<Sent> post(Letter.Address to, JsonNode value, String once) {
        String text = Json.write(value);
        var post = new Letter.Post(to, once, semel.newId(), digest(to.key(), value), text);
        return switch (semel.change(new Edit.Mail<>(post))) {
            case Posted.Sent(List<RunId> runs, long until, boolean repeated) -> {
                long away = runs.stream().filter(run -> !semel.runs().wake(run)).count();
                if (away > 0) {
                    semel.lookForWork();
                }
                yield Optional.of(new Sent(
                        runs.stream().map(run -> shown(to.workspace(), run)).toList(), until, repeated));
            }
            case Posted.OtherLetter _ -> Optional.empty();
        };
    }

    /**
     * A message of somebody whom a run may have asked something. Under the same id it arrives once; another text under it
     * changes nothing, since nobody is there who could choose another id.
     */
    public Sent reply(int workspace, String from, JsonNode value, String once) {
        Letter.Address to = Letter.Address.reply(workspace, from);
        return post(to, value, once).orElseGet(() -> new Sent(List.of(), 0, true));
    }

    /** The id that callers see. */
    private String shown(int workspace, RunId id) {
        Rows.Run run = semel.view(reads -> reads.run(workspace, id));
        return run == null ? id.text() : run.runIdText();
    }

    private static byte[] digest(String key, JsonNode value) {
        try {
            MessageDigest sha = MessageDigest.getInstance("SHA-256");
            sha.update((key.length() + "\n" + key).getBytes(StandardCharsets.UTF_8));
            return sha.digest(CanonicalJson.bytes(value));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every JDK has SHA-256", e);
        }
    }
}
