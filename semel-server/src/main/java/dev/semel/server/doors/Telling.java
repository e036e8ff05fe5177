package dev.semel.server.doors;

import dev.semel.json.Json;
import dev.semel.store.Review;
import dev.semel.store.Write;
import java.util.ArrayList;
import java.util.List;
import tools.jackson.databind.JsonNode;

/**
 * When somebody is told of a question, and of what: that it is asked, each reminder, that it goes to somebody else, that
 * it is due. All of it follows from the question and the time at which it was asked, so whoever reckons it gets the same.
 */
record Telling(Review.Row row, long remind, long escalate, String escalateTo) {
    /** More often nobody is reminded of one question. */
    private static final int MOST_REMINDERS = 1_000;

    static Telling of(Review.Row row) {
        JsonNode question = Json.parse(row.question());
        return new Telling(
                row,
                question.path("remind_after").asLong(0),
                question.path("escalate_after").asLong(0),
                question.path("escalate_to").asString(""));
    }

    /** What is told at the time that comes next. */
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

    /** When something is told after that; reminders for which nobody was there are left out, anything else is not. */
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

    /** Who is to decide once this was told. */
    String reviewer() {
        return words().contains("escalated") ? escalateTo : row.reviewer();
    }
}
