package dev.semel.server.alerts;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.run.RunId;
import dev.semel.server.connectors.template.RenderedMessage;
import dev.semel.server.settings.AlertSetting;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Whoever is notified something at night is notified what to do. */
final class AlertMessageRendererTest {
    @Test
    void the_alert_before_the_end_of_safe_resends_names_workflow_and_time() {
        assertEquals(
                "412 runs of charge lose safe re-send at 2026-11-18T14:20:00Z or later.\n",
                AlertMessageRenderer.loss(412, "charge", 1_795_011_600_000_000L));
    }

    @Test
    void every_metric_alert_says_what_happened_where_to_look_and_what_to_do() {
        Set<String> titles = new HashSet<>();
        Set<String> fixes = new HashSet<>();
        for (String signal : AlertSetting.METRICS) {
            AlertSetting alert = new AlertSetting(signal, 5, Duration.ofHours(1), "orders", "ops", "on-call");
            AlertState fired = AlertState.NEVER_FIRED.afterCheck(true, 7, 1, new RunId(1, 1), List.of(), 0);
            RenderedMessage renderedMessage = AlertMessageRenderer.render("mine", alert, fired, "");
            String text = Objects.requireNonNull(renderedMessage.text());
            titles.add(Objects.requireNonNull(renderedMessage.subject()));
            assertTrue(text.contains("alert mine fires above "), text);
            String details = signal.equals("safe_resend_ends") ? "semel recovery show" : "semel monitoring show orders";
            assertTrue(text.contains("Details:  " + details + "\n"), text);
            String fix = text.substring(text.indexOf("Cause and fix: "), text.indexOf("\n\nDetails:"));
            assertTrue(fix.length() > 60, fix);
            fixes.add(fix);
        }
        assertEquals(AlertSetting.METRICS.size(), titles.size(), "each has words of its own");
        // A rate and a number of conflicts, and the number and the age of doubts, have the same cause.
        assertEquals(AlertSetting.METRICS.size() - 2, fixes.size(), fixes::toString);
    }
}
