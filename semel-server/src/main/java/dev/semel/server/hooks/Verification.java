package dev.semel.server.hooks;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Whether a delivery is what it says it is. Pure: the secrets and the time come in. */
final class Verification {
    private static final Pattern SECONDS = Pattern.compile("(0|[1-9][0-9]{0,11})");

    private Verification() {}

    sealed interface Verdict {
        /** @param proof the signature that fits, as it was sent */
        record Genuine(String proof) implements Verdict {}

        /** No secret made it. */
        record Forged() implements Verdict {}

        /** Signed by whom it says, at a time that is not now. */
        record Stale() implements Verdict {}

        /** It could not be judged: none of the secrets fits, and one of them cannot be used. */
        record Unknown(String rule) implements Verdict {}
    }

    /**
     * The signature goes first: of a stranger's time nothing is said. A time in the future is refused as an old one is;
     * otherwise it could be kept and sent again until then.
     *
     * @param tolerance null: the time is not looked at
     */
    static Verdict of(Scheme scheme, @Nullable Duration tolerance, Letter letter, Proofs proofs) {
        Scheme.Presented presented = scheme.read(letter);
        if (presented == null) {
            return new Verdict.Forged();
        }
        String proof = null;
        String unfit = proofs.missing();
        for (String secret : proofs.secrets()) {
            try {
                String found = scheme.proof(secret, presented, letter.body());
                proof = found == null ? proof : found;
            } catch (Scheme.UnfitSecret e) {
                unfit = e.getMessage();
            }
        }
        if (proof == null) {
            return unfit == null ? new Verdict.Forged() : new Verdict.Unknown(unfit);
        }
        String time = presented.time();
        boolean inTime = tolerance == null || time == null || near(time, proofs.now(), tolerance);
        return inTime ? new Verdict.Genuine(proof) : new Verdict.Stale();
    }

    /**
     * What is known here.
     *
     * @param missing what is to be said of a secret that could not be had; null: all are here
     */
    record Proofs(List<String> secrets, @Nullable String missing, Instant now) {}

    private static boolean near(String time, Instant now, Duration tolerance) {
        if (!SECONDS.matcher(time).matches()) {
            return false;
        }
        long away = Math.abs(Long.parseLong(time) - now.getEpochSecond());
        return away <= tolerance.toSeconds();
    }
}
