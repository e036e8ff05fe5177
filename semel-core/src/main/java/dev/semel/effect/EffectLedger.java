package dev.semel.effect;

import dev.semel.json.Sha256;
import dev.semel.run.RunId;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The pure rules of the effect ledger, which has one row per effect key of a workspace. A row is the intent before a
 * send, the result after it, and what other runs find inside a window. The store locks the row, calls these functions,
 * and writes what they return.
 *
 * <p>A reserved or unknown effect never expires: it may have happened, so it must not be sent as new.
 */
public final class EffectLedger {
    private EffectLedger() {}

    /** Identifies a ledger row by the digest of its effect key, which may be 64 kB long. */
    public record EffectId(int workspace, String digest) implements Comparable<EffectId> {
        /** The row of a `once` key, which applies across runs. */
        public static EffectId once(int workspace, String key) {
            return new EffectId(workspace, EffectLedger.digest("once", key));
        }

        /** The row of a step in a lineage. */
        public static EffectId step(int workspace, String stepId) {
            return new EffectId(workspace, EffectLedger.digest("step", stepId));
        }

        @Override
        public int compareTo(EffectId other) {
            int byWorkspace = Integer.compare(workspace, other.workspace);
            return byWorkspace != 0 ? byWorkspace : digest.compareTo(other.digest);
        }
    }

    /** A digest; texts of different kinds never share one. */
    public static String digest(String kind, String text) {
        return Sha256.hex(kind + "\n" + text);
    }

    /** The state of an effect in the ledger. The codes are stored. */
    public enum EffectState {
        /** The intent is recorded: it may have been sent. */
        RESERVED(1),
        DONE(2),
        /** It was sent and the outcome is unknown. */
        UNKNOWN(3),
        /** Certainly not sent, or rejected: the next attempt may send it. */
        FREE(4),
        /** An attempt may have happened, and its protection allows to send it again: the next attempt may do so. */
        UNCONFIRMED(5);

        private final int code;

        EffectState(int code) {
            this.code = code;
        }

        public int code() {
            return code;
        }

        public static EffectState of(int code) {
            for (EffectState state : values()) {
                if (state.code == code) {
                    return state;
                }
            }
            throw new IllegalArgumentException("no state of an effect has the code " + code);
        }
    }

    /**
     * @param step the step id, equal for all runs of a lineage
     * @param turn counts the reservations of one execution, so that a repeated write is recognised
     */
    public record EffectHolder(String step, RunId run, int claim, int turn) {
        /** For two holders with the same step and run. */
        boolean isBefore(EffectHolder other) {
            return claim != other.claim ? claim < other.claim : turn < other.turn;
        }
    }

    /** Descriptive data of an effect. Only the key influences decisions: whether it is the key that was sent. */
    public record EffectDetails(
            String key,
            String path,
            String workflowId,
            String protection,
            String does,
            @Nullable String object,
            @Nullable String worth) {}

    /**
     * The newest send of a row, or of the row that a note repeats.
     *
     * @param key the key as the provider received it; null if the provider received none
     * @param at when the intent was recorded; 0 for a note
     * @param content the sent data as JSON, for a review of changed data; null if a change needs no review
     */
    public record LastSend(
            @Nullable String key, long at, @Nullable String content) {
        public static final LastSend NONE = new LastSend(null, 0, null);
    }

    /** Derives the key on the wire from the generation, which the store decides; null for an effect without one. */
    @FunctionalInterface
    public interface SentKeyDerivation {
        SentKeyDerivation NONE = _ -> null;

        @Nullable
        String derive(int generation);
    }

