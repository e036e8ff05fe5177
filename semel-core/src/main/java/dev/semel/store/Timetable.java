package dev.semel.store;

import java.util.List;
import org.jspecify.annotations.Nullable;

/** Questions about schedules and their ticks. */
public interface Timetable {
    /** Schedules whose next tick is due and that nobody has taken, the longest due first. */
    List<Rows.Schedule> due(long now, int limit);

    /** The schedule whose next tick comes first, taken or not; null where there is none. */
    Rows.@Nullable Schedule first();

    /** The schedule whose next tick comes first behind this time, taken or not; null where there is none. */
    Rows.@Nullable Schedule after(long time);

    Rows.@Nullable Schedule schedule(int ws, String workflowId, String name);

    /** All schedules of a workflow, by name. */
    List<Rows.Schedule> of(String workflowId);

    /** Schedules of a workspace by workflow and name, behind these. */
    List<Rows.Schedule> page(int ws, String afterWorkflow, String afterName, int limit);

    /** What became of ticks whose nominal time is before this one, newest first. */
    List<Rows.Tick> ticks(String workflowId, String schedule, long before, int limit);

    /** Whether a tick was written down before then. */
    boolean hasTicksBefore(long time);

    /** Which version of which workflow is current, by id, behind this one. */
    List<Standing> standings(String after, int limit);

    record Standing(int ws, String workflowId, int version) {}
}
