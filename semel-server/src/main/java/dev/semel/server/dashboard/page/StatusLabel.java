package dev.semel.server.dashboard.page;

/** The label of a status: symbol, text and colour class, so that colour is never the only sign. */
public record StatusLabel(String symbol, String text, String tone) {
    public static StatusLabel of(String status) {
        return switch (status) {
            case "completed" -> new StatusLabel("✓", "Completed", "good");
            case "failed" -> new StatusLabel("✗", "Failed", "bad");
            case "in_doubt" -> new StatusLabel("?", "In doubt", "doubt");
            case "waiting" -> new StatusLabel("‖", "Waiting", "calm");
            case "held" -> new StatusLabel("?", "Held", "doubt");
            case "queued" -> new StatusLabel("…", "Queued", "calm");
            case "running" -> new StatusLabel("▸", "Running", "busy");
            case "started" -> new StatusLabel("▸", "Started", "busy");
            case "cancelled" -> new StatusLabel("⊘", "Cancelled", "calm");
            case "replayed" -> new StatusLabel("↺", "Replayed · duplicate", "good");
            case "conflict" -> new StatusLabel("✗", "Conflict", "bad");
            case "unknown" -> new StatusLabel("?", "Unknown", "doubt");
            case "active", "live", "fired", "accepted" -> new StatusLabel("●", capital(status), "good");
            case "expired", "released", "past" -> new StatusLabel("○", capital(status), "calm");
            case "lost" -> new StatusLabel("?", "Lost", "doubt");
            case "silent" -> new StatusLabel("⊘", "Silent", "calm");
            case "suppressed", "reused" -> new StatusLabel("↺", capital(status), "good");
            case "applying", "planning" -> new StatusLabel("▸", capital(status), "busy");
            case "done", "decided", "applied", "sent" -> new StatusLabel("✓", capital(status), "good");
            case "open" -> new StatusLabel("?", capital(status), "doubt");
            case "skipped" -> new StatusLabel("⊘", "Skipped", "calm");
            case "outdated", "rejected", "firing" -> new StatusLabel("✗", capital(status), "bad");
            case "" -> new StatusLabel("–", "", "calm");
            default -> new StatusLabel("·", capital(status.replace('_', ' ')), "calm");
        };
    }

    public static StatusLabel protection(String protection) {
        return switch (protection) {
            case "tx" -> new StatusLabel("●", "transactional", "good");
            case "provider_key" -> new StatusLabel("◐", "provider key", "good");
            case "lookup" -> new StatusLabel("⌕", "checks first", "good");
            case "at_most_once" -> new StatusLabel("◔", "at most once", "good");
            case "ask" -> new StatusLabel("?", "asks a user", "doubt");
            case "repeatable" -> new StatusLabel("○", "repeatable", "calm");
            case "none" -> new StatusLabel("▲", "unprotected", "bad");
            case "" -> new StatusLabel("–", "no effect", "calm");
            default -> new StatusLabel("·", protection, "calm");
        };
    }

    private static String capital(String word) {
        return word.isEmpty() ? word : Character.toUpperCase(word.charAt(0)) + word.substring(1);
    }
}