    /**
     * @param generation see {@link EffectGeneration}
     * @param attempt number of attempts over all executions
     * @param firstAt when the first attempt of this generation was recorded; the provider window counts from here
     * @param acceptedAt when it was accepted
     * @param window microseconds in which other runs' effects with this key are suppressed; 0 for none
     * @param expiresAt end of that window once it is done, or of the window of the last accepted message once a
     *     changed one was rejected; while the outcome is unknown, until when it may be sent again with the same key (0:
     *     never, or always)
     * @param dataDigest digest of the sent data; for a {@link NoteStepResult} a marker; for a suppressed effect the
     *     effect that suppressed it
     * @param lastSend what the provider received last
     */
    public record EffectRow(
            EffectId id,
            EffectHolder holder,
            EffectState state,
            int generation,
            int attempt,
            long firstAt,
            long acceptedAt,
            long window,
            long expiresAt,
            @Nullable String dataDigest,
            @Nullable String result,
            EffectDetails details,
            LastSend lastSend) {
        /** For a suppressed effect: the run whose effect was accepted, and when; otherwise null. */
        public @Nullable String suppressedBy() {
            return dataDigest != null && dataDigest.startsWith(SUPPRESSED)
                    ? dataDigest.substring(SUPPRESSED.length())
                    : null;
        }

        /**
         * Until when it may be sent again with the same key although its outcome is unknown; 0 if the outcome is known,
         * if it never may, or if only a decision of a user settles it.
         */
        public long resendUntil() {
            return state == EffectState.UNKNOWN ? expiresAt : 0;
        }

        /** Whether its outcome is unknown and it is no longer safe to send it again: a user decides. */
        public boolean isInDoubtAt(long now) {
            return state == EffectState.UNKNOWN && expiresAt <= now;
        }

        /** Whether only a decision of a user settles it. */
        public boolean isInDoubt() {
            return state == EffectState.UNKNOWN && expiresAt == 0;
        }

        /** For the history, which keeps no payload. */
        private EffectRow withoutPayload() {
            return new EffectRow(
                    id,
                    holder,
                    state,
                    generation,
                    attempt,
                    firstAt,
                    acceptedAt,
                    window,
                    expiresAt,
                    null,
                    null,
                    details,
                    new LastSend(lastSend.key(), lastSend.at(), null));
        }

        /** Whether it only records what a step did under a `once` key; the effect itself has another row. */
        public boolean isStepNote() {
            return NOTED.equals(dataDigest);
        }
    }

    public sealed interface LedgerOperation {
        EffectId id();
    }

    /**
     * @param resendWindow microseconds after the first send in which an unknown effect may be sent again with the same
     *     key; 0 for never
     * @param window microseconds; 0 to consider only the own lineage
     * @param canLookUp whether the caller can query the provider, and may then settle what another run of the lineage
     *     left unknown
     * @param sendAnew sends again on purpose what another run of the lineage did, as a separate effect
     * @param content the data as JSON, see {@link LastSend}
     */
    public record ReserveSend(
            EffectId id,
            EffectHolder holder,
            long resendWindow,
            long window,
            ChangePolicy onChange,
            @Nullable String dataDigest,
            EffectDetails details,
            boolean canLookUp,
            boolean sendAnew,
            SentKeyDerivation sentKeys,
            @Nullable String content)
            implements LedgerOperation {}

    /** What happens inside the window if the data differ from the last accepted data. */
    public enum ChangePolicy {
        SEND,
        SUPPRESS,
        REVIEW
    }

    /** @param inDoubt with UNKNOWN: from now on only a decision of a user settles it, whatever the provider remembers */
    public record SettleSend(
            EffectId id,
            EffectHolder holder,
            EffectState to,
            @Nullable String result,
            boolean inDoubt) implements LedgerOperation {
        public SettleSend(EffectId id, EffectHolder holder, EffectState to, @Nullable String result) {
            this(id, holder, to, result, false);
        }
    }

    /**
     * Recorded under the step's own id for safe replays.
     *
     * @param suppressedBy null if the step did it itself
     * @param send what this step sent; null if it sent nothing
     */
    public record NoteStepResult(
            EffectId id,
            EffectHolder holder,
            String result,
            EffectDetails details,
            @Nullable SuppressingEffect suppressedBy,
            @Nullable NotedSend send)
            implements LedgerOperation {
        /** For an effect that the step did itself. */
        public NoteStepResult(
                EffectId id, EffectHolder holder, String result, EffectDetails facts, @Nullable NotedSend send) {
            this(id, holder, result, facts, null, send);
        }
    }

    /** The send that a note repeats, so that it is found after the row has moved on to another run. */
    public record NotedSend(@Nullable String key, int generation, int attempt) {}

