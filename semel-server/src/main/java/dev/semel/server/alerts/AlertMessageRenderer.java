package dev.semel.server.alerts;

import dev.semel.server.connectors.template.RenderedMessage;
import dev.semel.server.settings.AlertSetting;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Writes the text of alert notifications: which metric exceeded its threshold, where to look, and what to do. */
final class AlertMessageRenderer {
    private AlertMessageRenderer() {}

    /** One line: how many runs of a workflow lose safe re-send, and when the first one does. */
    static String loss(long runs, String workflow, long soonest) {
        Instant at = Instant.ofEpochSecond(0, soonest * 1_000).truncatedTo(ChronoUnit.SECONDS);
        return runs + (runs == 1 ? " run of " : " runs of ") + workflow + (runs == 1 ? " loses" : " lose")
                + " safe re-send at " + at + (runs == 1 ? "" : " or later") + ".\n";
    }

    /** One line: the command that plans a replay of these runs, which failed at most this long ago. */
    static String plan(long ageMicros, @Nullable String workflow) {
        long hours = Math.ceilDiv(ageMicros, TimeUnit.HOURS.toMicros(1));
        String age = hours <= 48 ? hours + "h" : Math.ceilDiv(hours, 24) + "d";
        return "Plan a replay: semel replay plan \"failed_since:" + age
                + (workflow == null ? "" : " workflow:" + workflow) + "\"\n";
    }

    /** One line: how many runs lost safe re-send, and where to decide. */
    static String lost(long runs) {
        return runs + (runs == 1 ? " run" : " runs")
                + " lost safe re-send while the alert fired: the outcome is unknown,"
                + " and only a user can decide. List the reviews with `semel review list`, check the external system,"
                + " and record the outcome with `semel review decide`.\n";
    }

    /** @param details more lines about the current state; may be empty */
    static RenderedMessage render(String name, AlertSetting alert, AlertState episode, String details) {
        String where = alert.workflow() == null ? "all workflows" : alert.workflow();
        String what = title(alert.metric()) + " of " + where;
        String bound = "above " + formatValue(alert.metric(), alert.threshold())
                + (isCurrentValue(alert.metric())
                        ? ""
                        : " over " + formatMinutes(alert.window().toMinutes()));
        if (!episode.firing()) {
            return new RenderedMessage(
                    "Resolved: " + what,
                    what + " is " + formatValue(alert.metric(), episode.value()) + " again. The alert " + name + " ("
                            + bound + ") is resolved. "
                            + (details.isEmpty() ? "No action is needed.\n" : "But a decision is needed.\n" + details),
                    null);
        }
        return new RenderedMessage(
                "Alert: " + what + " is " + formatValue(alert.metric(), episode.value()),
                what + " is " + formatValue(alert.metric(), episode.value()) + ". The alert " + name + " fires " + bound
                        + ".\n" + details + "\nCause and fix: " + fix(alert.metric()) + "\n\nDetails:  "
                        + command(alert) + "\n",
                null);
    }

    private static String command(AlertSetting alert) {
        return alert.isAboutResends()
                ? "semel recovery show"
                : "semel monitoring show" + (alert.workflow() == null ? "" : " " + alert.workflow());
    }

    /** A short description for the audit log. */
    static String summarize(AlertSetting alert, AlertState episode) {
        String where = alert.workflow() == null ? "" : " of " + alert.workflow();
        return alert.metric() + where + " is " + formatValue(alert.metric(), episode.value()) + ", threshold "
                + formatValue(alert.metric(), alert.threshold());
    }

    private static boolean isCurrentValue(String signal) {
        return signal.startsWith("in_doubt");
    }

    private static String formatMinutes(long minutes) {
        return minutes % 1_440 == 0
                ? minutes / 1_440 + " d"
                : minutes % 60 == 0 ? minutes / 60 + " h" : minutes + " min";
    }

    private static String formatValue(String signal, double value) {
        return switch (signal) {
            case "conflict_rate" -> String.format(Locale.ROOT, "%.2f %%", value * 100);
            case "in_doubt_oldest" -> formatMinutes(Math.max(1, Math.round(value / 60)));
            default -> String.format(Locale.ROOT, "%.0f", value);
        };
    }

    private static String title(String signal) {
        return switch (signal) {
            case "conflict_rate" -> "The conflict rate";
            case "conflicts" -> "The number of key conflicts";
            case "duplicates_prevented" -> "The number of duplicates prevented";
            case "retry_recoveries" -> "The number of retry recoveries";
            case "expired_key_retries" -> "The number of expired-key retries";
            case "repeated_writes" -> "The number of repeated writes";
            case "in_doubt" -> "The number of effects in doubt";
            case "in_doubt_oldest" -> "The waiting time of the oldest effect in doubt";
            case "unprotected_effects" -> "The number of unprotected effects";
            case "failed_runs" -> "The number of failed runs";
            case "safe_resend_ends" -> "The number of runs that soon lose safe re-send";
            default -> "The number of requests without a key";
        };
    }

    private static String fix(String signal) {
        return switch (signal) {
            case "conflict_rate", "conflicts" ->
                "a caller uses one key for different data. List the conflicts with `semel request list`: each entry"
                    + " shows which fields differ and which caller sent the request. That caller needs a new key for"
                    + " each new action.";
            case "duplicates_prevented" ->
                "callers send more duplicates than usual. Semel executed none of them twice. Look for timeouts or a"
                        + " retry loop at the caller; `semel request list` shows the caller.";
            case "retry_recoveries" ->
                "runs completed after a failed attempt or a crash. A service that your steps call may be unstable. Show"
                        + " the attempts with `semel run timeline RUN`.";
            case "expired_key_retries" ->
                "retries arrive after the window of their key and start new runs. `semel monitoring show` shows how"
                        + " long the window must be to catch them. Set that time as `idempotency.window`.";
            case "repeated_writes" ->
                "an object was written more than once. `semel object list` shows it. If that is not intended, derive"
                        + " the key of the step from the object, not from the run.";
            case "in_doubt", "in_doubt_oldest" ->
                "an effect was sent and its outcome is unknown. List the runs with `semel runs status:in_doubt`, check"
                        + " the external system, and record the outcome with `semel review decide`.";
            case "failed_runs" ->
                "runs fail. `semel runs status:failed` lists them with the step and the error. After you fix the cause,"
                        + " `semel replay plan \"status:failed since:2h\"` shows what a replay would send.";
            case "safe_resend_ends" ->
                "the outcome of an effect is unknown, and the provider will soon forget its key. Find out why the"
                        + " provider does not answer. The plan shows the runs that a replay sends again with the same"
                        + " key. Afterwards only a user can decide.";
            case "unprotected_effects" ->
                "a step with `protect: none` sent an effect. A crash can repeat this effect. Declare another"
                        + " protection for the step.";
            default ->
                "a caller sends no Idempotency-Key, so its retries start new runs. Let the caller send a key, or"
                        + " derive the key with `trigger.http.key`. With `require_key: true` the server rejects such"
                        + " requests.";
        };
    }
}
