package dev.semel.effect;

import dev.semel.run.RunId;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * One row for each effect key of a workspace. It is the intent before a send, the result after it, and what other runs
 * find inside a window. These functions decide; a store locks the row, asks, and writes what they answer.
 *
 * <p>What is reserved or unknown never expires: whether it happened is not known, so nobody may send it as new.
 */
public final class Ledger {
    private Ledger() {}

    /** The name of a row; the digest is of the effect key, which may be 64 kB long. */
    public record Id(int workspace, String digest) implements Comparable<Id> {
        /** The row of a key that counts across runs. */
        public static Id once(int workspace, String key) {
            return new Id(workspace, Ledger.digest("once", key));
        }

        /** The row of a step of a lineage. */
        public static Id step(int workspace, String stepId) {
            return new Id(workspace, Ledger.digest("step", stepId));
        }

        @Override
        public int compareTo(Id other) {
            int byWorkspace = Integer.compare(workspace, other.workspace);
            return byWorkspace != 0 ? byWorkspace : digest.compareTo(other.digest);
        }
    }

    /** Texts of different kinds never have the same one. */
    public static String digest(String kind, String text) {
        try {
            MessageDigest sha = MessageDigest.getInstance("SHA-256");
            sha.update(kind.getBytes(StandardCharsets.UTF_8));
            sha.update((byte) '\n');
            return HexFormat.of().formatHex(sha.digest(text.getBytes(StandardCharsets.UTF_8)));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every JDK has SHA-256", e);
        }
    }

    public enum State {
        /** An intent is on record: it may be on its way. */
        RESERVED(1),
        DONE(2),
        /** It was sent, and how it ended is not known. */
        UNKNOWN(3),
        /** Not sent for certain, or refused: whoever comes next may send it. */
        FREE(4);

        private final int code;

        State(int code) {
            this.code = code;
        }

        public int code() {
            return code;
        }

        public static State of(int code) {
            for (State state : values()) {
                if (state.code == code) {
                    return state;
                }
            }
            throw new IllegalArgumentException("no state of an effect has the code " + code);
        }
    }

    /**
     * Who holds a row: a step of a lineage, driven by one execution of a run.
     *
     * @param step the step id, the same for every run of a lineage
     * @param turn counts the reservations of one execution, so that one applied twice is known as the same
     */
    public record Holder(String step, RunId run, int claim, int turn) {
        /** Of two holders of one step and run. */
        boolean isBefore(Holder other) {
            return claim != other.claim ? claim < other.claim : turn < other.turn;
        }
    }

    /** What is shown of an effect. Only its key decides, and that only whether it is still the one that was sent. */
    public record Facts(
            String key,
            String path,
            String workflowId,
            String protection,
            String does,
            @Nullable String object,
            @Nullable String worth) {}

    /**
     * @param attempt how often it was sent or tried, over all executions
     * @param firstAt when the first attempt of this generation was on record; a provider's window counts from here
     * @param acceptedAt when it was done
     * @param window microseconds in which other runs' effects with this key are suppressed; 0 for none
     * @param expiresAt end of that window, once it is done; while nobody knows how it ended, until when it may be sent
     *     again with the same key (0: never, or always)
     * @param data digest of what was sent; of a {@link Note} that it is one, and of a suppressed deed whose deed stood for it
     */
    public record Row(
            Id id,
            Holder holder,
            State state,
            int generation,
            int attempt,
            long firstAt,
            long acceptedAt,
            long window,
            long expiresAt,
            @Nullable String data,
            @Nullable String result,
            Facts facts) {
        /** Whose deed stood for it and when that was accepted, where it was suppressed; else null. */
        public @Nullable String stoodFor() {
            return data != null && data.startsWith(SUPPRESSED) ? data.substring(SUPPRESSED.length()) : null;
        }

        /** It only says what a step did under a key across runs; the deed has a row of its own. */
        public boolean isNote() {
            return NOTED.equals(data);
        }
    }

    public sealed interface Op {
        Id id();
    }

    /**
     * Wants to send.
     *
     * @param resendFor microseconds after the first send in which an unknown one may be sent again with the same key;
     *     0 for never
     * @param window microseconds; 0 where only the own lineage counts
     * @param asks who finds it unknown asks the provider, and settles what another run of the lineage left
     * @param afresh what another run of the lineage did is done again on purpose, as a deed of its own
     */
    public record Reserve(
            Id id,
            Holder holder,
            long resendFor,
            long window,
            OnChange onChange,
            @Nullable String data,
            Facts facts,
            boolean asks,
            boolean afresh)
            implements Op {
        /** One that nobody can be asked about. */
        public Reserve(
                Id id,
                Holder holder,
                long resendFor,
                long window,
                OnChange onChange,
                @Nullable String data,
                Facts facts) {
            this(id, holder, resendFor, window, onChange, data, facts, false, false);
        }
    }

