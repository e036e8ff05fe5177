package dev.semel.engine;

import dev.semel.effect.Ledger;
import dev.semel.effect.Protection;
import dev.semel.workflow.EffectPlan;
import java.util.HexFormat;
import org.jspecify.annotations.Nullable;

/**
 * The names of one effect: its row in the ledger, the row of its step, and the key that goes out. The key on the wire
 * is a hash of the effect key and the generation, so that names do not leak and a provider's own memory never swallows a
 * send that was meant.
 *
 * @param row what is locked: the step's own row, or the row that all runs with this key share
 * @param stepRow the row that a safe replay looks at
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

    /** The byte-identical key of every attempt of this generation. */
    String wireKey(int generation) {
        return Ledger.digest("wire", generation + "\n" + key).substring(0, 48);
    }

    /** Digest of what is sent; null where only the key counts. */
    @Nullable
    String content() {
        byte[] data = once == null ? null : once.data();
        return data == null ? null : HexFormat.of().formatHex(data);
    }

    /**
     * @param resend an unknown one may be sent again, as far as its protection allows that
     * @param afresh what another run of the lineage did is done again
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

    /** How long after the first send an unknown one may be sent again without asking anybody. */
    private long resendFor() {
        return switch (plan.protection()) {
            case Protection.Repeatable _, Protection.None _ -> Long.MAX_VALUE;
            case Protection.ProviderKey provider -> {
                long window = Micros.of(provider.window());
                yield window - Math.min(A_MINUTE, window / 10); // a margin: the provider counts by its own clock
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

    /** @param first the run whose deed stood for it, and when that was accepted */
    Ledger.Note suppressed(Ledger.Holder holder, String result, String first) {
        return new Ledger.Note(stepRow, holder, result, facts, new Ledger.Instead(row.digest(), first));
    }
}
