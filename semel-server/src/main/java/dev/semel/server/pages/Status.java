package dev.semel.server.pages;

/** The label of a status: symbol, text and colour class, so that colour is never the only sign. */
public record Status(String mark, String word, String tone) {
    public static Status of(String status) {
        return switch (status) {
            case "completed" -> new Status("✓", "Completed", "good");
            case "failed" -> new Status("✗", "Failed", "bad");
            case "in_doubt" -> new Status("?", "In doubt", "doubt");
            case "waiting" -> new Status("‖", "Waiting", "calm");
            case "queued" -> new Status("…", "Queued", "calm");
            case "running" -> new Status("▸", "Running", "busy");
            case "started" -> new Status("▸", "Started", "busy");
            case "cancelled" -> new Status("⊘", "Cancelled", "calm");
            case "replayed" -> new Status("↺", "Replayed · duplicate", "good");
            case "conflict" -> new Status("✗", "Conflict", "bad");
            case "unknown" -> new Status("?", "Unknown", "doubt");
            case "active", "live", "fired", "accepted" -> new Status("●", capital(status), "good");
            case "expired", "released", "past" -> new Status("○", capital(status), "calm");
            case "silent" -> new Status("⊘", "Silent", "calm");
            case "suppressed", "reused" -> new Status("↺", capital(status), "good");
            case "applying", "making" -> new Status("▸", capital(status), "busy");
            case "done", "decided", "applied", "sent" -> new Status("✓", capital(status), "good");
            case "open", "asked" -> new Status("?", capital(status), "doubt");
            case "refused" -> new Status("✗", "Rejected", "bad");
            case "left_out" -> new Status("⊘", "Skipped", "calm");
            case "outdated", "rejected", "firing" -> new Status("✗", capital(status), "bad");
            case "" -> new Status("–", "", "calm");
            default -> new Status("·", capital(status.replace('_', ' ')), "calm");
        };
    }

    /** The label of an effect's protection. */
    public static Status protection(String protection) {
        return switch (protection) {
            case "tx" -> new Status("●", "transactional", "good");
            case "provider_key" -> new Status("◐", "provider key", "good");
            case "lookup" -> new Status("⌕", "checks first", "good");
            case "at_most_once" -> new Status("◔", "at most once", "good");
            case "ask" -> new Status("?", "asks a user", "doubt");
            case "repeatable" -> new Status("○", "repeatable", "calm");
            case "none" -> new Status("▲", "unprotected", "bad");
            case "" -> new Status("–", "no effect", "calm");
            default -> new Status("·", protection, "calm");
        };
    }

    private static String capital(String word) {
        return word.isEmpty() ? word : Character.toUpperCase(word.charAt(0)) + word.substring(1);
    }
}
