package dev.semel.server.pages;

import java.util.Map;

/** What a form of one of the later pages did, as it is said once at the top of the next page. */
final class Done {
    private static final Map<String, String> SENTENCES = Map.ofEntries(
            Map.entry("plan", "The plan is made. Nothing was replayed."),
            Map.entry("apply", "The plan is being applied."),
            Map.entry("approve", "The plan is approved. It may be applied now."),
            Map.entry("stop", "Stopped: what has begun goes on, and nothing more is started."),
            Map.entry("check", "The provider is being asked again."),
            Map.entry("draft", "The draft is made from what happened. Correct its answers below."),
            Map.entry("kept", "Kept."),
            Map.entry("removed", "Removed."),
            Map.entry("revoked", "Revoked: the token opens nothing any more."),
            Map.entry("password", "Your password is another one. You are logged out everywhere else."),
            Map.entry("subscribed", "The choice of this person is on record."),
            Map.entry("promote", "The candidate is the current version now."),
            Map.entry("rollback", "Gone back. Runs that have begun keep their version."),
            Map.entry("extend", "The key stands for longer. Its run is the same."),
            Map.entry("hook", "The hook is made. Give its address to the provider, and send a sample."),
            Map.entry("moved", "The hook has another address. What is sent to the old one is refused."),
            Map.entry("view", "The view is kept."));

    private Done() {}

    static String sentence(String word) {
        return SENTENCES.getOrDefault(word, "");
    }
}