    /** What to do inside the window when the data differ from what was last accepted. */
    public enum OnChange {
        SEND,
        SUPPRESS,
        REVIEW
    }

    /** How the holder's send ended. */
    public record Settle(
            Id id, Holder holder, State to, @Nullable String result) implements Op {}

    /**
     * Remembers under the step's own id what was done or found under a key across runs: a safe replay looks here.
     *
     * @param instead what stood for it, where it was suppressed; null where the step did it itself
     */
    public record Note(
            Id id,
            Holder holder,
            String result,
            Facts facts,
            @Nullable Instead instead) implements Op {
        /** Of a deed of the step's own. */
        public Note(Id id, Holder holder, String result, Facts facts) {
            this(id, holder, result, facts, null);
        }
    }

    /**
     * What stood for a deed that was suppressed.
     *
     * @param digest of its row
     * @param first the run whose deed it was, and when that was accepted
     */
    public record Instead(String digest, String first) {}

    // Indexes and statements of the stores know these two texts.
    private static final String SUPPRESSED = "suppressed ";
    private static final String NOTED = "noted";

    public sealed interface Verdict {
        /**
         * Send it, with the key of this generation.
         *
         * @param unsure an earlier send of this generation may have happened: a refusal of this one says nothing of it
         */
        record Granted(int generation, int attempt, long firstAt, boolean unsure) implements Verdict {
            /** A send that nobody could have made before. */
            public Granted(int generation, int attempt, long firstAt) {
                this(generation, attempt, firstAt, false);
            }
        }

        /** This very step was done before, by this run or by one it replays. */
        record Reused(String result) implements Verdict {}

        /** Another run's effect with this key was accepted inside the window, and when. */
        record Suppressed(String result, RunId by, long acceptedAt) implements Verdict {}

        /**
         * This step was sent before, its outcome is unknown, and it may not simply be sent again.
         *
         * @param renamed it went out under another key than it has now: neither the provider's memory nor a look for the
         *     new key says anything of it
         */
        record Unsettled(int generation, int attempt, long firstAt, boolean renamed) implements Verdict {
            /** One whose key is what it was. */
            public Unsettled(int generation, int attempt, long firstAt) {
                this(generation, attempt, firstAt, false);
            }
        }

        /** Another run has reserved it or is in doubt about it. */
        record Taken(RunId by, boolean inDoubt) implements Verdict {}

        /** The data differ from what was accepted inside the window, and a person is to look. */
        record Changed(RunId by) implements Verdict {}

        /** The op was no question. */
        record Noted() implements Verdict {}
    }

    /** What a store answers and what it writes; null: the row stays as it is. */
    public record Change(Verdict verdict, @Nullable Row row) {}

    public static Change apply(@Nullable Row row, Op op, long now) {
        return switch (op) {
            case Reserve reserve -> reserve(row, reserve, now);
            case Settle settle -> new Change(new Verdict.Noted(), settle(row, settle, now));
            case Note note -> new Change(new Verdict.Noted(), row == null ? noted(note, now) : null);
        };
    }

    private static Change reserve(@Nullable Row row, Reserve ask, long now) {
        if (row == null) {
            return grant(ask, new Verdict.Granted(1, 1, now, false));
        }
        return row.holder().step().equals(ask.holder().step()) ? again(row, ask, now) : others(row, ask, now);
    }

    /** The same step as before: a retry, a recovery, a safe replay, or this very write applied twice. */
    private static Change again(Row row, Reserve ask, long now) {
        return switch (row.state()) {
            case DONE ->
                ask.afresh() && !row.holder().run().equals(ask.holder().run())
                        ? grant(ask, new Verdict.Granted(row.generation() + 1, 1, now, false))
                        : new Change(new Verdict.Reused(Objects.requireNonNullElse(row.result(), "null")), null);
            case FREE -> freed(row, ask, now);
            case RESERVED, UNKNOWN -> {
                if (row.state() == State.RESERVED && row.holder().equals(ask.holder())) {
                    boolean unsure = row.attempt() > 1; // what was before is not known any more
                    yield new Change(new Verdict.Granted(row.generation(), row.attempt(), row.firstAt(), unsure), null);
                }
                yield now - row.firstAt() < ask.resendFor() && !isRenamed(row, ask)
                        ? Accepted.carry(
                                row,
                                grant(
                                        ask,
                                        new Verdict.Granted(row.generation(), row.attempt() + 1, row.firstAt(), true)))
                        : unsettled(row, ask);
            }
        };
    }

    /**
     * Nothing was done under this key so far: a provider's window begins with the next send. A message that was let through
     * and refused may be tried again; another one in its place is held against what was accepted, as any other would be.
     */
    private static Change freed(Row row, Reserve ask, long now) {
        Row accepted = Objects.equals(row.data(), ask.data()) ? null : Accepted.of(row);
        return accepted == null || ask.onChange() == OnChange.SEND
                ? Accepted.carry(row, grant(ask, new Verdict.Granted(row.generation(), row.attempt() + 1, now, false)))
                : others(accepted, ask, now);
    }

