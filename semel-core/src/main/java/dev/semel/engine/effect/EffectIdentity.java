package dev.semel.engine.effect;

import dev.semel.definition.EffectSpec;
import dev.semel.effect.EffectDuplicateProtection;
import dev.semel.effect.EffectLedger;
import dev.semel.engine.step.ActiveRun;
import dev.semel.engine.step.InMemoryRunExecutionState;
import dev.semel.engine.step.StepJournalMatcher;
import dev.semel.json.Sha256;
import dev.semel.json.StorableText;
import dev.semel.policy.ChangedEffectDataPolicy;
import dev.semel.run.MicrosecondConverter;
import java.util.HexFormat;
import org.jspecify.annotations.Nullable;

/**
 * The key on the wire is a hash of effect key and generation, keyed with the secret of the workspace: it hides internal
 * names, nobody who knows an effect key can compute it, and an intended re-send gets a new key that the provider does
 * not deduplicate.
 *
 * @param secret of the workspace
 * @param row the row that is locked: the one of the step, or the one that all runs with this key share
 * @param stepRow the row that a safe replay reads
 */
record EffectIdentity(
        String key,
        EffectLedger.EffectId row,
        EffectLedger.EffectId stepRow,
        EffectSpec.@Nullable OncePerWindow once,
        EffectSpec plan,
        EffectLedger.EffectDetails facts,
        byte[] secret) {
    private static final int WIRE_KEY_BYTES = 24;
    private static final long A_MINUTE = 60_000_000;

    static EffectIdentity of(InMemoryRunExecutionState execution, StepJournalMatcher.StepState state, EffectSpec plan) {
        ActiveRun run = execution.run();
        String key = plan.key() == null ? state.stepId() : plan.key();
        EffectLedger.EffectId stepRow = EffectLedger.EffectId.step(run.workspace(), state.stepId());
        EffectLedger.EffectId row = plan.once() == null ? stepRow : EffectLedger.EffectId.once(run.workspace(), key);
        String object = plan.businessRecord().object();
        EffectLedger.EffectDetails facts = new EffectLedger.EffectDetails(
                key,
                state.path(),
                run.workflow().workflowId(),
                plan.protection().word(),
                plan.businessRecord().does().name().toLowerCase(java.util.Locale.ROOT),
                object == null ? null : StorableText.shortenForIndex(object),
                plan.businessRecord().worth());
        return new EffectIdentity(key, row, stepRow, plan.once(), plan, facts, execution.workspaceSecret());
    }

    EffectLedger.ChangePolicy onChange() {
        return once == null
                ? EffectLedger.ChangePolicy.SEND
                : EffectLedger.ChangePolicy.valueOf(once.onChange().name());
    }

    /** Returns the key that every attempt of this generation sends, byte-identical. */
    String wireKey(int generation) {
        byte[] hash = Sha256.hmac(secret, "wire\n" + generation + "\n" + key);
        return HexFormat.of().formatHex(hash, 0, WIRE_KEY_BYTES);
    }

    /** Returns the key that the provider receives; null if the request carries none. */
    @Nullable
    String sentKey(int generation) {
        return plan.sendsKey() ? wireKey(generation) : null;
    }

    /** Returns the sent data for a later review of changed data; null if a change opens no review. */
    private @Nullable String reviewedContent() {
        return once == null || once.onChange() != ChangedEffectDataPolicy.REVIEW ? null : once.content();
    }

    /** Returns the digest of the sent data; null if only the key counts. */
    @Nullable
    String contentDigest() {
        byte[] data = once == null ? null : once.data();
        return data == null ? null : HexFormat.of().formatHex(data);
    }

    /**
     * @param afresh an effect of another run of the lineage is sent again
     */
    EffectLedger.ReserveSend toReservation(
            EffectLedger.EffectHolder holder, EffectLedger.ChangePolicy onChange, boolean afresh) {
        long window = once == null ? 0 : MicrosecondConverter.of(once.window());
        return new EffectLedger.ReserveSend(
                row,
                holder,
                resendFor(),
                window,
                onChange,
                contentDigest(),
                facts,
                plan.protection() instanceof EffectDuplicateProtection.Lookup,
                afresh,
                this::sentKey,
                reviewedContent());
    }

    /** Until when an unknown outcome may be sent again without a decision, if it was first sent then. */
    long resendUntil(long firstAt) {
        long window = resendFor();
        return window > Long.MAX_VALUE - firstAt ? Long.MAX_VALUE : firstAt + window;
    }

    /** How long after the first send an unknown outcome may be sent again without a decision. */
    private long resendFor() {
        return switch (plan.protection()) {
            case EffectDuplicateProtection.Repeatable _, EffectDuplicateProtection.None _ -> Long.MAX_VALUE;
            case EffectDuplicateProtection.ProviderKey provider -> {
                long window = MicrosecondConverter.of(provider.window());
                yield window - Math.min(A_MINUTE, window / 10); // a margin: the provider uses its own clock
            }
            case EffectDuplicateProtection.Lookup _,
                    EffectDuplicateProtection.AtMostOnce _,
                    EffectDuplicateProtection.Ask _ -> 0;
        };
    }

    /** @param send whose outcome is settled */
    EffectLedger.LedgerOperation[] toSettleOps(
            EffectLedger.EffectHolder holder, String result, EffectLedger.@Nullable NotedSend send) {
        EffectLedger.SettleSend settle =
                new EffectLedger.SettleSend(row, holder, EffectLedger.EffectState.DONE, result);
        return once == null
                ? new EffectLedger.LedgerOperation[] {settle}
                : new EffectLedger.LedgerOperation[] {
                    settle, new EffectLedger.NoteStepResult(stepRow, holder, result, facts, send)
                };
    }

    /** @param first the run that sent the effect instead, and when it was accepted */
    EffectLedger.NoteStepResult toSuppressionNote(EffectLedger.EffectHolder holder, String result, String first) {
        return new EffectLedger.NoteStepResult(
                stepRow, holder, result, facts, new EffectLedger.SuppressingEffect(row.digest(), first), null);
    }
}
