package dev.semel.server.alerts;

import dev.semel.Semel;
import dev.semel.error.SemelException;
import dev.semel.server.channel.Message;
import dev.semel.server.channel.Outbox;
import dev.semel.server.doors.SideBySide;
import dev.semel.server.settings.AlertSetting;
import dev.semel.server.settings.Settings;
import dev.semel.server.settings.Shelf;
import dev.semel.server.signals.Numbers;
import dev.semel.server.signals.Period;
import dev.semel.store.Edit;
import dev.semel.store.Figure;
import dev.semel.store.Figures;
import dev.semel.store.Rows;
import dev.semel.store.StoreFailure;
import dev.semel.workflow.Current;
import dev.semel.workflow.Step;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * Checks the alerts of all workspaces periodically and sends notifications. Every worker checks; the state is in the
 * store, and one worker notifies.
 */
public final class Watch implements AutoCloseable {
    private static final Logger LOG = System.getLogger(Watch.class.getName());
    private static final long CLAIM_MICROS = 60_000_000;
    private static final int PAGE = 200;
    private static final int FAILURES_COUNTED = 10_000;
    private static final int MOST_AT_ONCE = 64;
    private static final String ACTOR = "alerts";

    /** The audit action when an alert starts firing. */
    public static final String FIRED = "alert.fired";

    private static final String OVER = "alert.over";

    private final Semel semel;
    private final Settings settings;
    private final IntFunction<Outbox> outboxes;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition wake = lock.newCondition();
    private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
    private final Semaphore places = new Semaphore(MOST_AT_ONCE);
    private boolean closing;

    /** @param outboxes returns the message dispatcher of a workspace */
    public Watch(Semel semel, Settings settings, IntFunction<Outbox> outboxes) {
        this.semel = semel;
        this.settings = settings;
        this.outboxes = outboxes;
    }

    /**
     * Checks at this interval until closed. It does not wait for notifications, so a slow one delays no other alert.
     */
    public void every(Duration pause) {
        Thread.ofPlatform().name("semel-alerts").daemon(true).start(() -> {
            while (waitFor(pause)) {
                try {
                    checkAndCollect().forEach(this::submit);
                } catch (StoreFailure e) {
                    LOG.log(Level.DEBUG, "the store is unavailable; Semel checks the alerts again soon", e);
                } catch (RuntimeException e) {
                    LOG.log(Level.ERROR, "checking the alerts failed", e);
                }
            }
        });
    }

    private boolean waitFor(Duration pause) {
        lock.lock();
        try {
            long left = TimeUnit.MILLISECONDS.toNanos(pause.toMillis());
            while (!closing && left > 0) {
                left = wake.awaitNanos(left);
            }
            return !closing;
        } catch (InterruptedException e) {
            return false;
        } finally {
            lock.unlock();
        }
    }

    /** Sends in the background; notifications above the limit wait for a later check. */
    private void submit(Runnable notification) {
        if (!places.tryAcquire()) {
            return;
        }
        threads.execute(() -> {
            try {
                notification.run();
            } catch (StoreFailure e) {
                LOG.log(Level.DEBUG, "the store is unavailable; Semel sends the alert again in a minute", e);
            } catch (RuntimeException e) {
                LOG.log(Level.ERROR, "sending an alert failed", e);
            } finally {
                places.release();
            }
        });
    }

    /** Checks all alerts once and returns after their notifications were sent or failed. */
    public void look() {
        SideBySide.each(checkAndCollect(), Runnable::run);
    }

    /** Checks all alerts and returns the notifications to send. */
    private List<Runnable> checkAndCollect() {
        List<Runnable> due = new ArrayList<>();
        Integer ws = semel.view(reads -> reads.workspaceAfter(0));
        while (ws != null) {
            int one = ws;
            String after = "";
            List<Rows.Setting> page;
            do {
                page = settings.alerts().page(one, after, PAGE);
                for (Rows.Setting row : page) {
                    after = row.name();
                    checkOrLog(one, row.name(), due);
                }
            } while (page.size() == PAGE);
            ws = semel.view(reads -> reads.workspaceAfter(one));
        }
        return due;
    }

    /** A failed check does not affect other alerts. */
    private void checkOrLog(int ws, String name, List<Runnable> due) {
        try {
            Runnable notification = check(ws, name);
            if (notification != null) {
                due.add(notification);
            }
        } catch (SemelException e) {
            LOG.log(Level.ERROR, "checking alert " + name + " failed", e);
        }
    }

    /** Returns the notification to send; null if there is none. */
    private @Nullable Runnable check(int ws, String name) {
        Shelf.Kept<AlertSetting> alert = settings.alerts().find(ws, name);
        if (alert == null) {
            return null;
        }
        long now = Objects.requireNonNull(semel.view(reads -> reads.now()));
        Double value = value(ws, alert.value(), now);
        Shelf.Kept<JsonNode> kept = settings.alarms().find(ws, name);
        Stand stand = kept == null ? new Stand(Episode.QUIET, 0) : new Stand(Episode.of(kept.value()), kept.version());
        Episode next = value == null
                ? stand.episode()
                : stand.episode().after(value > alert.value().above(), value, now, semel.newId());
        if (!next.equals(stand.episode())) {
            stand = saveTransition(ws, alert, stand, next);
        }
        Stand current = stand;
        return current != null && current.episode().mustTell(now) ? () -> send(ws, alert, current, now) : null;
    }

