package dev.semel.server.dashboard.page;

import java.util.List;
import java.util.Map;

final class DashboardSuccessMessages {
    private static final Map<String, String> SENTENCES = Map.ofEntries(
            Map.entry("cancel", "Cancellation requested. The run ends after its current step."),
            Map.entry("signal", "Signal sent."),
            Map.entry("decide", "Decision recorded."),
            Map.entry("release", "Key released. The next request with this key starts a new run."),
            Map.entry("pause", "Paused. The server accepts triggers and queues their runs."),
            Map.entry("resume", "Resumed. The server starts the queued runs."),
            Map.entry("pause_schedule", "Paused. The server skips the ticks of this schedule until you resume it."),
            Map.entry("resume_schedule", "Resumed. The schedule is active again."),
            Map.entry(
                    "reprocess",
                    "Reprocessed. The server started missing runs. It did not start existing runs again, and recorded"
                            + " a duplicate request for each of them."),
            Map.entry("publish", "Published. New triggers get this version."),
            Map.entry("invite", "The invitation link is below. It is shown once."),
            Map.entry("plan", "Plan created. Nothing was replayed."),
            Map.entry("apply", "The server is applying the plan."),
            Map.entry("approve", "Plan approved. You can apply it now."),
            Map.entry("stop", "Stopped. Started runs continue; the server starts no more runs."),
            Map.entry("check", "The server is checking with the provider."),
            Map.entry("draft", "Draft created from recorded facts. Review and correct the answers below."),
            Map.entry("saved", "Saved."),
            Map.entry("removed", "Removed."),
            Map.entry("revoked", "Token revoked. The server rejects it from now on."),
            Map.entry("password", "Password changed. All your other sessions have ended."),
            Map.entry("subscribed", "Subscription saved."),
            Map.entry("member_added", "The profile is a member of the cohort."),
            Map.entry("member_removed", "The profile is not a member of the cohort."),
            Map.entry("promote", "The candidate is now the current version."),
            Map.entry("rollback", "Rolled back. Runs that have started keep their version."),
            Map.entry("extend", "The key's window is extended. The key still belongs to the same run."),
            Map.entry("webhook", "Webhook created. Give its URL to the provider, then send a sample."),
            Map.entry("moved", "The webhook has a new URL. The server rejects deliveries to the old one."),
            Map.entry("view", "View saved."));

    private DashboardSuccessMessages() {}

    /** @param did the values in the URL, of which the first counts */
    static String forAction(List<String> did) {
        return did.isEmpty() ? "" : SENTENCES.getOrDefault(did.getFirst(), "");
    }
}
