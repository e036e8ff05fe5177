package dev.semel.server.alerts;

import dev.semel.definition.ResultNotRecordable;
import dev.semel.definition.WorkflowCatalogEntry;
import dev.semel.error.SemelException;
import dev.semel.runtime.SemelRuntime;
import dev.semel.server.connectors.channel.NotificationMessage;
import dev.semel.server.connectors.ingress.ParallelTaskRunner;
import dev.semel.server.connectors.notification.NotificationDispatcher;
import dev.semel.server.monitoring.MetricPeriod;
import dev.semel.server.monitoring.WorkflowMetrics;
import dev.semel.server.settings.AlertSetting;
import dev.semel.server.settings.WorkspaceSettingRepositories;
import dev.semel.server.settings.WorkspaceSettingRepository;
import dev.semel.store.DatabaseRows;
import dev.semel.store.MetricCounter;
import dev.semel.store.MetricQueries;
import dev.semel.store.StoreFailure;
import dev.semel.store.StoreWriteCommand;
import dev.semel.workflow.Step;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** Every worker checks all workspaces; the state is in the store, and one worker notifies. */
public final class AlertMonitor implements AutoCloseable {
    private static final Logger LOG = System.getLogger(AlertMonitor.class.getName());
    private static final long CLAIM_MICROS = 60_000_000;
    private static final int PAGE = 200;
    private static final int FAILURES_COUNTED = 10_000;
    private static final int MOST_AT_ONCE = 64;
    private static final String ACTOR = "alerts";

    /** The audit action when an alert starts firing. */
    public static final String FIRED = "alert.fired";

    private static final String OVER = "alert.resolved";

    private final SemelRuntime semel;
    private final WorkspaceSettingRepositories settings;
    private final IntFunction<NotificationDispatcher> outboxes;
    private final CountDownLatch closing = new CountDownLatch(1);
    private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
    private final Semaphore places = new Semaphore(MOST_AT_ONCE);

    /** @param outboxes returns the message dispatcher of a workspace */
    public AlertMonitor(
            SemelRuntime semel, WorkspaceSettingRepositories settings, IntFunction<NotificationDispatcher> outboxes) {
        this.semel = semel;
        this.settings = settings;
        this.outboxes = outboxes;
    }

    /** Does not wait for notifications, so a slow one delays no other alert. */
    public void start(Duration pause) {
        Thread.ofPlatform().name("semel-alerts").daemon(true).start(() -> checkUntilClosed(pause));
    }