    /** The alert state with its stored version. */
    private record Stand(Episode episode, int version) {}

    /** Null: another worker changed the state first and continues from there. */
    private @Nullable Stand save(int ws, String name, Stand before, Episode next) {
        return saved(semel.change(prepareSave(ws, name, before, next)), next);
    }

    private Edit.Put prepareSave(int ws, String name, Stand before, Episode next) {
        return settings.alarms().putting(new Shelf.Draft(ws, name, next.json(), before.version(), ACTOR));
    }

    private static @Nullable Stand saved(Edit.@Nullable Placed placed, Episode next) {
        return placed instanceof Edit.Placed.Now(Rows.Setting row) ? new Stand(next, row.version()) : null;
    }

    /** Saves the start or end of a firing together with an audit entry, which incident reports use. */
    private @Nullable Stand saveTransition(int ws, Shelf.Kept<AlertSetting> alert, Stand before, Episode next) {
        Edit.By by = new Edit.By(semel.newId(), ACTOR, Wording.bound(alert.value(), next));
        Edit.Note note = new Edit.Note(ws, next.firing() ? FIRED : OVER, alert.name(), by);
        Edit.Put put = prepareSave(ws, alert.name(), before, next);
        return saved(semel.change(new Edit.Noted<>(put, placed -> placed instanceof Edit.Placed.Now, note)), next);
    }

    private void send(int ws, Shelf.Kept<AlertSetting> alert, Stand stand, long now) {
        Stand claimed = save(ws, alert.name(), stand, stand.episode().telling(now + CLAIM_MICROS));
        if (claimed == null) {
            return;
        }
        Episode episode = claimed.episode();
        Message message = Message.of(alert.value().to(), Wording.of(alert.name(), alert.value(), episode));
        Episode after;
        try {
            outboxes.apply(ws)
                    .channel(alert.value().channel())
                    .send(new Telling(episode.key(), episode.attempts()), message);
            after = episode.done();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return;
        } catch (Exception e) {
            after = episode.failed(describe(e));
            LOG.log(Level.WARNING, "sending alert {0} failed: {1}", alert.name(), describe(e));
        }
        // CRASH(alert-sent): the alert was sent and that is not recorded. A worker sends it again with the same key.
        semel.point("alert-sent");
        save(ws, alert.name(), claimed, after);
    }

    private static String describe(Exception e) {
        String text =
                e instanceof SemelException ours ? ours.detail() : e.getClass().getSimpleName();
        return text.length() > 200 ? text.substring(0, 200) : text;
    }

    private record Telling(String key, int attempt) implements Step {
        @Override
        public String id() {
            return key;
        }
    }

    /** Null if its workflow does not exist. */
    private @Nullable Double value(int ws, AlertSetting alert, long now) {
        String workflowId = "";
        if (alert.workflow() != null) {
            Current workflow = semel.workflow(ws, alert.workflow());
            if (workflow == null) {
                return null;
            }
            workflowId = workflow.published().workflowId();
        }
        Period period = Period.of(now - TimeUnit.SECONDS.toMicros(alert.over().toSeconds()), now, now);
        Figures.Range range = period.of(ws, workflowId, "");
        Map<String, Numbers> all =
                Objects.requireNonNull(semel.view(reads -> Numbers.byWorkflow(reads.figures(), range)));
        Numbers numbers = Numbers.total(all);
        return switch (alert.signal()) {
            case "conflict_rate" -> numbers.conflictRate();
            case "conflicts" -> (double) numbers.of(Figure.CONFLICT);
            case "duplicates_prevented" -> (double) numbers.prevented();
            case "retry_recoveries" -> (double) numbers.of(Figure.RECOVERED);
            case "expired_key_retries" -> (double) numbers.of(Figure.EXPIRED);
            case "repeated_writes" -> (double) (numbers.named() - numbers.objects());
            case "in_doubt" -> (double) numbers.inDoubt();
            case "in_doubt_oldest" -> numbers.oldestDoubt() == 0 ? 0 : (now - numbers.oldestDoubt()) / 1e6;
            case "failed_runs" ->
                (double) Objects.requireNonNull(
                                semel.view(reads -> reads.figures().failures(range, FAILURES_COUNTED)))
                        .runs();
            case "unprotected_effects" -> (double) numbers.of(Figure.UNPROTECTED);
            default -> (double) numbers.of(Figure.UNKEYED);
        };
    }

    @Override
    public void close() {
        lock.lock();
        try {
            closing = true;
            wake.signalAll();
        } finally {
            lock.unlock();
        }
        threads.shutdown(); // running sends may finish; the next check sends the others
    }
}