    /**
     * @param digest of its row
     * @param origin its run, and when it was accepted
     */
    public record SuppressingEffect(String digest, String origin) {}

    // Indexes and statements of the stores contain these two texts.
    private static final String SUPPRESSED = "suppressed ";
    private static final String NOTED = "noted";

    private static final String PROVIDER_KEY = "provider_key";

    public sealed interface LedgerDecision {
        /** @param maybeSentBefore an earlier send of this generation may have happened; a rejection leaves it open */
        record SendGranted(int generation, int attempt, long firstAt, boolean maybeSentBefore)
                implements LedgerDecision {}

        /** The same step was done before, by this run or by one that it replays. */
        record Reused(String result) implements LedgerDecision {}

        /** Another run's effect with this key was accepted inside the window, at this time. */
        record Suppressed(String result, RunId by, long acceptedAt) implements LedgerDecision {}

        /** Never simply sent again. {@code keyChanged}: it was sent with another key; the new one settles nothing. */
        record OutcomeUnknown(int generation, int attempt, long firstAt, boolean keyChanged)
                implements LedgerDecision {}

        /** Another run has reserved it or has it in doubt. */
        record HeldByOtherRun(RunId by, boolean inDoubt) implements LedgerDecision {}

        /**
         * The data differ from those accepted inside the window, and a user must decide.
         *
         * @param content the accepted data; null if they are not stored
         */
        record DataChanged(
                RunId by, long acceptedAt, @Nullable String content) implements LedgerDecision {}

        record Recorded() implements LedgerDecision {}
    }

    /**
     * The decision, and the row to write; null keeps the row unchanged.
     *
     * @param past the row before, if it holds a send that no row shows from now on; the store adds it to the history
     */
    public record LedgerChange(
            LedgerDecision decision,
            @Nullable EffectRow row,
            @Nullable EffectRow past) {
        LedgerChange(LedgerDecision decision, @Nullable EffectRow row) {
            this(decision, row, null);
        }
    }

    public static LedgerChange apply(@Nullable EffectRow row, LedgerOperation op, long now) {
        LedgerChange change = decide(row, op, now);
        EffectRow next = change.row();
        return row == null || next == null || !isPast(row, next)
                ? change
                : new LedgerChange(change.decision(), next, row.withoutPayload());
    }

    /**
     * Whether the send of a row leaves the row. A reservation that another holder replaces or settles was cut off by a
     * crash. A done effect with a window stays visible, because its step has a note.
     */
    private static boolean isPast(EffectRow row, EffectRow next) {
        if (row.state() == EffectState.RESERVED && !row.holder().equals(next.holder())) {
            return true;
        }
        boolean moved = !row.holder().run().equals(next.holder().run()) || row.generation() != next.generation();
        return moved && !(row.state() == EffectState.DONE && row.window() > 0) && !row.isStepNote();
    }

    private static LedgerChange decide(@Nullable EffectRow row, LedgerOperation op, long now) {
        return switch (op) {
            case ReserveSend reserve -> reserve(row, reserve, now);
            case SettleSend settle -> new LedgerChange(new LedgerDecision.Recorded(), settle(row, settle, now));
            case NoteStepResult note ->
                new LedgerChange(new LedgerDecision.Recorded(), row == null ? noted(note, now) : null);
        };
    }

    private static LedgerChange reserve(@Nullable EffectRow row, ReserveSend ask, long now) {
        if (row == null) {
            return grant(ask, new LedgerDecision.SendGranted(firstGeneration(ask, now), 1, now, false), now);
        }
        return row.holder().step().equals(ask.holder().step()) ? again(row, ask, now) : others(row, ask, now);
    }

    private static int firstGeneration(ReserveSend ask, long now) {
        return ask.window() == 0 ? 1 : EffectGeneration.first(now);
    }

    private static int nextGeneration(EffectRow row, ReserveSend ask, long now) {
        return ask.window() == 0 ? row.generation() + 1 : EffectGeneration.next(row.generation(), now);
    }

