package dev.semel.server.settings;

import dev.semel.server.files.yaml.DurationFormat;
import java.time.Duration;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * Definition of an alert: metric, threshold, time window, and the channel and address to notify.
 *
 * @param metric the metric, one of {@link #METRICS}
 * @param threshold the threshold: a ratio for `conflict_rate`, seconds for `in_doubt_oldest`, otherwise a count
 * @param window length of the time window up to now; for `safe_resend_ends` from now on
 * @param workflow workflow name; null for all workflows together
 * @param channel name of the channel that sends the notification
 * @param to recipient address for that channel
 */
public record AlertSetting(
        String metric,
        double threshold,
        Duration window,
        @Nullable String workflow,
        String channel,
        String to) {
    public static final List<String> METRICS = List.of(
            "conflict_rate",
            "conflicts",
            "duplicates_prevented",
            "retry_recoveries",
            "expired_key_retries",
            "repeated_writes",
            "in_doubt",
            "in_doubt_oldest",
            "unprotected_effects",
            "requests_without_key",
            "failed_runs",
            "safe_resend_ends");

    private static final Duration LONGEST = Duration.ofDays(31);

    public boolean isAboutResends() {
        return metric.equals("safe_resend_ends");
    }

    static AlertSetting read(JsonNode node) {
        WorkspaceSettingJsonParser document = WorkspaceSettingJsonParser.of(node);
        String signal = document.text("metric", 32);
        if (!signal.isEmpty() && !METRICS.contains(signal)) {
            document.addProblem("metric", "must be one of " + String.join(", ", METRICS));
        }
        double above = threshold(document, signal);
        Duration over = window(document, signal);
        String workflow = document.optionalText("workflow", 64);
        String channel = document.name("channel");
        String to = document.line("to", 320);
        return document.finish("alert", new AlertSetting(signal, above, over, workflow, channel, to));
    }

    /** A number, or text such as `5%` for a ratio and `1h` for a duration. */
    private static double threshold(WorkspaceSettingJsonParser document, String signal) {
        JsonNode value = document.any("above");
        if (value != null && value.isNumber() && value.doubleValue() >= 0) {
            return value.doubleValue();
        }
        if (value != null && value.isString() && signal.equals("conflict_rate")) {
            Matcher share =
                    Pattern.compile("([0-9]{1,3}(?:\\.[0-9]{1,3})?)\\s*%").matcher(value.stringValue());
            if (share.matches()) {
                return Double.parseDouble(share.group(1)) / 100;
            }
        }
        if (value != null && value.isString() && signal.equals("in_doubt_oldest")) {
            Duration time = time(value.stringValue());
            if (time != null) {
                return time.toMillis() / 1_000.0;
            }
        }
        document.addProblem(
                "above",
                value == null
                        ? "is missing"
                        : "must be a number of at least 0; you can write a rate as 5% and a waiting time as 1h");
        return 0;
    }

    private static Duration window(WorkspaceSettingJsonParser document, String signal) {
        String text = document.optionalText("over", 8);
        if (text == null) {
            return signal.equals("safe_resend_ends") ? Duration.ofHours(1) : Duration.ofMinutes(10);
        }
        Duration time = time(text);
        if (time == null || time.compareTo(LONGEST) > 0 || time.toMinutes() < 1) {
            document.addProblem("over", "must be a duration from 1m to 31d, such as 10m");
            return Duration.ofMinutes(10);
        }
        return time;
    }

    private static @Nullable Duration time(String text) {
        return DurationFormat.parse(text).filter(Duration::isPositive).orElse(null);
    }
}
