package dev.semel.server.connectors.ingress;

import dev.semel.admission.TriggerSource;
import dev.semel.error.SemelException;
import dev.semel.json.StrictJsonCodec;
import dev.semel.runtime.SemelRuntime;
import dev.semel.store.DatabaseRows;
import dev.semel.store.HumanReviewStoreWriteCommand;
import dev.semel.store.StoreWrite;
import dev.semel.store.StoreWriteCommand;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/**
 * Publishes events about open reviews (asked, reminder, escalated, overdue) that workflows may turn into messages.
 * Event ids derive from review and nominal time, so every worker publishes the same events.
 */
public final class HumanReviewNotifier implements AutoCloseable {
    public static final String SOURCE = "semel:reviews";

    /** Prefix of their types. */
    public static final String TYPE = "semel.review.";

    private static final Logger LOG = System.getLogger(HumanReviewNotifier.class.getName());
    private static final int AT_ONCE = 100;
    private static final long PAUSE_MILLIS = 5_000;

    private final SemelRuntime semel;
    private final InboundEventProcessor eventIngress;
    private final CountDownLatch closing = new CountDownLatch(1);

    public HumanReviewNotifier(SemelRuntime semel, InboundEventProcessor eventIngress) {
        this.semel = semel;
        this.eventIngress = eventIngress;
    }

    /** Starts the background thread, which runs until {@link #close}. */
    public HumanReviewNotifier start() {
        Thread.ofPlatform().daemon().name("review-reminders").start(this::publishUntilClosed);
        return this;
    }

    private void publishUntilClosed() {
        try {
            long pause = 0;
            while (!closing.await(pause, TimeUnit.MILLISECONDS)) {
                pause = publishOrLog() == AT_ONCE ? 0 : PAUSE_MILLIS;
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private int publishOrLog() {
        try {
            return publishDue();
        } catch (RuntimeException e) {
            // The store is unavailable, or a workflow rejects for now; the next pass finds the event again.
            LOG.log(Level.WARNING, "could not publish the events of a review; Semel tries again: " + e.getMessage());
            return 0;
        }
    }

    /** Publishes all due events; returns the number of reviews. */
    public int publishDue() {
        long now = Objects.requireNonNull(semel.view(reads -> reads.now()));
        List<HumanReviewStoreWriteCommand.ReviewRow> due =
                Objects.requireNonNull(semel.view(reads -> reads.reviews().dueReminders(now, AT_ONCE)));
        for (HumanReviewStoreWriteCommand.ReviewRow row : due) {
            publish(row, now);
        }
        return due.size();
    }

    private void publish(HumanReviewStoreWriteCommand.ReviewRow row, long now) {
        HumanReviewNotificationPlan telling = HumanReviewNotificationPlan.of(row);
        DatabaseRows.RunRow run = semel.view(reads -> reads.run(row.ws(), row.run()));
        boolean waits = run != null
                && Boolean.TRUE.equals(semel.view(reads -> reads.reviews().isStillOpen(row)));
        if (run != null && waits && !isAboutReviews(run)) {
            for (String word : telling.dueNotifications()) {
                eventIngress.deliver(
                        row.ws(),
                        event(row, telling, run, word),
                        new InboundEventOrigin(TriggerSource.EVENT, "semel", null));
            }
        }
        // CRASH(review-notified): the events are published and that is not recorded. A repeat is a duplicate.
        semel.crashPoint("review-notified");
        var recordReminder = new HumanReviewStoreWriteCommand.RecordReminder(
                row.ws(),
                row.id(),
                row.nextReminderAt(),
                waits ? telling.nextAt(now) : StoreWrite.Suspension.NEVER,
                telling.reviewer());
        var unused = semel.change(new StoreWriteCommand.ReviewCommand<>(
                recordReminder)); // false: another worker published and recorded it
    }

    /** A workflow that these events start must not publish new ones: that would be an endless loop. */
    private boolean isAboutReviews(DatabaseRows.RunRow run) {
        try {
            return semel.version(run.workflowId(), run.version()).options().triggers().events().stream()
                    .anyMatch(one -> one.type().startsWith(TYPE)
                            || (one.isPrefix()
                                    && TYPE.startsWith(
                                            one.type().substring(0, one.type().length() - 1))));
        } catch (SemelException e) {
            return false;
        }
    }

    private InboundEvent event(
            HumanReviewStoreWriteCommand.ReviewRow row,
            HumanReviewNotificationPlan telling,
            DatabaseRows.RunRow run,
            String word) {
        String id = row.id() + "/" + row.version() + "/" + word + "/" + row.nextReminderAt();
        Instant at = Instant.EPOCH.plus(row.nextReminderAt(), ChronoUnit.MICROS);
        JsonNode question = StrictJsonCodec.parse(row.question());
        ObjectNode data = JsonNodeFactory.instance.objectNode();
        data.put("review_id", row.id());
        data.put("version", row.version());
        data.put("kind", row.kind().name().toLowerCase(java.util.Locale.ROOT));
        data.put("to", telling.reviewer());
        data.put("title", question.path("title").asString(""));
        data.put("link", question.path("link").asString(""));
        data.put("workflow", semel.version(run.workflowId(), run.version()).name());
        data.put("run_id", run.runIdText());
        data.put("step", row.step());
        data.put(
                "opened_at",
                Instant.EPOCH.plus(row.openedAt(), ChronoUnit.MICROS).toString());
        data.put(
                "due_at",
                row.dueAt() == StoreWrite.Suspension.NEVER
                        ? null
                        : Instant.EPOCH.plus(row.dueAt(), ChronoUnit.MICROS).toString());
        ObjectNode whole = JsonNodeFactory.instance.objectNode();
        whole.put("specversion", "1.0").put("id", id).put("source", SOURCE).put("type", TYPE + word);
        whole.put("time", at.toString()).put("subject", row.id());
        whole.set("data", data);
        return InboundEvent.of(whole);
    }

    @Override
    public void close() {
        closing.countDown();
    }
}