    /**
     * What another run of the lineage has on its way is for that run to settle: it has not ended, since an end leaves
     * nothing reserved. What it left unknown goes over to whoever asks the provider, whose answer would not count
     * otherwise.
     */
    private static Change unsettled(Row row, Reserve ask) {
        boolean own = row.holder().run().equals(ask.holder().run());
        if (!own && row.state() == State.RESERVED) {
            return new Change(new Verdict.Taken(row.holder().run(), false), null);
        }
        boolean renamed = isRenamed(row, ask);
        Verdict verdict = new Verdict.Unsettled(row.generation(), row.attempt(), row.firstAt(), renamed);
        return new Change(verdict, !own && ask.asks() && !renamed ? heldBy(row, ask.holder()) : null);
    }

    /** A key that is made of results which were made anew may be another one. What may always be sent again has no need of it. */
    private static boolean isRenamed(Row row, Reserve ask) {
        return ask.resendFor() != Long.MAX_VALUE
                && !row.facts().key().equals(ask.facts().key());
    }

    private static Row heldBy(Row row, Holder holder) {
        return new Row(
                row.id(),
                holder,
                row.state(),
                row.generation(),
                row.attempt(),
                row.firstAt(),
                row.acceptedAt(),
                row.window(),
                row.expiresAt(),
                row.data(),
                row.result(),
                row.facts());
    }

    private static Change others(Row row, Reserve ask, long now) {
        return switch (row.state()) {
            case RESERVED -> new Change(new Verdict.Taken(row.holder().run(), false), null);
            case UNKNOWN -> new Change(new Verdict.Taken(row.holder().run(), true), null);
            case FREE -> {
                Row accepted = Accepted.of(row);
                // A changed message was refused: what was accepted before it still counts.
                yield accepted == null
                        ? grant(ask, new Verdict.Granted(row.generation(), 1, now, false))
                        : others(accepted, ask, now);
            }
            case DONE -> {
                if (now >= row.expiresAt()) {
                    yield grant(ask, new Verdict.Granted(row.generation() + 1, 1, now, false));
                }
                boolean changed = !Objects.equals(row.data(), ask.data());
                if (changed && ask.onChange() == OnChange.SEND) {
                    Change grant = grant(ask, new Verdict.Granted(row.generation() + 1, 1, now, false));
                    yield new Change(grant.verdict(), Accepted.keep(row, Objects.requireNonNull(grant.row())));
                }
                if (changed && ask.onChange() == OnChange.REVIEW) {
                    yield new Change(new Verdict.Changed(row.holder().run()), null);
                }
                yield new Change(
                        new Verdict.Suppressed(
                                Objects.requireNonNullElse(row.result(), "null"),
                                row.holder().run(),
                                row.acceptedAt()),
                        null);
            }
        };
    }

    private static Change grant(Reserve ask, Verdict.Granted granted) {
        Row row = new Row(
                ask.id(),
                ask.holder(),
                State.RESERVED,
                granted.generation(),
                granted.attempt(),
                granted.firstAt(),
                0,
                ask.window(),
                ask.resendFor() == 0 || ask.resendFor() == Long.MAX_VALUE ? 0 : granted.firstAt() + ask.resendFor(),
                ask.data(),
                null,
                ask.facts());
        return new Change(granted, row);
    }

    /**
     * Only the holder settles, what is done stays done, and what was not sent for certain is never in doubt. What an
     * execution settles of an earlier turn, or of an earlier execution, is over once the row was reserved again: so a
     * write that settles and reserves may be applied twice.
     */
    private static @Nullable Row settle(@Nullable Row row, Settle settle, long now) {
        if (row == null
                || row.state() == State.DONE
                || (row.state() == State.FREE && settle.to() == State.UNKNOWN)
                || !row.holder().step().equals(settle.holder().step())
                || !row.holder().run().equals(settle.holder().run())
                || settle.holder().isBefore(row.holder())) {
            return null;
        }
        boolean done = settle.to() == State.DONE;
        boolean unknown = settle.to() == State.UNKNOWN;
        return new Row(
                row.id(),
                settle.holder(),
                settle.to(),
                row.generation(),
                row.attempt(),
                row.firstAt(),
                done ? now : 0,
                row.window(),
                done ? (row.window() > 0 ? now + row.window() : 0) : unknown ? row.expiresAt() : 0,
                row.data(),
                done ? settle.result() : row.result(),
                row.facts());
    }

    private static Row noted(Note note, long now) {
        String data =
                note.instead() == null ? NOTED : SUPPRESSED + note.instead().first();
        return new Row(note.id(), note.holder(), State.DONE, 1, 1, now, now, 0, 0, data, note.result(), note.facts());
    }
}
