package dev.semel.engine;

import dev.semel.effect.Ledger;
import dev.semel.effect.Protection;
import dev.semel.workflow.EffectPlan;
import java.util.HexFormat;
import org.jspecify.annotations.Nullable;

/**
 * The identity of one effect: its key, its ledger rows and the key sent to the provider.
 * The key on the wire is a hash of effect key and generation. It hides internal names, and an intended re-send gets a
 * new key that the provider does not deduplicate.
 *
 * @param row the row that is locked: the one of the step, or the one that all runs with this key share
 * @param stepRow the row that a safe replay reads
 */
record EffectName(
        String key,
        Ledger.Id row,
        Ledger.Id stepRow,
        EffectPlan.@Nullable Once once,
        EffectPlan plan,
        Ledger.Facts facts) {
    private static final long A_MINUTE = 60_000_000;

    static EffectName of(RunLoop.Resident run, Scope.Place place, EffectPlan plan) {
        String key = plan.key() == null ? place.stepId() : plan.key();
        Ledger.Id stepRow = Ledger.Id.step(run.workspace(), place.stepId());
        Ledger.Id row = plan.once() == null ? stepRow : Ledger.Id.once(run.workspace(), key);
        Ledger.Facts facts = new Ledger.Facts(
                key,
                place.path(),
                run.workflow().workflowId(),
                plan.protection().word(),
                plan.marks().does().name().toLowerCase(java.util.Locale.ROOT),
                plan.marks().object(),
                plan.marks().worth());
        return new EffectName(key, row, stepRow, plan.once(), plan, facts);
    }

    Ledger.OnChange onChange() {
        return once == null
                ? Ledger.OnChange.SEND
                : Ledger.OnChange.valueOf(once.onChange().name());
    }

    /** Returns the key that every attempt of this generation sends, byte-identical. */
    String wireKey(int generation) {
        return Ledger.digest("wire", generation + "\n" + key).substring(0, 48);
    }

    /** Returns the digest of the sent data; null if only the key counts. */
    @Nullable
    String content() {
        byte[] data = once == null ? null : once.data();
        return data == null ? null : HexFormat.of().formatHex(data);
    }

    /**
     * @param resend an unknown outcome may be sent again, as far as the protection allows
     * @param afresh an effect of another run of the lineage is sent again
     */
    Ledger.Reserve reserve(Ledger.Holder holder, Ledger.OnChange onChange, boolean resend, boolean afresh) {
        long window = once == null ? 0 : once.window().toNanos() / 1_000;
        return new Ledger.Reserve(
                row,
                holder,
                resend ? resendFor() : 0,
                window,
                onChange,
                content(),
                facts,
                plan.protection() instanceof Protection.Lookup,
                afresh);
    }

    /** How long after the first send an unknown outcome may be sent again without a decision. */
    private long resendFor() {
        return switch (plan.protection()) {
            case Protection.Repeatable _, Protection.None _ -> Long.MAX_VALUE;
            case Protection.ProviderKey provider -> {
                long window = Micros.of(provider.window());
                yield window - Math.min(A_MINUTE, window / 10); // a margin: the provider uses its own clock
            }
            case Protection.Lookup _, Protection.AtMostOnce _, Protection.Ask _ -> 0;
        };
    }

    Ledger.Op[] done(Ledger.Holder holder, String result) {
        Ledger.Settle settle = new Ledger.Settle(row, holder, Ledger.State.DONE, result);
        return once == null
                ? new Ledger.Op[] {settle}
                : new Ledger.Op[] {settle, new Ledger.Note(stepRow, holder, result, facts)};
    }

    /** @param first the run that sent the effect instead, and when it was accepted */
    Ledger.Note suppressed(Ledger.Holder holder, String result, String first) {
        return new Ledger.Note(stepRow, holder, result, facts, new Ledger.Instead(row.digest(), first));
    }
}
