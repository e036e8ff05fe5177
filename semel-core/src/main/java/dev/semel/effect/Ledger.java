package dev.semel.effect;

import dev.semel.run.RunId;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The pure rules of the effect ledger, which has one row per effect key of a workspace. A row is the intent before a
 * send, the result after it, and what other runs find inside a window. The store locks the row, calls these functions,
 * and writes what they return.
 *
 * <p>A reserved or unknown effect never expires: it may have happened, so it must not be sent as new.
 */
public final class Ledger {
    private Ledger() {}

    /** Identifies a ledger row by the digest of its effect key, which may be 64 kB long. */
    public record Id(int workspace, String digest) implements Comparable<Id> {
        /** The row of a `once` key, which applies across runs. */
        public static Id once(int workspace, String key) {
            return new Id(workspace, Ledger.digest("once", key));
        }

        /** The row of a step in a lineage. */
        public static Id step(int workspace, String stepId) {
            return new Id(workspace, Ledger.digest("step", stepId));
        }

        @Override
        public int compareTo(Id other) {
            int byWorkspace = Integer.compare(workspace, other.workspace);
            return byWorkspace != 0 ? byWorkspace : digest.compareTo(other.digest);
        }
    }

    /** A digest; texts of different kinds never share one. */
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

    /** The state of an effect in the ledger. The codes are stored. */
    public enum State {
        /** The intent is recorded: it may have been sent. */
        RESERVED(1),
        DONE(2),
        /** It was sent and the outcome is unknown. */
        UNKNOWN(3),
        /** Certainly not sent, or rejected: the next attempt may send it. */
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
     * The step and execution that hold a ledger row.
     *
     * @param step the step id, equal for all runs of a lineage
     * @param turn counts the reservations of one execution, so that a repeated write is recognised
     */
    public record Holder(String step, RunId run, int claim, int turn) {
        /** For two holders with the same step and run. */
        boolean isBefore(Holder other) {
            return claim != other.claim ? claim < other.claim : turn < other.turn;
        }
    }

    /** Descriptive data of an effect. Only the key influences decisions: whether it is the key that was sent. */
    public record Facts(
            String key,
            String path,
            String workflowId,
            String protection,
            String does,
            @Nullable String object,
            @Nullable String worth) {}

    /**
     * The ledger row of one effect: state, holder, attempts and result.
     *
     * @param attempt number of attempts over all executions
     * @param firstAt when the first attempt of this generation was recorded; the provider window counts from here
     * @param acceptedAt when it was accepted
     * @param window microseconds in which other runs' effects with this key are suppressed; 0 for none
     * @param expiresAt end of that window once it is done; while the outcome is unknown, until when it may be sent
     *     again with the same key (0: never, or always)
     * @param data digest of the sent data; for a {@link Note} a marker; for a suppressed effect the effect that
     *     suppressed it
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
        /** For a suppressed effect: the run whose effect was accepted, and when; otherwise null. */
        public @Nullable String stoodFor() {
            return data != null && data.startsWith(SUPPRESSED) ? data.substring(SUPPRESSED.length()) : null;
        }

        /** Whether it only records what a step did under a `once` key; the effect itself has another row. */
        public boolean isNote() {
            return NOTED.equals(data);
        }
    }

    /** An operation on one ledger row. */
    public sealed interface Op {
        Id id();
    }

    /**
     * Requests permission to send an effect.
     *
     * @param resendFor microseconds after the first send in which an unknown effect may be sent again with the same
     *     key; 0 for never
     * @param window microseconds; 0 to consider only the own lineage
     * @param asks whether the caller can query the provider, and may then settle what another run of the lineage left
     *     unknown
     * @param afresh sends again on purpose what another run of the lineage did, as a separate effect
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
        /** An effect without lookup. */
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

    /** What happens inside the window if the data differ from the last accepted data. */
    public enum OnChange {
        SEND,
        SUPPRESS,
        REVIEW
    }

    /** Records the outcome of the holder's send. */
    public record Settle(
            Id id, Holder holder, State to, @Nullable String result) implements Op {}

