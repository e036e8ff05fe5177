package dev.semel.engine.timer;

import dev.semel.admission.ConcurrencyAndRateLimitCalculator;
import dev.semel.admission.RunDeduplicationKey;
import dev.semel.admission.RunDeduplicationKeyRecord;
import dev.semel.admission.TriggerDeduplicationKeyDerivation;
import dev.semel.definition.WorkflowVersion;
import dev.semel.engine.commit.GroupCommitter;
import dev.semel.engine.commit.StoreQueryThreadPool;
import dev.semel.engine.run.WorkflowCatalog;
import dev.semel.json.StrictJsonCodec;
import dev.semel.run.MicrosecondConverter;
import dev.semel.schedule.Schedule;
import dev.semel.schedule.ScheduleTickDecision;
import dev.semel.schedule.ScheduleTickOutcome;
import dev.semel.store.DatabaseRows;
import dev.semel.store.ScheduleQueries;
import dev.semel.store.StoreFailure;
import dev.semel.store.StoreWrite;
import dev.semel.store.StoreWriteCommand;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** Every worker checks whenever the catalog changed; the store lets one of them write. */
final class WorkflowScheduleSynchronizer {
    private static final Logger LOG = System.getLogger(WorkflowScheduleSynchronizer.class.getName());
    private static final int AT_ONCE = 1_000;
    private static final int STARTED_AT_ONCE = 500;
    private static final List<String> TIMES = List.of("cron", "zone", "every", "anchor", "start", "end");

    private final GroupCommitter committer;
    private final StoreQueryThreadPool readers;
    private final WorkflowCatalog catalog;
    private final ScheduleTickBackoff backoff;
    private final Map<String, Integer> syncedVersions = new ConcurrentHashMap<>();
    private volatile long change = -1;

    WorkflowScheduleSynchronizer(
            GroupCommitter committer,
            StoreQueryThreadPool readers,
            WorkflowCatalog catalog,
            ScheduleTickBackoff backoff) {
        this.committer = committer;
        this.readers = readers;
        this.catalog = catalog;
        this.backoff = backoff;
    }

    boolean isUpToDate() {
        return change == catalog.changeCounter() && change >= 0;
    }

    /** Marks a workflow for another check, because its code or text changed here. */
    void invalidate(String workflowId) {
        syncedVersions.remove(workflowId);
        change = -1;
    }

    /** Checks all workflows. Returns true if something may have changed. */
    boolean synchronizeAll() {
        if (catalog.changeCounter() < 0) {
            catalog.refresh(); // not read yet
        }
        long seen = catalog.changeCounter();
        if (seen == change) {
            return false;
        }
        boolean all = true;
        String last = "";
        List<ScheduleQueries.CurrentVersion> page;
        do {
            String after = last;
            page = readers.read(reads -> reads.schedules().currentVersions(after, AT_ONCE));
            for (ScheduleQueries.CurrentVersion one : page) {
                all &= Objects.equals(syncedVersions.get(one.workflowId()), one.version()) || synchronize(one);
            }
            last = page.isEmpty() ? "" : page.getLast().workflowId();
        } while (page.size() == AT_ONCE);
        if (all) {
            change = seen;
        }
        return true;
    }

    /** Returns false if it must be retried. Any thread may call it: the store lets one write. */
    boolean synchronize(ScheduleQueries.CurrentVersion one) {
        WorkflowVersion version;
        try {
            version = catalog.version(one.workflowId(), one.version());
        } catch (WorkflowCatalog.WorkflowNotRegistered e) {
            return true; // a worker with its code does this, and so does this one after a registration
        } catch (StoreFailure e) {
            throw e;
        } catch (RuntimeException e) {
            LOG.log(
                    Level.ERROR,
                    "the schedules of workflow " + one.workflowId()
                            + " stay unchanged, because this worker cannot read workflow version " + one.version()
                            + ": " + e.getMessage());
            syncedVersions.put(one.workflowId(), one.version());
            return true;
        }
        applyConcurrencyLimit(version);
        List<Schedule> wanted = version.options().triggers().schedules();
        Seen seen =
                readers.read(reads -> new Seen(reads.now(), reads.schedules().ofWorkflow(one.workflowId())));
        boolean there = isSynchronized(wanted, seen.rows());
        boolean done = there || committer.execute(toEdit(one, wanted, seen));
        if (done) {
            syncedVersions.put(one.workflowId(), one.version());
        }
        if (done && !there) {
            backoff.clear(one.workflowId());
        }
        return done;
    }

    /** Queued runs have the limit of the version that admitted them, so a raised limit must reach them too. */
    private void applyConcurrencyLimit(WorkflowVersion version) {
        String queue = ConcurrencyAndRateLimitCalculator.maxConcurrentQueue(version.workflowId());
        Integer most = version.options().concurrency().maxConcurrent();
        int limit = most == null ? Integer.MAX_VALUE : most;
        if (readers.read(reads -> reads.hasOtherLimit(queue, limit))) {
            int started;
            do {
                started = committer.execute(new StoreWriteCommand.SetConcurrencyLimit(queue, limit, STARTED_AT_ONCE));
            } while (started == STARTED_AT_ONCE);
        }
    }

    private record Seen(long now, List<DatabaseRows.ScheduleRow> rows) {}

