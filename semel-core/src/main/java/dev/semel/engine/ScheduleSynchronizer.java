package dev.semel.engine;

import dev.semel.admission.KeyRecord;
import dev.semel.json.StrictJson;
import dev.semel.schedule.Schedule;
import dev.semel.schedule.TickDecision;
import dev.semel.schedule.TickOutcome;
import dev.semel.store.ScheduleQueries;
import dev.semel.store.StoreCommand;
import dev.semel.store.StoreFailure;
import dev.semel.store.StoreWrite;
import dev.semel.store.StoredRows;
import dev.semel.store.UniqueKey;
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

/**
 * Synchronizes the stored schedules with the published workflows.
 * Every worker checks whenever the catalog changed; the store lets one of them write.
 */
final class ScheduleSynchronizer {
    private static final Logger LOG = System.getLogger(ScheduleSynchronizer.class.getName());
    private static final int AT_ONCE = 1_000;
    private static final List<String> TIMES = List.of("cron", "zone", "every", "anchor", "start", "end");

    private final TriggerAdmission.EngineComponents parts;
    private final WorkflowCatalog catalog;
    private final TickBackoff backoff;
    private final Map<String, Integer> syncedVersions = new ConcurrentHashMap<>();
    private volatile long change = -1;

    ScheduleSynchronizer(TriggerAdmission.EngineComponents parts, WorkflowCatalog catalog, TickBackoff backoff) {
        this.parts = parts;
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
            page = parts.readers().read(reads -> reads.schedules().currentVersions(after, AT_ONCE));
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

    /**
     * Synchronizes one workflow. Returns false if it must be retried. Any thread may call it: the store lets one write.
     */
    boolean synchronize(ScheduleQueries.CurrentVersion one) {
        List<Schedule> wanted;
        try {
            wanted = catalog.version(one.workflowId(), one.version())
                    .options()
                    .triggers()
                    .schedules();
        } catch (WorkflowCatalog.WorkflowNotRegistered e) {
            return true; // a worker with its code does this, and so does this one after a registration
        } catch (StoreFailure e) {
            throw e;
        } catch (RuntimeException e) {
            LOG.log(
                    Level.ERROR,
                    "the schedules of workflow " + one.workflowId() + " stay unchanged, because this worker cannot read"
                            + " its version " + one.version() + ": " + e.getMessage());
            syncedVersions.put(one.workflowId(), one.version());
            return true;
        }
        Seen seen = parts.readers()
                .read(reads -> new Seen(reads.now(), reads.schedules().ofWorkflow(one.workflowId())));
        boolean there = isSynchronized(wanted, seen.rows());
        boolean done = there
                || parts.committer()
                        .submit(0, new StoreWrite.ExecuteCommand<>(toEdit(one, wanted, seen)))
                        .join();
        if (done) {
            syncedVersions.put(one.workflowId(), one.version());
        }
        if (done && !there) {
            backoff.clear(one.workflowId());
        }
        return done;
    }

    private record Seen(long now, List<StoredRows.ScheduleRow> rows) {}

    private static boolean isSynchronized(List<Schedule> wanted, List<StoredRows.ScheduleRow> rows) {
        return wanted.size() == rows.size()
                && wanted.stream().allMatch(schedule -> {
                    StoredRows.ScheduleRow row = find(rows, schedule.name());
                    return row != null && row.spec().equals(schedule.toJson());
                });
    }

    private StoreCommand.SaveSchedules toEdit(ScheduleQueries.CurrentVersion one, List<Schedule> wanted, Seen seen) {
        List<StoreCommand.ScheduleUpdate> rows = new ArrayList<>();
        for (Schedule schedule : wanted) {
            StoredRows.ScheduleRow before = find(seen.rows(), schedule.name());
            String text = schedule.toJson();
            // An edit that does not change the times keeps the next tick.
            Instant next = before != null && hasSameTimes(before.spec(), text)
                    ? TickPlan.instant(before.nextNominal())
                    : schedule.nextAfter(Objects.requireNonNull(TickPlan.instant(seen.now())));
            rows.add(new StoreCommand.ScheduleUpdate(
                    schedule.name(),
                    text,
                    next == null ? StoreWrite.Suspension.NEVER : Micros.of(next),
                    next == null ? StoreWrite.Suspension.NEVER : Micros.of(schedule.firesAt(one.workflowId(), next)),
                    before));
        }
        List<StoreCommand.AbandonedTicks> left = new ArrayList<>();
        for (StoredRows.ScheduleRow row : seen.rows()) {
            boolean stays = rows.stream()
                    .anyMatch(laid -> laid.name().equals(row.name()) && laid.nextNominal() == row.nextNominal());
            StoreCommand.AbandonedTicks abandoned = stays ? null : left(row, seen.now());
            if (abandoned != null) {
                left.add(abandoned);
            }
        }
        return new StoreCommand.SaveSchedules(one.ws(), one.workflowId(), one.version(), rows, left);
    }

    /** Records the due ticks of a schedule that is deleted or gets other times. Null: the store records them. */
    private StoreCommand.@Nullable AbandonedTicks left(StoredRows.ScheduleRow row, long now) {
        Instant nominal = TickPlan.instant(row.nextNominal());
        Schedule schedule = row.nextNominal() > now ? null : read(row);
        if (schedule == null) {
            return null;
        }
        List<Instant> times = new ArrayList<>();
        while (nominal != null && Micros.of(nominal) <= now && times.size() < TickPlan.MAX_TICKS) {
            times.add(nominal);
            nominal = schedule.nextAfter(nominal);
        }
        boolean more = nominal != null && Micros.of(nominal) <= now;
        List<@Nullable KeyRecord> known = runs(row, schedule, times);
        List<StoredRows.TickRow> ticks = new ArrayList<>();
        for (int i = 0; i < times.size(); i++) {
            KeyRecord run = known.isEmpty() ? null : known.get(i);
            ticks.add(new StoredRows.TickRow(
                    row.workflowId(),
                    row.name(),
                    Micros.of(times.get(i)),
                    run == null ? TickOutcome.SKIPPED : TickOutcome.FIRED,
                    run == null ? TickDecision.SkipReason.EDITED.word() : "",
                    run == null ? null : run.run(),
                    now,
                    more && i == times.size() - 1 ? now : 0));
        }
        return new StoreCommand.AbandonedTicks(row.name(), row.nextNominal(), ticks);
    }

    private static @Nullable Schedule read(StoredRows.ScheduleRow row) {
        try {
            return Schedule.parse(row.name(), StrictJson.parse(row.spec()));
        } catch (RuntimeException e) {
            LOG.log(
                    Level.WARNING,
                    "schedule " + row.name() + " of workflow " + row.workflowId()
                            + " cannot be read in its old form; its missed ticks become one: " + e.getMessage());
            return null;
        }
    }

    /** Finds runs of ticks that a worker took before it crashed, unrecorded. */
    private List<@Nullable KeyRecord> runs(StoredRows.ScheduleRow row, Schedule schedule, List<Instant> times) {
        if (row.takenBy() == null) {
            return List.of();
        }
        List<UniqueKey> names = times.stream()
                .map(time -> KeyDerivation.sourceKey(row.ws(), TickAdmission.tickKey(row.workflowId(), schedule, time)))
                .toList();
        return parts.readers().lookUpKeys(names).keyRecords();
    }

    private static boolean hasSameTimes(String one, String other) {
        JsonNode first = StrictJson.parse(one);
        JsonNode second = StrictJson.parse(other);
        return TIMES.stream().allMatch(name -> Objects.equals(first.get(name), second.get(name)));
    }

    private static StoredRows.@Nullable ScheduleRow find(List<StoredRows.ScheduleRow> rows, String name) {
        for (StoredRows.ScheduleRow row : rows) {
            if (row.name().equals(name)) {
                return row;
            }
        }
        return null;
    }
}