    /** The same step as before: a retry, a recovery, a safe replay, or the same write applied twice. */
    private static LedgerChange again(EffectRow row, ReserveSend ask, long now) {
        return switch (row.state()) {
            case DONE ->
                ask.sendAnew() && !row.holder().run().equals(ask.holder().run())
                        ? grant(ask, new LedgerDecision.SendGranted(nextGeneration(row, ask, now), 1, now, false), now)
                        : new LedgerChange(
                                new LedgerDecision.Reused(Objects.requireNonNullElse(row.result(), "null")), null);
            case FREE, UNCONFIRMED -> freed(row, ask, now);
            case RESERVED, UNKNOWN -> {
                if (row.state() == EffectState.RESERVED && row.holder().equals(ask.holder())) {
                    boolean unsure = row.attempt() > 1; // the history before is unknown
                    yield new LedgerChange(
                            new LedgerDecision.SendGranted(row.generation(), row.attempt(), row.firstAt(), unsure),
                            null);
                }
                boolean decidable =
                        row.isInDoubt() && row.details().protection().equals(PROVIDER_KEY);
                yield now - row.firstAt() < ask.resendWindow() && !isRenamed(row, ask) && !decidable
                        ? LastAcceptedEffectLedgerBackup.carryOver(
                                row,
                                grant(
                                        ask,
                                        new LedgerDecision.SendGranted(
                                                row.generation(), row.attempt() + 1, row.firstAt(), true),
                                        now))
                        : unsettled(row, ask);
            }
        };
    }

    /**
     * Nothing blocks the next send, and the provider window starts with it. A rejected message may be
     * tried again. Another message in its place is compared with the accepted one.
     */
    private static LedgerChange freed(EffectRow row, ReserveSend ask, long now) {
        EffectRow accepted =
                Objects.equals(row.dataDigest(), ask.dataDigest()) ? null : LastAcceptedEffectLedgerBackup.restore(row);
        return accepted == null || ask.onChange() == ChangePolicy.SEND
                ? LastAcceptedEffectLedgerBackup.carryOver(
                        row,
                        grant(
                                ask,
                                new LedgerDecision.SendGranted(
                                        row.generation(),
                                        row.attempt() + 1,
                                        now,
                                        row.state() == EffectState.UNCONFIRMED),
                                now))
                : others(accepted, ask, now);
    }

    /**
     * A reserved effect of another run of the lineage is settled by that run, which has not ended: an ended run has no
     * reservations. An unknown effect is transferred to a caller with a lookup, because only a holder may settle it.
     */
    private static LedgerChange unsettled(EffectRow row, ReserveSend ask) {
        boolean own = row.holder().run().equals(ask.holder().run());
        if (!own && row.state() == EffectState.RESERVED) {
            return new LedgerChange(
                    new LedgerDecision.HeldByOtherRun(row.holder().run(), false), null);
        }
        boolean renamed = isRenamed(row, ask);
        LedgerDecision decision =
                new LedgerDecision.OutcomeUnknown(row.generation(), row.attempt(), row.firstAt(), renamed);
        return new LedgerChange(decision, !own && ask.canLookUp() && !renamed ? heldBy(row, ask.holder()) : null);
    }

    /** A key that depends on step results may differ in a new run. Repeatable effects need no equal key. */
    private static boolean isRenamed(EffectRow row, ReserveSend ask) {
        return ask.resendWindow() != Long.MAX_VALUE
                && !row.details().key().equals(ask.details().key());
    }

    private static EffectRow heldBy(EffectRow row, EffectHolder holder) {
        return new EffectRow(
                row.id(),
                holder,
                row.state(),
                row.generation(),
                row.attempt(),
                row.firstAt(),
                row.acceptedAt(),
                row.window(),
                row.expiresAt(),
                row.dataDigest(),
                row.result(),
                row.details(),
                row.lastSend());
    }