    private static boolean isSynchronized(List<Schedule> wanted, List<DatabaseRows.ScheduleRow> rows) {
        return wanted.size() == rows.size()
                && wanted.stream().allMatch(schedule -> {
                    DatabaseRows.ScheduleRow row = find(rows, schedule.name());
                    return row != null && row.spec().equals(schedule.toJson());
                });
    }

    private StoreWriteCommand.SaveSchedules toEdit(
            ScheduleQueries.CurrentVersion one, List<Schedule> wanted, Seen seen) {
        List<StoreWriteCommand.ScheduleUpdate> rows = new ArrayList<>();
        for (Schedule schedule : wanted) {
            DatabaseRows.ScheduleRow before = find(seen.rows(), schedule.name());
            String text = schedule.toJson();
            // An edit that does not change the times keeps the next tick.
            Instant next = before != null && hasSameTimes(before.spec(), text)
                    ? ScheduleTickPlan.instant(before.nextNominal())
                    : schedule.nextAfter(Objects.requireNonNull(ScheduleTickPlan.instant(seen.now())));
            rows.add(new StoreWriteCommand.ScheduleUpdate(
                    schedule.name(),
                    text,
                    next == null ? StoreWrite.Suspension.NEVER : MicrosecondConverter.of(next),
                    next == null
                            ? StoreWrite.Suspension.NEVER
                            : MicrosecondConverter.of(schedule.firesAt(one.workflowId(), next)),
                    before));
        }
        List<StoreWriteCommand.AbandonedTicks> left = new ArrayList<>();
        for (DatabaseRows.ScheduleRow row : seen.rows()) {
            boolean stays = rows.stream()
                    .anyMatch(laid -> laid.name().equals(row.name()) && laid.nextNominal() == row.nextNominal());
            StoreWriteCommand.AbandonedTicks abandoned = stays ? null : left(row, seen.now());
            if (abandoned != null) {
                left.add(abandoned);
            }
        }
        return new StoreWriteCommand.SaveSchedules(one.ws(), one.workflowId(), one.version(), rows, left);
    }

    /** Records the due ticks of a schedule that is deleted or gets other times. Null: the store records them. */
    private StoreWriteCommand.@Nullable AbandonedTicks left(DatabaseRows.ScheduleRow row, long now) {
        Instant nominal = ScheduleTickPlan.instant(row.nextNominal());
        Schedule schedule = row.nextNominal() > now ? null : read(row);
        if (schedule == null) {
            return null;
        }
        List<Instant> times = new ArrayList<>();
        while (nominal != null
                && MicrosecondConverter.of(nominal) <= now
                && times.size() < ScheduleTickPlan.MAX_TICKS) {
            times.add(nominal);
            nominal = schedule.nextAfter(nominal);
        }
        boolean more = nominal != null && MicrosecondConverter.of(nominal) <= now;
        List<@Nullable RunDeduplicationKeyRecord> keyRecords = runs(row, schedule, times);
        List<DatabaseRows.TickRow> ticks = new ArrayList<>();
        for (int i = 0; i < times.size(); i++) {
            RunDeduplicationKeyRecord run = keyRecords.isEmpty() ? null : keyRecords.get(i);
            ticks.add(new DatabaseRows.TickRow(
                    row.workflowId(),
                    row.name(),
                    MicrosecondConverter.of(times.get(i)),
                    run == null ? ScheduleTickOutcome.SKIPPED : ScheduleTickOutcome.FIRED,
                    run == null ? ScheduleTickDecision.SkipReason.EDITED.word() : "",
                    run == null ? null : run.run(),
                    now,
                    more && i == times.size() - 1 ? now : 0));
        }
        return new StoreWriteCommand.AbandonedTicks(row.name(), row.nextNominal(), ticks);
    }

    private static @Nullable Schedule read(DatabaseRows.ScheduleRow row) {
        try {
            return Schedule.parse(row.name(), StrictJsonCodec.parse(row.spec()));
        } catch (RuntimeException e) {
            LOG.log(
                    Level.WARNING,
                    "schedule " + row.name() + " of workflow " + row.workflowId()
                            + ": the worker cannot read the previous definition of this schedule and records all"
                            + " missed ticks as one tick: "
                            + e.getMessage());
            return null;
        }
    }

    /** Finds runs of ticks that a worker took before it crashed, unrecorded. */
    private List<@Nullable RunDeduplicationKeyRecord> runs(
            DatabaseRows.ScheduleRow row, Schedule schedule, List<Instant> times) {
        if (row.takenBy() == null) {
            return List.of();
        }
        List<RunDeduplicationKey> names = times.stream()
                .map(time -> TriggerDeduplicationKeyDerivation.sourceKey(
                        row.ws(), ScheduleTickAdmission.tickKey(row.workflowId(), schedule, time)))
                .toList();
        return readers.lookUpKeys(names).keyRecords();
    }

    private static boolean hasSameTimes(String one, String other) {
        JsonNode first = StrictJsonCodec.parse(one);
        JsonNode second = StrictJsonCodec.parse(other);
        return TIMES.stream().allMatch(name -> Objects.equals(first.get(name), second.get(name)));
    }

    private static DatabaseRows.@Nullable ScheduleRow find(List<DatabaseRows.ScheduleRow> rows, String name) {
        for (DatabaseRows.ScheduleRow row : rows) {
            if (row.name().equals(name)) {
                return row;
            }
        }
        return null;
    }
}
