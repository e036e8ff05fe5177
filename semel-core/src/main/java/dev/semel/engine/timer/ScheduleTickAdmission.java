package dev.semel.engine.timer;

import dev.semel.admission.Trigger;
import dev.semel.admission.TriggerQuota;
import dev.semel.admission.TriggerResult;
import dev.semel.admission.TriggerSource;
import dev.semel.definition.WorkflowCatalogEntry;
import dev.semel.engine.RetentionPolicy;
import dev.semel.engine.admission.TriggerIngress;
import dev.semel.engine.admission.WorkspaceLookup;
import dev.semel.json.StrictJsonCodec;
import dev.semel.schedule.Schedule;
import java.time.Instant;
import java.time.ZoneOffset;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** Admits the runs of schedule ticks, each under the unique key of its tick. */
public record ScheduleTickAdmission(TriggerIngress intake, WorkspaceLookup workspaces) {
    /** Admits one run for one nominal time, however often it is called. */
    public TriggerResult admit(int workspace, WorkflowCatalogEntry current, Schedule schedule, Instant nominal) {
        ObjectNode input = JsonNodeFactory.instance.objectNode();
        schedule.input().properties().forEach(member -> input.set(member.getKey(), member.getValue()));
        input.put("scheduled_at", nominal.toString());
        Trigger.SourceKey name = tickKey(current.published().workflowId(), schedule, nominal);
        return intake.submit(
                workspace,
                current,
                TriggerQuota.NONE,
                now -> new Trigger(
                        workspaces.space(workspace),
                        now,
                        input,
                        StrictJsonCodec.write(input),
                        Trigger.Identifiers.of(name),
                        new Trigger.Sender(TriggerSource.SCHEDULE, "schedule:" + schedule.name(), null),
                        false,
                        workspaces.inputRejection(now.published().name(), input)));
    }

    static Trigger.SourceKey tickKey(String workflowId, Schedule schedule, Instant nominal) {
        return new Trigger.SourceKey(
                TriggerSource.SCHEDULE,
                workflowId + "\n" + schedule.name() + "\n" + nominal,
                "schedule:" + nominal.atOffset(ZoneOffset.UTC),
                RetentionPolicy.TICK_KEYS,
                schedule.overlap() == Schedule.OverlapPolicy.QUEUE ? "schedule " + schedule.name() : null);
    }
}
