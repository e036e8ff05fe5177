package dev.semel.server.dashboard;

import java.util.Map;

/** The messages that confirm a form's action at the top of the next page. */
final class ActionMessages {
    private static final Map<String, String> SENTENCES = Map.ofEntries(
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
            Map.entry("promote", "The candidate is now the current version."),
            Map.entry("rollback", "Rolled back. Runs that have started keep their version."),
            Map.entry("extend", "The key's window is extended. Its run stays the same."),
            Map.entry("webhook", "Webhook created. Give its URL to the provider, then send a sample."),
            Map.entry("moved", "The webhook has a new URL. The server rejects deliveries to the old one."),
            Map.entry("view", "View saved."));

    private ActionMessages() {}

    static String forAction(String word) {
        return SENTENCES.getOrDefault(word, "");
    }
}
