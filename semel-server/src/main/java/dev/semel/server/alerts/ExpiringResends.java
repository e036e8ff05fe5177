package dev.semel.server.alerts;

import dev.semel.runtime.SemelRuntime;
import dev.semel.server.settings.AlertSetting;
import dev.semel.store.DatabaseRows;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;

/**
 * The runs that lose safe re-send within the window of an alert on `safe_resend_ends`.
 *
 * @param workflowId empty for all workflows
 */
record ExpiringResends(SemelRuntime semel, int ws, String workflowId, AlertSetting alert, long now) {
    private static final int MOST_LISTED = 500;
    private static final int MOST_WORKFLOWS = 100;

    long count() {
        return losses().stream().mapToLong(DatabaseRows.ResendLoss::inHour).sum();
    }

    /** The soonest ones; empty for other metrics. If one of them ends, a later one follows. */
    List<DatabaseRows.ExpiringResend> list() {
        return alert.isAboutResends()
                ? Objects.requireNonNull(
                        semel.view(reads -> reads.metrics().expiringResends(ws, workflowId, now, end(), MOST_LISTED)))
                : List.of();
    }

    /** Between two notifications of a firing. */
    long pauseMicros() {
        return TimeUnit.SECONDS.toMicros(alert.window().toSeconds()) / 12;
    }

    private long end() {
        return now + TimeUnit.SECONDS.toMicros(alert.window().toSeconds());
    }

    private List<DatabaseRows.ResendLoss> losses() {
        return Objects.requireNonNull(semel.view(reads -> reads.resendLosses(ws, end(), end()))).stream()
                .filter(one -> one.inHour() > 0)
                .filter(one -> workflowId.isEmpty() || one.workflowId().equals(workflowId))
                .toList();
    }

    /** Which runs lose safe re-send and when, how to send them, and how many lost it; empty for other metrics. */
    String describe(AlertState episode) {
        if (!alert.isAboutResends()) {
            return "";
        }
        StringBuilder text = new StringBuilder();
        if (episode.firing()) {
            List<DatabaseRows.ResendLoss> losses = losses();
            losses.stream()
                    .limit(MOST_WORKFLOWS)
                    .forEach(loss -> text.append(
                            AlertMessageRenderer.loss(loss.inHour(), name(loss.workflowId()), loss.soonest())));
            if (losses.size() > MOST_WORKFLOWS) {
                text.append("The same holds for runs of ")
                        .append(losses.size() - MOST_WORKFLOWS)
                        .append(" other workflows.\n");
            }
            // A run fails after its first send, so until the end this age finds it.
            list().stream()
                    .mapToLong(one -> one.until() - one.firstSentAt())
                    .max()
                    .ifPresent(age -> text.append(AlertMessageRenderer.plan(age, alert.workflow())));
        }
        long lost = Objects.requireNonNull(semel.view(reads ->
                reads.metrics().lostResends(ws, workflowId, episode.reported().firedAt())));
        return text.append(lost == 0 ? "" : AlertMessageRenderer.lost(lost)).toString();
    }

    private String name(String id) {
        DatabaseRows.WorkflowRow workflow = semel.view(reads -> reads.workflow(ws, id));
        return workflow == null ? id : workflow.name();
    }
}
