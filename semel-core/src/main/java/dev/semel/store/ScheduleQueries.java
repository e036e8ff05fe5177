package dev.semel.store;

import java.util.List;
import org.jspecify.annotations.Nullable;

public interface ScheduleQueries {
    /** Schedules whose next tick is due and unclaimed, longest due first. */
    List<DatabaseRows.ScheduleRow> due(long now, int limit);

    /** The schedule with the earliest next tick, claimed or not; null for none. */
    DatabaseRows.@Nullable ScheduleRow firstDue();

    /** The schedule with the earliest next tick after this time, claimed or not; null for none. */
    DatabaseRows.@Nullable ScheduleRow firstDueAfter(long time);

    DatabaseRows.@Nullable ScheduleRow schedule(int ws, String workflowId, String name);

    /** All schedules of a workflow, by name. */
    List<DatabaseRows.ScheduleRow> ofWorkflow(String workflowId);

    /** Schedules of a workspace by workflow and name, after these. */
    List<DatabaseRows.ScheduleRow> page(int ws, String afterWorkflow, String afterName, int limit);

    /** Recorded ticks with a nominal time before this one, newest first. */
    List<DatabaseRows.TickRow> ticks(String workflowId, String schedule, long before, int limit);

    boolean hasTicksBefore(long time);

    /** The current version of each workflow by id, after this one. */
    List<CurrentVersion> currentVersions(String after, int limit);

    record CurrentVersion(int ws, String workflowId, int version) {}
}
