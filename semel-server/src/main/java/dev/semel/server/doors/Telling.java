package dev.semel.server.doors;

import dev.semel.json.Json;
import dev.semel.store.Review;
import dev.semel.store.Write;
import java.util.ArrayList;
import java.util.List;
import tools.jackson.databind.JsonNode;

/**
 * Computes which events about a review are due and when the next one is: asked, reminder, escalated, overdue. It
 * depends only on the stored review, so every worker gets the same result.
 */
record Telling(Review.Row row, long remind, long escalate, String escalateTo) {
    /** Most reminders of one review. */
    private static final int MOST_REMINDERS = 1_000;

    static Telling of(Review.Row row) {
        JsonNode question = Json.parse(row.question());
        return new Telling(
                row,
                question.path("remind_after").asLong(0),
                question.path("escalate_after").asLong(0),
                question.path("escalate_to").asString(""));
    }

    /** The events due at the stored next time. */
    List<String> words() {
        long at = row.nextAt();
        long since = at - row.askedAt();
        List<String> words = new ArrayList<>();
        if (since == 0) {
            words.add("asked");
        }
        if (escalate > 0 && since == escalate) {
            words.add("escalated");
        }
        if (at == row.dueAt()) {
            words.add("overdue");
        }
        if (remind > 0 && since > 0 && since % remind == 0 && words.isEmpty()) {
            words.add("reminder");
        }
        return words;
    }

    /** The time of the next event; missed reminders are skipped, other events are not. */
    long next(long now) {
        long at = row.nextAt();
        long next = Write.Rest.NEVER;
        if (escalate > 0 && row.askedAt() + escalate > at) {
            next = Math.min(next, row.askedAt() + escalate);
        }
        if (row.dueAt() > at) {
            next = Math.min(next, row.dueAt());
        }
        long passed = remind == 0 ? 0 : (Math.max(at, now) - row.askedAt()) / remind;
        if (remind > 0 && passed < MOST_REMINDERS) {
            next = Math.min(next, row.askedAt() + (passed + 1) * remind);
        }
        return next;
    }

    /** The reviewer after the due events. */
    String reviewer() {
        return words().contains("escalated") ? escalateTo : row.reviewer();
    }
}
