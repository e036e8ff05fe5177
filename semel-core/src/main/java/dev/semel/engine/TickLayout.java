package dev.semel.engine;

import dev.semel.json.Json;
import dev.semel.key.Known;
import dev.semel.schedule.Schedule;
import dev.semel.schedule.Tick;
import dev.semel.schedule.Ticked;
import dev.semel.store.Edit;
import dev.semel.store.Name;
import dev.semel.store.Rows;
import dev.semel.store.StoreFailure;
import dev.semel.store.Timetable;
import dev.semel.store.Write;
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
final class TickLayout {
    private static final Logger LOG = System.getLogger(TickLayout.class.getName());
    private static final int AT_ONCE = 1_000;
    private static final List<String> TIMES = List.of("cron", "zone", "every", "anchor", "start", "end");

    private final Intake.Parts parts;
    private final Catalog catalog;
    private final TickPatience backoff;
    private final Map<String, Integer> syncedVersions = new ConcurrentHashMap<>();
    private volatile long change = -1;

    TickLayout(Intake.Parts parts, Catalog catalog, TickPatience backoff) {
        this.parts = parts;
        this.catalog = catalog;
        this.backoff = backoff;
    }

    boolean isUpToDate() {
        return change == catalog.change() && change >= 0;
    }

    /** Marks a workflow for another check, because its code or text changed here. */
    void again(String workflowId) {
        syncedVersions.remove(workflowId);
        change = -1;
    }

    /** Checks all workflows. Returns true if something may have changed. */
    boolean look() {
        if (catalog.change() < 0) {
            catalog.check(); // not read yet
        }
        long seen = catalog.change();
        if (seen == change) {
            return false;
        }
        boolean all = true;
        String last = "";
        List<Timetable.Standing> page;
        do {
            String after = last;
            page = parts.readers().ask(reads -> reads.timetable().standings(after, AT_ONCE));
            for (Timetable.Standing one : page) {
                all &= Objects.equals(syncedVersions.get(one.workflowId()), one.version()) || lay(one);
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
    boolean lay(Timetable.Standing one) {
        List<Schedule> wanted;
        try {
            wanted = catalog.version(one.workflowId(), one.version())
                    .extras()
                    .doors()
                    .schedules();
        } catch (Catalog.NotKnownHere e) {
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
                .ask(reads -> new Seen(reads.now(), reads.timetable().of(one.workflowId())));
        boolean there = isSynchronized(wanted, seen.rows());
        boolean done = there
                || parts.committer()
                        .submit(0, new Write.Change<>(toEdit(one, wanted, seen)))
                        .join();
        if (done) {
            syncedVersions.put(one.workflowId(), one.version());
        }
        if (done && !there) {
            backoff.forget(one.workflowId());
        }
        return done;
    }

    private record Seen(long now, List<Rows.Schedule> rows) {}

    private static boolean isSynchronized(List<Schedule> wanted, List<Rows.Schedule> rows) {
        return wanted.size() == rows.size()
                && wanted.stream().allMatch(schedule -> {
                    Rows.Schedule row = find(rows, schedule.name());
                    return row != null && row.spec().equals(schedule.text());
                });
    }

    private Edit.LayOut toEdit(Timetable.Standing one, List<Schedule> wanted, Seen seen) {
        List<Edit.Laid> rows = new ArrayList<>();
        for (Schedule schedule : wanted) {
            Rows.Schedule before = find(seen.rows(), schedule.name());
            String text = schedule.text();
            // An edit that does not change the times keeps the next tick.
            Instant next = before != null && hasSameTimes(before.spec(), text)
                    ? TickPlan.instant(before.nextNominal())
                    : schedule.after(Objects.requireNonNull(TickPlan.instant(seen.now())));
            rows.add(new Edit.Laid(
                    schedule.name(),
                    text,
                    next == null ? Write.Rest.NEVER : Micros.of(next),
                    next == null ? Write.Rest.NEVER : Micros.of(schedule.firesAt(one.workflowId(), next)),
                    before));
        }
        List<Edit.Left> left = new ArrayList<>();
        for (Rows.Schedule row : seen.rows()) {
            boolean stays = rows.stream()
                    .anyMatch(laid -> laid.name().equals(row.name()) && laid.nextNominal() == row.nextNominal());
            Edit.Left abandoned = stays ? null : left(row, seen.now());
            if (abandoned != null) {
                left.add(abandoned);
            }
        }
        return new Edit.LayOut(one.ws(), one.workflowId(), one.version(), rows, left);
    }

    /** Records the due ticks of a schedule that is deleted or gets other times. Null: the store records them. */
    private Edit.@Nullable Left left(Rows.Schedule row, long now) {
        Instant nominal = TickPlan.instant(row.nextNominal());
        Schedule schedule = row.nextNominal() > now ? null : read(row);
        if (schedule == null) {
            return null;
        }
        List<Instant> times = new ArrayList<>();
        while (nominal != null && Micros.of(nominal) <= now && times.size() < TickPlan.MOST_AT_ONCE) {
            times.add(nominal);
            nominal = schedule.after(nominal);
        }
        boolean more = nominal != null && Micros.of(nominal) <= now;
        List<@Nullable Known> known = runs(row, schedule, times);
        List<Rows.Tick> ticks = new ArrayList<>();
        for (int i = 0; i < times.size(); i++) {
            Known run = known.isEmpty() ? null : known.get(i);
            ticks.add(new Rows.Tick(
                    row.workflowId(),
                    row.name(),
                    Micros.of(times.get(i)),
                    run == null ? Ticked.SKIPPED : Ticked.FIRED,
                    run == null ? Tick.Reason.EDITED.word() : "",
                    run == null ? null : run.run(),
                    now,
                    more && i == times.size() - 1 ? now : 0));
        }
        return new Edit.Left(row.name(), row.nextNominal(), ticks);
    }

    private static @Nullable Schedule read(Rows.Schedule row) {
        try {
            return Schedule.read(row.name(), Json.parse(row.spec()));
        } catch (RuntimeException e) {
            LOG.log(
                    Level.WARNING,
                    "schedule " + row.name() + " of workflow " + row.workflowId()
                            + " cannot be read in its old form; its missed ticks become one: " + e.getMessage());
            return null;
        }
    }

    /** Finds runs of ticks that a worker took before it crashed, unrecorded. */
    private List<@Nullable Known> runs(Rows.Schedule row, Schedule schedule, List<Instant> times) {
        if (row.takenBy() == null) {
            return List.of();
        }
        List<Name> names = times.stream()
                .map(time -> Naming.ofDoor(row.ws(), TickDoor.name(row.workflowId(), schedule, time)))
                .toList();
        return parts.readers().names(names).known();
    }

    private static boolean hasSameTimes(String one, String other) {
        JsonNode first = Json.parse(one);
        JsonNode second = Json.parse(other);
        return TIMES.stream().allMatch(name -> Objects.equals(first.get(name), second.get(name)));
    }

    private static Rows.@Nullable Schedule find(List<Rows.Schedule> rows, String name) {
        for (Rows.Schedule row : rows) {
            if (row.name().equals(name)) {
                return row;
            }
        }
        return null;
    }
}
