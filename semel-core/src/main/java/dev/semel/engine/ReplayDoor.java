package dev.semel.engine;

import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.json.Json;
import dev.semel.run.RunId;
import dev.semel.store.Name;
import dev.semel.store.NewRun;
import dev.semel.store.Reads;
import dev.semel.store.Replay;
import dev.semel.store.Rows;
import dev.semel.trigger.Answer;
import dev.semel.trigger.Door;
import dev.semel.trigger.Trigger;
import dev.semel.workflow.Current;
import dev.semel.workflow.Gates;
import dev.semel.workflow.Published;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * Admits the run of a planned safe replay, like any trigger, under the follow-up key of the replayed run.
 * So a run gets one replay, however many plans and workers request it.
 */
public final class ReplayDoor {
    private final Intake intake;
    private final Catalog catalog;
    private final TickDoor.Desk workspaces;

    public ReplayDoor(Intake intake, Catalog catalog, TickDoor.Desk workspaces) {
        this.intake = intake;
        this.catalog = catalog;
        this.workspaces = workspaces;
    }

    Catalog catalog() {
        return catalog;
    }

    /**
     * Admits one item and returns its outcome: the new run, or why there is none.
     * If another worker has the code of its workflow, the item stays planned and names the code.
     */
    Replay.Item admit(Replay.Plan plan, Replay.Item item, Planner.Prospect prospect) {
        Rows.Run base = prospect.base();
        try {
            Current current = catalog.find(base.ws(), base.workflowId());
            if (current == null) {
                return item.became(Replay.Fate.REFUSED, null, "its workflow no longer exists");
            }
            Published version = catalog.version(base.workflowId(), prospect.version());
            String input = plan.input() == null ? base.input() : plan.input();
            JsonNode data = Json.parse(input);
            Trigger.DoorName name = name(base.id(), prospect.resumed(), shown(plan, base.id()));
            Answer answer = intake.trigger(
                    base.ws(),
                    current,
                    now -> new Trigger(
                            workspaces.space(base.ws()),
                            new Current(version, now.paused(), null, now.change()),
                            data,
                            input,
                            Trigger.Names.of(name),
                            new Trigger.Sender(
                                    Door.REPLAY,
                                    plan.appliedBy() == null ? plan.madeBy() : plan.appliedBy(),
                                    base.origin().correlationId()),
                            false,
                            plan.input() == null ? Trigger.Checks.NONE : workspaces.checks(version.name(), data),
                            new Trigger.Ties(base.lineage(), null, base.id(), null, prospect.carried(), 0)));
            return item.became(Replay.Fate.APPLIED, answer.run(), "");
        } catch (Catalog.NotKnownHere e) {
            return item.became(Replay.Fate.PLANNED, null, "\"" + e.workflow() + "\" v" + prospect.version());
        } catch (SemelException e) {
            if (e.code() == ErrorCode.STORE_UNAVAILABLE || e.code().retryable()) {
                throw e;
            }
            return item.became(Replay.Fate.REFUSED, null, e.detail());
        } catch (IllegalArgumentException | IllegalStateException e) {
            return item.became(Replay.Fate.REFUSED, null, "its workflow cannot be read: " + e.getMessage());
        }
    }

    /** Returns the key of a replay that the Java API requests: the follow-up key of the run, as plans use it. */
    public static Trigger.DoorName following(Reads reads, RunId base) {
        return name(base, Line.resumed(reads, base), "replay:" + base.text());
    }

    private static Trigger.DoorName name(RunId base, int resumed, String shown) {
        return new Trigger.DoorName(Door.REPLAY, Line.text(base, resumed), shown, Line.WINDOW);
    }

    /** Returns the queues of a run that is resumed in place, from the limits of its workflow and its data. */
    List<NewRun.Gate.Place> places(Rows.Run run, Published version) {
        if (version.extras().gates().equals(Gates.NONE)) {
            return List.of();
        }
        NewRun.Gate gate = Gatekeeper.gate(new Trigger(
                workspaces.space(run.ws()),
                new Current(version, false, null, 0),
                Json.parse(run.input()),
                run.input(),
                Trigger.Names.NONE,
                new Trigger.Sender(Door.REPLAY, "", null),
                false,
                Trigger.Checks.NONE,
                new Trigger.Ties(run.lineage(), null, run.id(), null)));
        return gate == null ? List.of() : gate.places();
    }

    /** The display key of the new run, unique per plan and replayed run; it identifies the plan. */
    private static String shown(Replay.Plan plan, RunId base) {
        return "replay:" + plan.text() + ":" + base.text();
    }

    /** Whether this plan created that run. */
    static boolean isMadeBy(Replay.Plan plan, Rows.@Nullable Run run) {
        RunId base = run == null ? null : run.replayOf();
        return run != null
                && base != null
                && shown(plan, base).equals(run.origin().key());
    }

    /** The follow-up keys that the replays of these items would have. */
    static List<Name> names(Replay.Plan plan, List<Replay.Item> items) {
        return items.stream()
                .map(item -> Line.following(plan.ws(), item.run(), Planner.resumed(item)))
                .toList();
    }
}