    private void checkUntilClosed(Duration pause) {
        try {
            while (!closing.await(pause.toMillis(), TimeUnit.MILLISECONDS)) {
                try {
                    checkAndCollect().forEach(this::submit);
                } catch (StoreFailure e) {
                    LOG.log(Level.DEBUG, "the store is unavailable; Semel checks the alerts again soon", e);
                } catch (RuntimeException e) {
                    LOG.log(Level.ERROR, "checking the alerts failed", e);
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
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
    public void checkAll() {
        ParallelTaskRunner.runAll(checkAndCollect(), Runnable::run);
    }

    /** Checks all alerts and returns the notifications to send. */
    private List<Runnable> checkAndCollect() {
        List<Runnable> due = new ArrayList<>();
        Integer ws = semel.view(reads -> reads.workspaceAfter(0));
        while (ws != null) {
            int one = ws;
            String after = "";
            List<DatabaseRows.SettingRow> page;
            do {
                page = settings.alerts().page(one, after, PAGE);
                for (DatabaseRows.SettingRow row : page) {
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
        WorkspaceSettingRepository.StoredSetting<AlertSetting> alert =
                settings.alerts().find(ws, name);
        if (alert == null) {
            return null;
        }
        long now = Objects.requireNonNull(semel.view(reads -> reads.now()));
        String workflowId = workflowId(ws, alert.value());
        if (workflowId == null) {
            return null;
        }
        ExpiringResends resends = new ExpiringResends(semel, ws, workflowId, alert.value(), now);
        double value = alert.value().isAboutResends() ? resends.count() : value(ws, workflowId, alert.value(), now);
        WorkspaceSettingRepository.StoredSetting<JsonNode> stored =
                settings.alertStates().find(ws, name);
        StoredState stand = stored == null
                ? new StoredState(AlertState.NEVER_FIRED, 0)
                : new StoredState(AlertState.parse(stored.value()), stored.version());
        AlertState next = stand.episode()
                .afterCheck(
                        value > alert.value().threshold(),
                        value,
                        now,
                        semel.newId(),
                        resends.list(),
                        resends.pauseMicros());
        if (!next.equals(stand.episode())) {
            stand = next.firing() == stand.episode().firing()
                    ? save(ws, name, stand, next)
                    : saveTransition(ws, alert, stand, next);
        }
        StoredState current = stand;
        return current != null && current.episode().mustNotify(now) ? () -> send(ws, alert, current, resends) : null;
    }

    private record StoredState(AlertState episode, int version) {}

    /** Null: another worker changed the state first and continues from there. */
    private @Nullable StoredState save(int ws, String name, StoredState before, AlertState next) {
        return saved(semel.change(prepareSave(ws, name, before, next)), next);
    }

    private StoreWriteCommand.SaveSetting prepareSave(int ws, String name, StoredState before, AlertState next) {
        return settings.alertStates()
                .preparePut(
                        new WorkspaceSettingRepository.SettingDraft(ws, name, next.toJson(), before.version(), ACTOR));
    }

    private static @Nullable StoredState saved(StoreWriteCommand.@Nullable SettingResult placed, AlertState next) {
        return placed instanceof StoreWriteCommand.SettingResult.Saved(DatabaseRows.SettingRow row)
                ? new StoredState(next, row.version())
                : null;
    }

    /** Saves the start or end of a firing together with an audit entry, which incident reports use. */
    private @Nullable StoredState saveTransition(
            int ws, WorkspaceSettingRepository.StoredSetting<AlertSetting> alert, StoredState before, AlertState next) {
        StoreWriteCommand.ChangeAuthor by = new StoreWriteCommand.ChangeAuthor(
                semel.newId(), ACTOR, AlertMessageRenderer.summarize(alert.value(), next));
        StoreWriteCommand.AuditEntry note =
                new StoreWriteCommand.AuditEntry(ws, next.firing() ? FIRED : OVER, alert.name(), by);
        StoreWriteCommand.SaveSetting put = prepareSave(ws, alert.name(), before, next);
        return saved(
                semel.change(new StoreWriteCommand.AuditedCommand<>(
                        put, placed -> placed instanceof StoreWriteCommand.SettingResult.Saved, note)),
                next);
    }

    private void send(
            int ws,
            WorkspaceSettingRepository.StoredSetting<AlertSetting> alert,
            StoredState stand,
            ExpiringResends resends) {
        AlertState claim = stand.episode().withNotifyingUntil(resends.now() + CLAIM_MICROS);
        StoredState claimed = save(ws, alert.name(), stand, claim);
        if (claimed == null) {
            return;
        }
        AlertState episode = claimed.episode();
        NotificationMessage message = NotificationMessage.of(
                alert.value().to(),
                AlertMessageRenderer.render(alert.name(), alert.value(), episode, resends.describe(episode)));
        AlertState after;
        try {
            outboxes.apply(ws)
                    .channel(alert.value().channel())
                    .send(new NotificationStep(episode.notificationKey(), episode.attempts()), message);
            after = episode.withNotified();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return;
        } catch (ResultNotRecordable _) {
            after = episode.withNotified(); // the receiver accepted it; only its answer is unusable
        } catch (Exception e) {
            after = episode.withFailure(describe(e));
            LOG.log(Level.WARNING, "sending alert {0} failed: {1}", alert.name(), describe(e));
        }
        // CRASH(alert-sent): the alert was sent and that is not recorded. A worker sends it again with the same key.
        semel.crashPoint("alert-sent");
        save(ws, alert.name(), claimed, after);
    }

    private static String describe(Exception e) {
        String text =
                e instanceof SemelException ours ? ours.detail() : e.getClass().getSimpleName();
        return text.length() > 200 ? text.substring(0, 200) : text;
    }

    private record NotificationStep(String key, int attempt) implements Step {
        @Override
        public String id() {
            return key;
        }
    }

    /** Empty for all workflows; null if the workflow of the alert does not exist. */
    private @Nullable String workflowId(int ws, AlertSetting alert) {
        if (alert.workflow() == null) {
            return "";
        }
        WorkflowCatalogEntry workflow = semel.workflow(ws, alert.workflow());
        return workflow == null ? null : workflow.published().workflowId();
    }

    private double value(int ws, String workflowId, AlertSetting alert, long now) {
        MetricPeriod period =
                MetricPeriod.of(now - TimeUnit.SECONDS.toMicros(alert.window().toSeconds()), now, now);
        MetricQueries.MetricRange range = period.of(ws, workflowId, "");
        Map<String, WorkflowMetrics> all =
                Objects.requireNonNull(semel.view(reads -> WorkflowMetrics.byWorkflow(reads.metrics(), range)));
        WorkflowMetrics numbers = WorkflowMetrics.total(all);
        return switch (alert.metric()) {
            case "conflict_rate" -> numbers.conflictRate();
            case "conflicts" -> (double) numbers.count(MetricCounter.CONFLICT);
            case "duplicates_prevented" -> (double) numbers.duplicatesPrevented();
            case "retry_recoveries" -> (double) numbers.count(MetricCounter.RECOVERED);
            case "expired_key_retries" -> (double) numbers.count(MetricCounter.EXPIRED);
            case "repeated_writes" -> (double) (numbers.namedWrites() - numbers.objects());
            case "in_doubt" -> (double) numbers.inDoubt();
            case "in_doubt_oldest" -> numbers.oldestInDoubtAt() == 0 ? 0 : (now - numbers.oldestInDoubtAt()) / 1e6;
            case "failed_runs" ->
                (double) Objects.requireNonNull(
                                semel.view(reads -> reads.metrics().failures(range, FAILURES_COUNTED)))
                        .runs();
            case "unprotected_effects" -> (double) numbers.count(MetricCounter.UNPROTECTED);
            default -> (double) numbers.count(MetricCounter.UNKEYED);
        };
    }

    @Override
    public void close() {
        closing.countDown();
        threads.shutdown(); // running sends may finish; the next check sends the others
    }
}
