package dev.semel.store;

import dev.semel.run.RunId;
import java.time.Duration;
import java.util.List;
import java.util.Locale;

/**
 * An operation on keyed signals: signals that reach every run waiting for a key, without knowing the run. A signal goes
 * to all runs that wait at that moment and ends their waits. If none waits, the store keeps it for the first run that
 * does. Each operation is one transaction.
 */
public sealed interface Letter<T> {
    /** How long a signal and its id are kept. */
    Duration KEPT = Duration.ofDays(7);

    /** At most this many waits get one signal, longest waiting first. */
    int MOST_LISTENERS = 1_000;

    int LONGEST_KEY = 255;

    /** The name of the signal that carries message replies. */
    String REPLY = "reply";

    /** Whether the operation needs its own transaction; see {@link Edit#standsAlone}. */
    default boolean standsAlone() {
        return false;
    }

    /** Signal name and key that runs wait for and senders send to. */
    record Address(int workspace, String name, String key) {
        public Address {
            if (key.isEmpty() || key.length() > LONGEST_KEY || key.chars().anyMatch(Character::isISOControl)) {
                throw new IllegalArgumentException(
                        "a signal key has 1 to 255 characters and no control characters");
            }
        }

        /** The address for replies of a sender, in one spelling. */
        public static Address reply(int workspace, String from) {
            return new Address(workspace, REPLY, from.strip().toLowerCase(Locale.ROOT));
        }

        /** The row that senders and waits lock first, so that no signal is missed. */
        public String lock() {
            return "keyed_signal:" + workspace + ":" + name + ":" + key;
        }
    }

    /** One wait of a run, and the execution that waits. An outdated execution changes nothing. */
    record Ear(Write.Driver by, String path) {
        /** The name of the stored signal that carries the keyed signal to this wait. */
        public String signal() {
            return SIGNAL + path;
        }
    }

    /** Prefix of those signal names. Users cannot send signals with it. */
    String SIGNAL = "#keyed:";

    /** The key of those signals. Together with the name it allows one signal per wait. */
    String ONLY = "keyed";

    /**
     * Sends a keyed signal, once per id that its sender chose.
     *
     * @param letter the sender's id of the signal
     * @param by the id of this request: if the stored signal has it, the response was lost and this is no duplicate
     * @param digest of everything that defines the signal
     */
    record Post(Address to, String letter, RunId by, byte[] digest, String value) implements Letter<Posted> {
        @Override
        public boolean standsAlone() {
            return true; // it may wait for the same id with another key
        }
    }

    /** The result of sending a keyed signal. */
    sealed interface Posted {
        /**
         * The signal was sent, now or by an earlier request.
         *
         * @param runs the runs that received it; empty while it is kept
         * @param until when the store forgets it
         */
        record Sent(List<RunId> runs, long until, boolean repeated) implements Posted {}

        /** The id was used before for a different signal. Nothing was sent. */
        record OtherLetter() implements Posted {}
    }

    /**
     * Starts waiting for a keyed signal, or takes the oldest kept one.
     *
     * @param undoing waits even if the run is being cancelled, because a compensation waits
     * @param since ignores signals that were sent before this time
     */
    record Listen(Address to, Ear ear, boolean undoing, long since) implements Letter<Heard> {
        /** A wait that takes any kept signal. */
        public Listen(Address to, Ear ear, boolean undoing) {
            this(to, ear, undoing, 0);
        }
    }

    /** Stops waiting for a keyed signal and reports one that came before. */
    record Hush(Ear ear) implements Letter<Heard> {}

    /** The result of starting or stopping a wait for a keyed signal. */
    enum Heard {
        NOTHING,
        /** The signal for this wait is among the signals of the run. */
        LETTER,
        /** The run has ended, or another execution owns it. */
        GONE
    }

    /** Deletes up to {@code limit} expired signals and returns their number. */
    record Delete(int limit) implements Letter<Integer> {
        @Override
        public boolean standsAlone() {
            return true;
        }
    }

    /**
     * How long after its expiry a signal is deleted. Transactions that read the clock before the expiry are over by
     * then, so they never wait for the deletion.
     */
    Duration BEHIND = Duration.ofHours(1);
}
