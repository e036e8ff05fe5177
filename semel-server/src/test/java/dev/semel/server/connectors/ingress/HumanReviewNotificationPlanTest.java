package dev.semel.server.connectors.ingress;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.semel.run.RunId;
import dev.semel.store.HumanReviewStoreWriteCommand;
import dev.semel.store.StoreWrite;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** When somebody is notified of a question follows from the question alone. */
class HumanReviewNotificationPlanTest {
    private static final long ASKED = 1_000;

    private static HumanReviewStoreWriteCommand.ReviewRow row(long due, long next, String question) {
        return new HumanReviewStoreWriteCommand.ReviewRow(
                1,
                "rev_1",
                new RunId(1, 1),
                "pay",
                "wf_1",
                HumanReviewStoreWriteCommand.ReviewKind.DOUBT,
                1,
                "e",
                "role:ops",
                question,
                ASKED,
                due,
                next,
                0,
                "",
                "",
                "");
    }

    /** Each time with its words, as long as somebody is there at every one of them. */
    private static List<String> reported(long due, String question, int most) {
        List<String> reported = new ArrayList<>();
        long next = ASKED;
        while (next != StoreWrite.Suspension.NEVER && reported.size() < most) {
            HumanReviewNotificationPlan telling = HumanReviewNotificationPlan.of(row(due, next, question));
            reported.add(
                    next - ASKED + " " + String.join(" ", telling.dueNotifications()) + " to " + telling.reviewer());
            next = telling.nextAt(next);
        }
        return reported;
    }

    @Test
    void by_default_a_review_notifies_once_when_opened() {
        assertEquals(List.of("0 opened to role:ops"), reported(StoreWrite.Suspension.NEVER, "{}", 9));
    }

    @Test
    void reminders_repeat_and_escalation_and_due_time_notify_once() {
        String question = "{\"remind_after\":10,\"escalate_after\":25,\"escalate_to\":\"role:boss\"}";
        assertEquals(
                List.of(
                        "0 opened to role:ops",
                        "10 reminder to role:ops",
                        "20 reminder to role:ops",
                        "25 escalated to role:boss",
                        "30 overdue to role:ops",
                        "40 reminder to role:ops"),
                reported(ASKED + 30, question, 6));
    }

    @Test
    void reminders_missed_during_downtime_are_skipped_and_nothing_else_is() {
        String question = "{\"remind_after\":10,\"escalate_after\":25,\"escalate_to\":\"role:boss\"}";
        HumanReviewNotificationPlan late = HumanReviewNotificationPlan.of(row(ASKED + 30, ASKED, question));
        assertEquals(ASKED + 25, late.nextAt(ASKED + 100));
        assertEquals(
                ASKED + 30,
                HumanReviewNotificationPlan.of(row(ASKED + 30, ASKED + 25, question))
                        .nextAt(ASKED + 100));
        assertEquals(
                ASKED + 110,
                HumanReviewNotificationPlan.of(row(ASKED + 30, ASKED + 30, question))
                        .nextAt(ASKED + 100));
    }
}
