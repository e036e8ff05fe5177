package dev.semel.store;

import dev.semel.json.SizeLimits;
import dev.semel.json.StorableText;
import dev.semel.run.RunId;
import java.time.Duration;
import java.util.List;
import java.util.Locale;

/**
 * A signal goes to all runs that wait at that moment and ends their waits. If none waits, the store keeps it for the
 * first run that does. Each operation is one transaction.
 */
public sealed interface KeyedSignalStoreWriteCommand<T> {
    /** How long a signal and its id are kept. */
    Duration RETENTION = Duration.ofDays(7);

    /** At most this many waits get a signal in one transaction, longest waiting first. */
    int MAX_LISTENERS = 1_000;

    /** At most as many as fit into one batch of writes. */
    static int maxListeners(String value) {
        return Math.clamp(SizeLimits.DEFAULT.commitBatch() / Math.max(1, value.length()), 1, MAX_LISTENERS);
    }

    int MAX_KEY_LENGTH = 255;

    /** The name of the signal that carries message replies. */
    String REPLY = "reply";

    /** Whether the operation needs its own transaction; see {@link StoreWriteCommand#needsOwnTransaction}. */
    default boolean needsOwnTransaction() {
        return false;
    }

    /** Signal name and key that runs wait for and senders send to. */
    record SignalAddress(int workspace, String name, String key) {
        public SignalAddress {
            if (key.isEmpty()
                    || key.length() > MAX_KEY_LENGTH
                    || key.chars().anyMatch(Character::isISOControl)
                    || !StorableText.isStorable(key)) {
                throw new IllegalArgumentException("a signal key has 1 to 255 characters and no control characters");
            }
        }

        /** The address for replies of a sender, in one spelling. */
        public static SignalAddress reply(int workspace, String from) {
            return new SignalAddress(workspace, REPLY, from.strip().toLowerCase(Locale.ROOT));
        }

        /** The row that senders and waits lock first, so that no signal is missed. */
        public String lockName() {
            return "keyed_signal:" + workspace + ":" + name + ":" + key;
        }
    }

    /** One wait of a run, and the execution that waits. An outdated execution changes nothing. */
    record SignalWaiter(StoreWrite.RunExecution by, String path) {
        /** The name of the stored signal that carries the keyed signal to this wait. */
        public String signalName() {
            return SIGNAL_PREFIX + storedPath();
        }

        /** The path as the store has it: item keys make a path longer than an index can hold. */
        public String storedPath() {
            return StorableText.shortenForIndex(path);
        }
    }

    /** Prefix of those signal names. Users cannot send signals with it. */
    String SIGNAL_PREFIX = "#keyed:";

    /** The key of those signals. Together with the name it allows one signal per wait. */
    String SIGNAL_KEY = "keyed";

    /**
     * Sends once per {@code signalId}.
     *
     * @param signalId the sender's id of the signal
     * @param requestId the id of this request: if the stored signal has it, the response was lost and this is no
     *     duplicate
     * @param digest of everything that defines the signal
     */
    record SendKeyedSignal(SignalAddress to, String signalId, RunId requestId, byte[] digest, String value)
            implements KeyedSignalStoreWriteCommand<SendResult> {
        public SendKeyedSignal {
            signalId = StorableText.shortenForIndex(signalId);
        }

        @Override
        public boolean needsOwnTransaction() {
            return true; // it may wait for the same id with another key
        }
    }

    sealed interface SendResult {
        /**
         * @param runs the runs that received it so far; empty while it is kept
         * @param until when the store forgets it
         * @param more whether more runs wait for it than one transaction takes: sending it again continues
         */
        record Sent(List<RunId> runs, long until, boolean repeated, boolean more) implements SendResult {
            public Sent(List<RunId> runs, long until, boolean repeated) {
                this(runs, until, repeated, false);
            }
        }

        /** The id was used before for a different signal. Nothing was sent. */
        record DifferentSignal() implements SendResult {}
    }

    /**
     * Takes the oldest kept signal, if there is one.
     *
     * @param compensating waits even if the run is being cancelled, because a compensation waits
     * @param since ignores signals that were sent before this time
     */
    record StartListening(SignalAddress to, SignalWaiter waiter, boolean compensating, long since)
            implements KeyedSignalStoreWriteCommand<ListenResult> {}

    /** Stops waiting for a keyed signal and reports one that came before. */
    record StopListening(SignalWaiter waiter) implements KeyedSignalStoreWriteCommand<ListenResult> {}

    enum ListenResult {
        NOTHING,
        /** The signal for this wait is among the signals of the run. */
        SIGNAL,
        /** The run has ended, or another execution owns it. */
        GONE
    }

    /** Deletes up to {@code limit} expired signals and returns their number. */
    record DeleteExpiredSignals(int limit) implements KeyedSignalStoreWriteCommand<Integer> {
        @Override
        public boolean needsOwnTransaction() {
            return true;
        }
    }

    /** Transactions that read the clock before the expiry are over by then, so they never wait for the deletion. */
    Duration DELETE_DELAY = Duration.ofHours(1);
}