    private static LedgerChange others(EffectRow row, ReserveSend ask, long now) {
        return switch (row.state()) {
            case RESERVED ->
                new LedgerChange(new LedgerDecision.HeldByOtherRun(row.holder().run(), false), null);
            case UNKNOWN ->
                new LedgerChange(new LedgerDecision.HeldByOtherRun(row.holder().run(), true), null);
            case FREE, UNCONFIRMED -> {
                EffectRow accepted = LastAcceptedEffectLedgerBackup.restore(row);
                // The changed message was rejected, so the accepted one before it still counts.
                yield accepted == null
                        ? grant(ask, new LedgerDecision.SendGranted(row.generation(), 1, now, false), now)
                        : others(accepted, ask, now);
            }
            case DONE -> {
                if (now >= row.expiresAt()) {
                    yield grant(ask, new LedgerDecision.SendGranted(nextGeneration(row, ask, now), 1, now, false), now);
                }
                boolean changed = !Objects.equals(row.dataDigest(), ask.dataDigest());
                if (changed && ask.onChange() == ChangePolicy.SEND) {
                    LedgerChange ledgerChange = grant(
                            ask, new LedgerDecision.SendGranted(nextGeneration(row, ask, now), 1, now, false), now);
                    yield new LedgerChange(
                            ledgerChange.decision(),
                            LastAcceptedEffectLedgerBackup.remember(row, Objects.requireNonNull(ledgerChange.row())));
                }
                if (changed && ask.onChange() == ChangePolicy.REVIEW) {
                    yield new LedgerChange(
                            new LedgerDecision.DataChanged(
                                    row.holder().run(),
                                    row.acceptedAt(),
                                    row.lastSend().content()),
                            null);
                }
                yield new LedgerChange(
                        new LedgerDecision.Suppressed(
                                Objects.requireNonNullElse(row.result(), "null"),
                                row.holder().run(),
                                row.acceptedAt()),
                        null);
            }
        };
    }

    private static LedgerChange grant(ReserveSend ask, LedgerDecision.SendGranted granted, long now) {
        EffectRow row = new EffectRow(
                ask.id(),
                ask.holder(),
                EffectState.RESERVED,
                granted.generation(),
                granted.attempt(),
                granted.firstAt(),
                0,
                ask.window(),
                ask.resendWindow() == 0 || ask.resendWindow() == Long.MAX_VALUE
                        ? 0
                        : granted.firstAt() + ask.resendWindow(),
                ask.dataDigest(),
                null,
                ask.details(),
                new LastSend(ask.sentKeys().derive(granted.generation()), now, ask.content()));
        return new LedgerChange(granted, row);
    }

    /**
     * Only the holder settles, a done effect stays done, and a certainly unsent one is never in doubt. A settlement
     * from an earlier turn or execution is ignored once the row was reserved again, so a write that settles and
     * reserves may be applied twice.
     */
    private static @Nullable EffectRow settle(@Nullable EffectRow row, SettleSend settle, long now) {
        if (row == null
                || row.state() == EffectState.DONE
                || (row.state() == EffectState.FREE
                        && (settle.to() == EffectState.UNKNOWN || settle.to() == EffectState.UNCONFIRMED))
                || !row.holder().step().equals(settle.holder().step())
                || !row.holder().run().equals(settle.holder().run())
                || settle.holder().isBefore(row.holder())) {
            return null;
        }
        boolean done = settle.to() == EffectState.DONE;
        long expiresAt = switch (settle.to()) {
            case DONE -> row.window() > 0 ? now + row.window() : 0;
            case UNKNOWN -> settle.inDoubt() ? 0 : row.expiresAt();
            case FREE, UNCONFIRMED -> LastAcceptedEffectLedgerBackup.expiresAt(row);
            case RESERVED -> 0;
        };
        return new EffectRow(
                row.id(),
                settle.holder(),
                settle.to(),
                row.generation(),
                row.attempt(),
                row.firstAt(),
                done ? now : 0,
                row.window(),
                expiresAt,
                row.dataDigest(),
                done ? settle.result() : row.result(),
                row.details(),
                row.lastSend());
    }

    private static EffectRow noted(NoteStepResult note, long now) {
        String data = note.suppressedBy() == null
                ? NOTED
                : SUPPRESSED + note.suppressedBy().origin();
        return new EffectRow(
                note.id(),
                note.holder(),
                EffectState.DONE,
                note.send() == null ? 1 : note.send().generation(),
                note.send() == null ? 1 : note.send().attempt(),
                now,
                now,
                0,
                0,
                data,
                note.result(),
                note.details(),
                new LastSend(note.send() == null ? null : note.send().key(), 0, null));
    }
}
