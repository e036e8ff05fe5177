package dev.semel.server.doors;

import dev.semel.Semel;
import dev.semel.error.SemelException;
import dev.semel.json.Json;
import dev.semel.store.Edit;
import dev.semel.store.Review;
import dev.semel.store.Rows;
import dev.semel.store.Write;
import dev.semel.trigger.Door;
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
 * Tells people of questions that wait for them: as events, which any workflow may turn into a message. An event is named
 * after its question and its nominal time, so it is the same one whichever worker tells it, and however often.
 */
public final class Reminders implements AutoCloseable {
    /** The source of these events. */
    public static final String SOURCE = "semel:reviews";

    /** What their types begin with. */
    public static final String TYPE = "semel.review.";

    private static final Logger LOG = System.getLogger(Reminders.class.getName());
    private static final int AT_ONCE = 100;
    private static final long PAUSE_MILLIS = 5_000;

    private final Semel semel;
    private final EventDoor door;
    private final CountDownLatch closing = new CountDownLatch(1);

    public Reminders(Semel semel, EventDoor door) {
        this.semel = semel;
        this.door = door;
    }

    /** Looks again and again, until it is closed. */
    public Reminders start() {
        Thread.ofPlatform().daemon().name("review-reminders").start(this::lookUntilClosed);
        return this;
    }

    private void lookUntilClosed() {
        try {
            long pause = 0;
            while (!closing.await(pause, TimeUnit.MILLISECONDS)) {
                pause = looked() == AT_ONCE ? 0 : PAUSE_MILLIS;
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private int looked() {
        try {
            return look();
        } catch (RuntimeException e) {
            // The store is away, or a workflow refuses for now; what was not told is found again by the next look.
            LOG.log(Level.WARNING, "people were not told of a review; it is tried again: " + e.getMessage());
            return 0;
        }
    }

    /** Tells whatever is to be told by now; answers how many questions there were. */
    public int look() {
        long now = Objects.requireNonNull(semel.view(reads -> reads.now()));
        List<Review.Row> due =
                Objects.requireNonNull(semel.view(reads -> reads.reviews().tell(now, AT_ONCE)));
        for (Review.Row row : due) {
            tell(row, now);
        }
        return due.size();
    }

    private void tell(Review.Row row, long now) {
        Telling telling = Telling.of(row);
        Rows.Run run = semel.view(reads -> reads.run(row.ws(), row.run()));
        boolean waits = run != null
                && Boolean.TRUE.equals(semel.view(reads -> reads.reviews().isAsked(row)));
        if (run != null && waits && !isAboutReviews(run)) {
            for (String word : telling.words()) {
                door.deliver(row.ws(), event(row, telling, run, word), new Entrance(Door.EVENT, "semel", null));
            }
        }
        // CRASH(review-notified): the events are out and that is not written down. Told again, they are known.
        semel.point("review-notified");
        var told = new Review.Told(
                row.ws(), row.id(), row.nextAt(), waits ? telling.next(now) : Write.Rest.NEVER, telling.reviewer());
        var unused = semel.change(new Edit.Reviewing<>(told)); // false: another worker told it and wrote it down
    }

    /** A workflow that is started by these events must not make new ones: nobody would be there to stop them. */
    private boolean isAboutReviews(Rows.Run run) {
        try {
            return semel.version(run.workflowId(), run.version()).extras().doors().events().stream()
                    .anyMatch(one -> one.type().startsWith(TYPE)
                            || (one.isOpen()
                                    && TYPE.startsWith(
                                            one.type().substring(0, one.type().length() - 1))));
        } catch (SemelException e) {
            return false;
        }
    }

    private Event event(Review.Row row, Telling telling, Rows.Run run, String word) {
        String id = row.id() + "/" + row.version() + "/" + word + "/" + row.nextAt();
        Instant at = Instant.EPOCH.plus(row.nextAt(), ChronoUnit.MICROS);
        JsonNode question = Json.parse(row.question());
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
                "asked_at", Instant.EPOCH.plus(row.askedAt(), ChronoUnit.MICROS).toString());
        data.put(
                "due_at",
                row.dueAt() == Write.Rest.NEVER
                        ? null
                        : Instant.EPOCH.plus(row.dueAt(), ChronoUnit.MICROS).toString());
        ObjectNode whole = JsonNodeFactory.instance.objectNode();
        whole.put("specversion", "1.0").put("id", id).put("source", SOURCE).put("type", TYPE + word);
        whole.put("time", at.toString()).put("subject", row.id());
        whole.set("data", data);
        return new Event(SOURCE, id, TYPE + word, at, row.id(), data, whole);
    }

    @Override
    public void close() {
        closing.countDown();
    }
}
