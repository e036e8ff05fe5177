package dev.semel.runtime;

import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.idempotency.CanonicalJsonWriter;
import dev.semel.json.JsonCodec;
import dev.semel.json.Sha256;
import dev.semel.json.StrictJsonCodec;
import dev.semel.run.RunId;
import dev.semel.store.DatabaseRows;
import dev.semel.store.KeyedSignalStoreWriteCommand;
import dev.semel.store.KeyedSignalStoreWriteCommand.SendResult;
import dev.semel.store.StoreWriteCommand;
import dev.semel.workflow.Key;
import dev.semel.workflow.Signal;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import tools.jackson.databind.JsonNode;

/**
 * Every run that waits for that name and key receives the signal. If none waits, it is stored for 7 days and the first
 * run that waits receives it. Example: {@code send(PAID.withKey(orderId), payment, Key.of(eventId))}.
 */
public final class KeyedSignalSender {
    private final SemelRuntime semel;

    private KeyedSignalSender(SemelRuntime semel) {
        this.semel = semel;
    }

    public static KeyedSignalSender of(SemelRuntime semel) {
        return new KeyedSignalSender(semel);
    }

    /**
     * @param runIds ids of the runs that received it so far; empty while it is only stored
     * @param storedUntil when Semel forgets the signal and its id, in microseconds of the store's clock
     * @param replayed whether the signal was sent before with this id
     */
    public record SignalDelivery(List<String> runIds, long storedUntil, boolean replayed) {}

    /** @param once the sender's id of the signal: runs receive signals with the same id once within 7 days */
    public <T> SignalDelivery send(Signal<T> signal, T value, Key once) {
        if (signal.key() == null) {
            throw new IllegalArgumentException("signal " + signal.name()
                    + " has no key. Nothing was sent. Add one with withKey(…), or send the signal to a run");
        }
        JsonNode written = JsonCodec.STANDARD.write(value, "the signal " + signal.name());
        KeyedSignalStoreWriteCommand.SignalAddress to = new KeyedSignalStoreWriteCommand.SignalAddress(
                semel.javaWorkflows().defaultWorkspace().id(), signal.name(), signal.key());
        return send(to, written, once.text());
    }

    public SignalDelivery send(KeyedSignalStoreWriteCommand.SignalAddress to, JsonNode value, String once) {
        return submit(to, value, once)
                .orElseThrow(() -> new SemelException(
                                ErrorCode.IDEMPOTENCY_KEY_CONFLICT,
                                "The id \"" + once + "\" was used before for a signal " + to.name()
                                        + " with another key or other data. Nothing was sent.",
                                "Send the original signal to see which runs received it, or use a new id.")
                        .with("reason", "request")
                        .with("idempotency_key", once));
    }

    /** Empty if the id was used before for another signal. */
    private Optional<SignalDelivery> submit(
            KeyedSignalStoreWriteCommand.SignalAddress to, JsonNode value, String once) {
        String text = StrictJsonCodec.write(value);
        var send = new KeyedSignalStoreWriteCommand.SendKeyedSignal(
                to, once, semel.newId(), digest(to.key(), value), text);
        SendResult result = semel.change(new StoreWriteCommand.KeyedSignalCommand<>(send));
        // Ends, because the waits that began before the signal get fewer. After a crash here the sender repeats the
        // signal, and the store continues.
        while (result instanceof SendResult.Sent sent && sent.more()) {
            result = semel.change(new StoreWriteCommand.KeyedSignalCommand<>(send));
        }
        return switch (result) {
            case SendResult.Sent(List<RunId> runs, long until, boolean repeated, boolean _) -> {
                long elsewhere = runs.stream()
                        .filter(run -> !semel.runExecutor().wake(run))
                        .count();
                if (elsewhere > 0) {
                    semel.lookForWork();
                }
                yield Optional.of(new SignalDelivery(shown(to.workspace(), runs), until, repeated));
            }
            case SendResult.DifferentSignal _ -> Optional.empty();
        };
    }

    /** Once per id. A different text with the same id is ignored, because the sender cannot choose another id. */
    public SignalDelivery sendReply(int workspace, String from, JsonNode value, String once) {
        KeyedSignalStoreWriteCommand.SignalAddress to =
                KeyedSignalStoreWriteCommand.SignalAddress.reply(workspace, from);
        return submit(to, value, once).orElseGet(() -> new SignalDelivery(List.of(), 0, true));
    }

    /** The ids that callers see. */
    private List<String> shown(int workspace, List<RunId> ids) {
        return Objects.requireNonNull(semel.view(reads -> ids.stream()
                .map(id -> {
                    DatabaseRows.RunRow run = reads.run(workspace, id);
                    return run == null ? id.text() : run.runIdText();
                })
                .toList()));
    }

    private static byte[] digest(String key, JsonNode value) {
        byte[] prefix = (key.length() + "\n" + key).getBytes(StandardCharsets.UTF_8);
        return Sha256.digest(prefix, CanonicalJsonWriter.bytes(value));
    }
}
