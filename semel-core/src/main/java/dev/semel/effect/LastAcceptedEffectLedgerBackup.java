package dev.semel.effect;

import dev.semel.run.RunId;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * If the provider rejects a changed message, the accepted one applies again with its window. It is stored in the result
 * column, which an unfinished row does not use.
 */
final class LastAcceptedEffectLedgerBackup {
    private static final int PARTS = 10;

    private LastAcceptedEffectLedgerBackup() {}

    /** The row of the changed message with the accepted one inside. */
    static EffectLedger.EffectRow remember(EffectLedger.EffectRow accepted, EffectLedger.EffectRow changed) {
        EffectLedger.EffectHolder by = accepted.holder();
        String kept = String.join(
                "\n",
                optional(accepted.dataDigest()),
                String.valueOf(accepted.acceptedAt()),
                String.valueOf(accepted.expiresAt()),
                by.step(),
                by.run().text(),
                String.valueOf(by.claim()),
                String.valueOf(by.turn()),
                optional(accepted.lastSend().key()),
                optional(accepted.lastSend().content()),
                Objects.requireNonNullElse(accepted.result(), "null"));
        return with(changed, kept);
    }

    private static String optional(@Nullable String text) {
        return text == null ? "-" : "+" + text;
    }

    private static @Nullable String restored(String part) {
        return part.equals("-") ? null : part.substring(1);
    }

    private static EffectLedger.EffectRow with(EffectLedger.EffectRow row, String kept) {
        return new EffectLedger.EffectRow(
                row.id(),
                row.holder(),
                row.state(),
                row.generation(),
                row.attempt(),
                row.firstAt(),
                row.acceptedAt(),
                row.window(),
                row.expiresAt(),
                row.dataDigest(),
                kept,
                row.details(),
                row.lastSend());
    }

    /** Another attempt of the same message keeps it. */
    static EffectLedger.LedgerChange carryOver(EffectLedger.EffectRow before, EffectLedger.LedgerChange ledgerChange) {
        String kept = before.result();
        EffectLedger.EffectRow row = ledgerChange.row();
        return kept == null || row == null
                ? ledgerChange
                : new EffectLedger.LedgerChange(ledgerChange.decision(), with(row, kept));
    }

    /** Returns the end of the window of the accepted message: until then retention keeps the row. 0: none was kept. */
    static long expiresAt(EffectLedger.EffectRow row) {
        EffectLedger.EffectRow accepted = restore(row);
        return accepted == null ? 0 : accepted.expiresAt();
    }

    /** Restores the accepted row with the current generation; null if none was kept. */
    static EffectLedger.@Nullable EffectRow restore(EffectLedger.EffectRow row) {
        String[] parts = row.result() == null ? new String[0] : row.result().split("\n", PARTS);
        if (parts.length < PARTS) {
            return null;
        }
        RunId run = Objects.requireNonNull(RunId.parse(parts[4]));
        return new EffectLedger.EffectRow(
                row.id(),
                new EffectLedger.EffectHolder(parts[3], run, Integer.parseInt(parts[5]), Integer.parseInt(parts[6])),
                EffectLedger.EffectState.DONE,
                row.generation(),
                1,
                row.firstAt(),
                Long.parseLong(parts[1]),
                row.window(),
                Long.parseLong(parts[2]),
                restored(parts[0]),
                parts[9],
                row.details(),
                new EffectLedger.LastSend(restored(parts[7]), 0, restored(parts[8])));
    }
}
