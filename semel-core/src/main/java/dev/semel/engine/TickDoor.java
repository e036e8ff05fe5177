package dev.semel.engine;

import dev.semel.json.Json;
import dev.semel.schedule.Schedule;
import dev.semel.trigger.Answer;
import dev.semel.trigger.Door;
import dev.semel.trigger.Trigger;
import dev.semel.workflow.Current;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** Admits the runs of schedule ticks, each under the unique key of its tick. */
public record TickDoor(Intake intake, Desk desk) {
    /** How long the key of a tick is kept, so that it has one run whatever happens to its row. */
    public static final Duration WINDOW = Duration.ofDays(40);

    /** Looks up what a trigger needs of its workspace: the secret and the input checks. */
    public interface Desk {
        Trigger.Space space(int workspace);

        /** Returns the checks for an input of a workflow. */
        Trigger.Checks checks(String workflow, JsonNode input);
    }

    /** Admits one run for one nominal time, however often it is called. */
    public Answer admit(int workspace, Current current, Schedule schedule, Instant nominal) {
        ObjectNode input = JsonNodeFactory.instance.objectNode();
        schedule.input().properties().forEach(member -> input.set(member.getKey(), member.getValue()));
        input.put("scheduled_at", nominal.toString());
        Trigger.DoorName name = name(current.published().workflowId(), schedule, nominal);
        return intake.trigger(
                workspace,
                current,
                now -> new Trigger(
                        desk.space(workspace),
                        now,
                        input,
                        Json.write(input),
                        Trigger.Names.of(name),
                        new Trigger.Sender(Door.SCHEDULE, "schedule:" + schedule.name(), null),
                        false,
                        desk.checks(now.published().name(), input)));
    }

    static Trigger.DoorName name(String workflowId, Schedule schedule, Instant nominal) {
        return new Trigger.DoorName(
                Door.SCHEDULE,
                workflowId + "\n" + schedule.name() + "\n" + nominal,
                "schedule:" + nominal.atOffset(ZoneOffset.UTC),
                WINDOW,
                schedule.overlap() == Schedule.Overlap.QUEUE ? "schedule " + schedule.name() : null);
    }
}
