package dev.semel.workflow;

import dev.semel.schedule.Schedule;

/** Adds schedules as the engine sees them. */
public final class TestSchedules {
    private TestSchedules() {}

    public static <I, O> WorkflowBuilder<I, O> add(WorkflowBuilder<I, O> builder, Schedule schedule) {
        return builder.schedule(schedule);
    }
}
