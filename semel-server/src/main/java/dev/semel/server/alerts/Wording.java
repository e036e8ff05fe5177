package dev.semel.server.alerts;

import dev.semel.server.channel.Rendered;
import dev.semel.server.settings.AlertSetting;
import java.util.Locale;

/** What an alert says: what is beyond its bound, where to look, and what to do. */
final class Wording {
    private Wording() {}

    static Rendered of(String name, AlertSetting alert, Episode episode) {
        String where = alert.workflow() == null ? "all workflows" : alert.workflow();
        String what = title(alert.signal()) + " of " + where;
        String bound = "above " + shown(alert.signal(), alert.above())
                + (isNow(alert.signal()) ? "" : " over " + minutes(alert.over().toMinutes()));
        if (!episode.firing()) {
            return new Rendered(
                    "Over: " + what,
                    what + " is " + shown(alert.signal(), episode.value()) + " again; alert " + name + " (" + bound
                            + ") is over. Nothing is to be done.\n",
                    null);
        }
        return new Rendered(
                "Alert: " + what + " is " + shown(alert.signal(), episode.value()),
                what + " is " + shown(alert.signal(), episode.value()) + "; alert " + name + " fires " + bound + ".\n\n"
                        + "What to do: " + fix(alert.signal()) + "\n\nLook:  semel signals"
                        + (alert.workflow() == null ? "" : " " + alert.workflow()) + "\n",
                null);
    }

    /** In a few words, for the audit. */
    static String bound(AlertSetting alert, Episode episode) {
        String where = alert.workflow() == null ? "" : " of " + alert.workflow();
        return alert.signal() + where + " is " + shown(alert.signal(), episode.value()) + ", bound "
                + shown(alert.signal(), alert.above());
    }

    private static boolean isNow(String signal) {
        return signal.startsWith("in_doubt");
    }

    private static String minutes(long minutes) {
        return minutes % 1_440 == 0
                ? minutes / 1_440 + " d"
                : minutes % 60 == 0 ? minutes / 60 + " h" : minutes + " min";
    }

    private static String shown(String signal, double value) {
        return switch (signal) {
            case "conflict_rate" -> String.format(Locale.ROOT, "%.2f %%", value * 100);
            case "in_doubt_oldest" -> minutes(Math.max(1, Math.round(value / 60)));
            default -> String.format(Locale.ROOT, "%.0f", value);
        };
    }

    private static String title(String signal) {
        return switch (signal) {
            case "conflict_rate" -> "The conflict rate";
            case "conflicts" -> "The number of key conflicts";
            case "duplicates_prevented" -> "The number of duplicates prevented";
            case "retry_recoveries" -> "The number of runs that completed after a failure";
            case "expired_key_retries" -> "The number of retries after the key's window";
            case "repeated_writes" -> "The number of writes to an object that was written before";
            case "in_doubt" -> "The number of effects in doubt";
            case "in_doubt_oldest" -> "The wait of the oldest effect in doubt";
            case "unprotected_effects" -> "The number of unprotected effects";
            case "failed_runs" -> "The number of failed runs";
            default -> "The number of requests without a key";
        };
    }

    private static String fix(String signal) {
        return switch (signal) {
            case "conflict_rate", "conflicts" ->
                "a caller uses one key for different data. List them with `semel requests`: each says which fields"
                        + " differ and who sent it. That caller needs a new key for each new action.";
            case "duplicates_prevented" ->
                "callers repeat themselves more than usual, and nothing was done twice. Look for timeouts or a retry"
                        + " loop at the caller; `semel requests` says who it is.";
            case "retry_recoveries" ->
                "something that your steps call fails and comes back. Look at the attempts with `semel timeline RUN`.";
            case "expired_key_retries" ->
                "retries come after the window of their key and start new runs. `semel signals` says which window would"
                        + " have caught them; set it as `idempotency.window`.";
            case "repeated_writes" ->
                "an object was written more than once. `semel objects` names it; if that is not meant, give the step a"
                        + " key of the object instead of the run.";
            case "in_doubt", "in_doubt_oldest" ->
                "an effect was sent and nobody knows whether it happened. List the runs with `semel runs"
                        + " status:in_doubt`, look at the other side, and say it with `semel decide`.";
            case "failed_runs" ->
                "runs fail. `semel runs status:failed` lists them with the step and the error. When the cause is gone,"
                        + " `semel replay plan \"status:failed since:2h\"` says what a replay would send.";
            case "unprotected_effects" ->
                "a step with `protect: none` sends. It can happen twice after a crash; give it a protection.";
            default ->
                "a caller sends no Idempotency-Key, so its retries start new runs. Ask it to send one, or derive it"
                        + " with `trigger.http.key`; `require_key: true` refuses such requests.";
        };
    }
}
