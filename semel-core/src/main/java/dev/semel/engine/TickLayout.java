package dev.semel.engine;

import dev.semel.json.Json;
import dev.semel.schedule.Schedule;
import dev.semel.store.Edit;
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
 * Brings the rows of schedules in line with what is published. Every worker looks whenever the catalog changed; the store
 * lets one of them write.
 */
final class TickLayout {
    private static final Logger LOG = System.getLogger(TickLayout.class.getName());
    private static final int AT_ONCE = 1_000;
    private static final List<String> TIMES = List.of("cron", "zone", "every", "anchor", "start", "end");

    private final Intake.Parts parts;
    private final Catalog catalog;
    private final Map<String, Integer> laid = new ConcurrentHashMap<>();
    private volatile long change = -1;

    TickLayout(Intake.Parts parts, Catalog catalog) {
        this.parts = parts;
        this.catalog = catalog;
    }

    boolean isUpToDate() {
        return change == catalog.change() && change >= 0;
    }

    /** The code of a workflow came to this process. */
    void again(String workflowId) {
        laid.remove(workflowId);
        change = -1;
    }

    /** True: something may have changed. */
    boolean look() {
        if (catalog.change() < 0) {
            catalog.check(); // nobody has looked yet
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
                all &= Objects.equals(laid.get(one.workflowId()), one.version()) || lay(one);
            }
            last = page.isEmpty() ? "" : page.getLast().workflowId();
        } while (page.size() == AT_ONCE);
        if (all) {
            change = seen;
        }
        return true;
    }

    /** False: it must be tried again. May be called by any thread: the store lets one write. */
    boolean lay(Timetable.Standing one) {
        List<Schedule> wanted;
        try {
            wanted = catalog.version(one.workflowId(), one.version())
                    .extras()
                    .doors()
                    .schedules();
        } catch (Catalog.NotKnownHere e) {
            return true; // a worker that knows it does this; and we do once it is registered here
        } catch (StoreFailure e) {
            throw e;
        } catch (RuntimeException e) {
            LOG.log(
                    Level.ERROR,
                    "the schedules of workflow " + one.workflowId() + " are left as they are, because its version "
                            + one.version() + " cannot be read here: " + e.getMessage());
            laid.put(one.workflowId(), one.version());
            return true;
        }
        Seen seen = parts.readers()
                .ask(reads -> new Seen(reads.now(), reads.timetable().of(one.workflowId())));
        boolean done = isLaid(wanted, seen.rows())
                || parts.committer()
                        .submit(0, new Write.Change<>(layOut(one, wanted, seen)))
                        .join();
        if (done) {
            laid.put(one.workflowId(), one.version());
        }
        return done;
    }

    private record Seen(long now, List<Rows.Schedule> rows) {}

    private static boolean isLaid(List<Schedule> wanted, List<Rows.Schedule> rows) {
        return wanted.size() == rows.size()
                && wanted.stream().allMatch(schedule -> {
                    Rows.Schedule row = find(rows, schedule.name());
                    return row != null && row.spec().equals(schedule.text());
                });
    }

    private static Edit.LayOut layOut(Timetable.Standing one, List<Schedule> wanted, Seen seen) {
        List<Edit.Laid> rows = new ArrayList<>();
        for (Schedule schedule : wanted) {
            Rows.Schedule before = find(seen.rows(), schedule.name());
            String text = schedule.text();
            // An edit that leaves the times alone leaves the tick that comes next alone, too.
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
        return new Edit.LayOut(one.ws(), one.workflowId(), one.version(), rows);
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