    /**
     * Records under the step's own id what was done or found under a `once` key; safe replays read it.
     *
     * @param instead the effect that suppressed it; null if the step did it itself
     */
    public record Note(
            Id id,
            Holder holder,
            String result,
            Facts facts,
            @Nullable Instead instead) implements Op {
        /** For an effect that the step did itself. */
        public Note(Id id, Holder holder, String result, Facts facts) {
            this(id, holder, result, facts, null);
        }
    }

    /**
     * The effect that suppressed another one.
     *
     * @param digest of its row
     * @param first its run, and when it was accepted
     */
    public record Instead(String digest, String first) {}

    // Indexes and statements of the stores contain these two texts.
    private static final String SUPPRESSED = "suppressed ";
    private static final String NOTED = "noted";

    /** The ledger's decision on an operation. */
    public sealed interface Verdict {
        /**
         * Permission to send, with the key of this generation.
         *
         * @param unsure an earlier send of this generation may have happened; a rejection of this one does not settle
         *     it
         */
        record Granted(int generation, int attempt, long firstAt, boolean unsure) implements Verdict {
            /** A first send. */
            public Granted(int generation, int attempt, long firstAt) {
                this(generation, attempt, firstAt, false);
            }
        }

        /** The same step was done before, by this run or by one that it replays. */
        record Reused(String result) implements Verdict {}

        /** Another run's effect with this key was accepted inside the window, at this time. */
        record Suppressed(String result, RunId by, long acceptedAt) implements Verdict {}

        /**
         * This step was sent before, its outcome is unknown, and it must not simply be sent again.
         *
         * @param renamed it was sent with another key than it has now, so neither a re-send nor a lookup with the new
         *     key settles it
         */
        record Unsettled(int generation, int attempt, long firstAt, boolean renamed) implements Verdict {
            /** An effect with an unchanged key. */
            public Unsettled(int generation, int attempt, long firstAt) {
                this(generation, attempt, firstAt, false);
            }
        }

        /** Another run has reserved it or has it in doubt. */
        record Taken(RunId by, boolean inDoubt) implements Verdict {}

        /** The data differ from those accepted inside the window, and a user must decide. */
        record Changed(RunId by) implements Verdict {}

        /** The operation was recorded and needs no decision. */
        record Noted() implements Verdict {}
    }

    /** The decision, and the row to write; null keeps the row unchanged. */
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

    /** The same step as before: a retry, a recovery, a safe replay, or the same write applied twice. */
    private static Change again(Row row, Reserve ask, long now) {
        return switch (row.state()) {
            case DONE ->
                ask.afresh() && !row.holder().run().equals(ask.holder().run())
                        ? grant(ask, new Verdict.Granted(row.generation() + 1, 1, now, false))
                        : new Change(new Verdict.Reused(Objects.requireNonNullElse(row.result(), "null")), null);
            case FREE -> freed(row, ask, now);
            case RESERVED, UNKNOWN -> {
                if (row.state() == State.RESERVED && row.holder().equals(ask.holder())) {
                    boolean unsure = row.attempt() > 1; // the history before is unknown
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
     * Nothing was done with this key so far: the provider window starts with the next send. A rejected message may be
     * tried again. Another message in its place is compared with the accepted one.
     */
    private static Change freed(Row row, Reserve ask, long now) {
        Row accepted = Objects.equals(row.data(), ask.data()) ? null : Accepted.of(row);
        return accepted == null || ask.onChange() == OnChange.SEND
                ? Accepted.carry(row, grant(ask, new Verdict.Granted(row.generation(), row.attempt() + 1, now, false)))
                : others(accepted, ask, now);
    }

    /**
     * A reserved effect of another run of the lineage is settled by that run, which has not ended: an ended run has no
     * reservations. An unknown effect is transferred to a caller with a lookup, because only a holder may settle it.
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

    /**
     * A key that depends on step results may differ after a new run. A repeatable effect does not need an equal key.
     */
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
                // The changed message was rejected, so the accepted one before it still counts.
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
     * Only the holder settles, a done effect stays done, and a certainly unsent one is never in doubt. A settlement
     * from an earlier turn or execution is ignored once the row was reserved again, so a write that settles and
     * reserves may be applied twice.
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
