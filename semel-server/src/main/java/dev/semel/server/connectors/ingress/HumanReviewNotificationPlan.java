package dev.semel.server.connectors.ingress;

import dev.semel.json.StrictJsonCodec;
import dev.semel.store.HumanReviewStoreWriteCommand;
import dev.semel.store.StoreWrite;
import java.util.ArrayList;
import java.util.List;
import tools.jackson.databind.JsonNode;

/**
 * Computes which events about a review are due and when the next one is: asked, reminder, escalated, overdue. It
 * depends only on the stored review, so every worker gets the same result.
 */
record HumanReviewNotificationPlan(
        HumanReviewStoreWriteCommand.ReviewRow row, long remind, long escalate, String escalateTo) {
    /** Most reminders of one review. */
    private static final int MOST_REMINDERS = 1_000;

    static HumanReviewNotificationPlan of(HumanReviewStoreWriteCommand.ReviewRow row) {
        JsonNode question = StrictJsonCodec.parse(row.question());
        return new HumanReviewNotificationPlan(
                row,
                question.path("remind_after").asLong(0),
                question.path("escalate_after").asLong(0),
                question.path("escalate_to").asString(""));
    }

    /** The events due at the stored next time. */
    List<String> dueNotifications() {
        long at = row.nextReminderAt();
        long since = at - row.openedAt();
        List<String> words = new ArrayList<>();
        if (since == 0) {
            words.add("opened");
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
    long nextAt(long now) {
        long at = row.nextReminderAt();
        long next = StoreWrite.Suspension.NEVER;
        if (escalate > 0 && row.openedAt() + escalate > at) {
            next = Math.min(next, row.openedAt() + escalate);
        }
        if (row.dueAt() > at) {
            next = Math.min(next, row.dueAt());
        }
        long passed = remind == 0 ? 0 : (Math.max(at, now) - row.openedAt()) / remind;
        if (remind > 0 && passed < MOST_REMINDERS) {
            next = Math.min(next, row.openedAt() + (passed + 1) * remind);
        }
        return next;
    }

    /** The reviewer after the due events. */
    String reviewer() {
        return dueNotifications().contains("escalated") ? escalateTo : row.reviewer();
    }
}
