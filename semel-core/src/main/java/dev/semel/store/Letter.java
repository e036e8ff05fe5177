package dev.semel.store;

import dev.semel.run.RunId;
import java.time.Duration;
import java.util.List;
import java.util.Locale;

/**
 * What is done about letters: signals for whoever waits under a key, sent by somebody who does not know the run. A wait
 * listens; a letter goes to all who listen at that moment, and ends their listening; where nobody does it is kept for
 * the first that comes. Each of these is one transaction.
 */
public sealed interface Letter<T> {
    /** How long a letter is kept for somebody, and its id known. */
    Duration KEPT = Duration.ofDays(7);

    /** At most so many waits get one letter; those that listen the longest. */
    int MOST_LISTENERS = 1_000;

    int LONGEST_KEY = 255;

    /** The name of the signal under which messages of people come. */
    String REPLY = "reply";

    /** Whether it has a transaction of its own; see {@link Edit#standsAlone}. */
    default boolean standsAlone() {
        return false;
    }

    /** The name of a signal, and the key under which it is waited for. */
    record Address(int workspace, String name, String key) {
        public Address {
            if (key.isEmpty() || key.length() > LONGEST_KEY || key.chars().anyMatch(Character::isISOControl)) {
                throw new IllegalArgumentException(
                        "the key of a signal has 1 to 255 characters and no control characters");
            }
        }

        /** Where messages of a sender go that may be replies, whichever way the sender is written. */
        public static Address reply(int workspace, String from) {
            return new Address(workspace, REPLY, from.strip().toLowerCase(Locale.ROOT));
        }

        /** The row that is locked by whoever sends or begins to listen here, so that they never miss each other. */
        public String lock() {
            return "letter:" + workspace + ":" + name + ":" + key;
        }
    }

    /** One wait of a run, and the execution that is in it. One that drives the run no more changes nothing. */
    record Ear(Write.Driver by, String path) {
        /** The name under which the letter lies among the signals of the run: one for each wait. */
        public String signal() {
            return SIGNAL + path;
        }
    }

    /** No signal of a user begins like this. */
    String SIGNAL = "#letter:";

    /** The key of that signal: with the name it makes a second letter for one wait impossible. */
    String ONLY = "letter";

    /**
     * Sends a letter, once for each id that the sender gave it.
     *
     * @param letter the sender's id for it
     * @param by of this very request: where it finds its own letter, the answer was lost and it is no repeat
     * @param digest of all that defines the letter
     */
    record Post(Address to, String letter, RunId by, byte[] digest, String value) implements Letter<Posted> {
        @Override
        public boolean standsAlone() {
            return true; // it may wait for the same id under another key
        }
    }

    sealed interface Posted {
        /**
         * @param runs who has it by now; none while it is kept
         * @param until when it is kept, or known, no longer
         */
        record Sent(List<RunId> runs, long until, boolean repeated) implements Posted {}

        /** The id came with another letter before. Nothing was sent. */
        record OtherLetter() implements Posted {}
    }

    /**
     * A wait begins to listen, or gets the oldest letter that is kept.
     *
     * @param undoing it listens although its run is asked to end, because it undoes what the run did
     * @param since letters that were sent before then are not for this wait
     */
    record Listen(Address to, Ear ear, boolean undoing, long since) implements Letter<Heard> {
        /** A wait that takes whatever is kept. */
        public Listen(Address to, Ear ear, boolean undoing) {
            this(to, ear, undoing, 0);
        }
    }

    /** A wait listens no more, because it is over for another reason. A letter that came before is told. */
    record Hush(Ear ear) implements Letter<Heard> {}

    enum Heard {
        NOTHING,
        /** A letter for this wait lies among the signals of the run. */
        LETTER,
        /** The run has ended or is driven by another execution. */
        GONE
    }

    /** Deletes up to {@code limit} letters that are known no longer; says how many. */
    record Delete(int limit) implements Letter<Integer> {
        @Override
        public boolean standsAlone() {
            return true;
        }
    }

    /**
     * A letter is deleted so long after its time. A transaction that read the clock before that time and still gives it
     * to somebody is over by then, so nobody waits for a row that the other deletes.
     */
    Duration BEHIND = Duration.ofHours(1);
}
