package dev.semel.engine;

import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.json.StrictJson;
import dev.semel.run.RunId;
import dev.semel.store.UniqueKey;
import dev.semel.store.NewRun;
import dev.semel.store.StoreQueries;
import dev.semel.store.ReplayPlanOperation;
import dev.semel.store.StoredRows;
import dev.semel.trigger.TriggerResult;
import dev.semel.trigger.TriggerSource;
import dev.semel.trigger.Trigger;
import dev.semel.definition.CurrentWorkflow;
import dev.semel.definition.ConcurrencyControl;
import dev.semel.definition.WorkflowVersion;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * Admits the run of a planned safe replay, like any trigger, under the follow-up key of the replayed run.
 * So a run gets one replay, however many plans and workers request it.
 */
public final class ReplayAdmission {
    private final TriggerAdmission intake;
    private final WorkflowCatalog catalog;
    private final TickAdmission.WorkspaceLookup workspaces;

    public ReplayAdmission(TriggerAdmission intake, WorkflowCatalog catalog, TickAdmission.WorkspaceLookup workspaces) {
        this.intake = intake;
        this.catalog = catalog;
        this.workspaces = workspaces;
    }

    WorkflowCatalog catalog() {
        return catalog;
    }

    /**
     * Admits one item and returns its outcome: the new run, or why there is none.
     * If another worker has the code of its workflow, the item stays planned and names the code.
     */
    ReplayPlanOperation.PlanItem admit(ReplayPlanOperation.ReplayPlan plan, ReplayPlanOperation.PlanItem item, ReplayPreviewer.RunPreview prospect) {
        StoredRows.RunRow base = prospect.base();
        try {
            CurrentWorkflow current = catalog.find(base.ws(), base.workflowId());
            if (current == null) {
                return item.withOutcome(ReplayPlanOperation.ItemOutcome.REFUSED, null, "its workflow no longer exists");
            }
            WorkflowVersion version = catalog.version(base.workflowId(), prospect.version());
            String input = plan.input() == null ? base.input() : plan.input();
            JsonNode data = StrictJson.parse(input);
            Trigger.SourceKey name = name(base.id(), prospect.resumptions(), shown(plan, base.id()));
            TriggerResult answer = intake.trigger(
                    base.ws(),
                    current,
                    now -> new Trigger(
                            workspaces.space(base.ws()),
                            new CurrentWorkflow(version, now.paused(), null, now.catalogVersion()),
                            data,
                            input,
                            Trigger.Identifiers.of(name),
                            new Trigger.Sender(
                                    TriggerSource.REPLAY,
                                    plan.appliedBy() == null ? plan.createdBy() : plan.appliedBy(),
                                    base.origin().correlationId()),
                            false,
                            plan.input() == null ? Trigger.AdmissionChecks.NONE : workspaces.checksFor(version.name(), data),
                            new Trigger.RunLinks(base.lineage(), null, base.id(), null, prospect.carriedJournal(), 0)));
            return item.withOutcome(ReplayPlanOperation.ItemOutcome.APPLIED, answer.run(), "");
        } catch (WorkflowCatalog.WorkflowNotRegistered e) {
            return item.withOutcome(ReplayPlanOperation.ItemOutcome.PLANNED, null, "\"" + e.workflow() + "\" v" + prospect.version());
        } catch (SemelException e) {
            if (e.code() == ErrorCode.STORE_UNAVAILABLE || e.code().retryable()) {
                throw e;
            }
            return item.withOutcome(ReplayPlanOperation.ItemOutcome.REFUSED, null, e.detail());
        } catch (IllegalArgumentException | IllegalStateException e) {
            return item.withOutcome(ReplayPlanOperation.ItemOutcome.REFUSED, null, "its workflow cannot be read: " + e.getMessage());
        }
    }

    /** Returns the key of a replay that the Java API requests: the follow-up key of the run, as plans use it. */
    public static Trigger.SourceKey keyFollowing(StoreQueries reads, RunId base) {
        return name(base, Lineage.countResumptions(reads, base), "replay:" + base.text());
    }

    private static Trigger.SourceKey name(RunId base, int resumed, String shown) {
        return new Trigger.SourceKey(TriggerSource.REPLAY, Lineage.followUpText(base, resumed), shown, Lineage.WINDOW);
    }

    /** Returns the queues of a run that is resumed in place, from the limits of its workflow and its data. */
    List<NewRun.StartConditions.QueueLimit> findQueues(StoredRows.RunRow run, WorkflowVersion version) {
        if (version.options().concurrency().equals(ConcurrencyControl.NONE)) {
            return List.of();
        }
        NewRun.StartConditions gate = ConcurrencyLimits.startGate(new Trigger(
                workspaces.space(run.ws()),
                new CurrentWorkflow(version, false, null, 0),
                StrictJson.parse(run.input()),
                run.input(),
                Trigger.Identifiers.NONE,
                new Trigger.Sender(TriggerSource.REPLAY, "", null),
                false,
                Trigger.AdmissionChecks.NONE,
                new Trigger.RunLinks(run.lineage(), null, run.id(), null)));
        return gate == null ? List.of() : gate.queueLimits();
    }

    /** The display key of the new run, unique per plan and replayed run; it identifies the plan. */
    private static String shown(ReplayPlanOperation.ReplayPlan plan, RunId base) {
        return "replay:" + plan.idText() + ":" + base.text();
    }

    /** Whether this plan created that run. */
    static boolean isCreatedBy(ReplayPlanOperation.ReplayPlan plan, StoredRows.@Nullable RunRow run) {
        RunId base = run == null ? null : run.replayOf();
        return run != null
                && base != null
                && shown(plan, base).equals(run.origin().key());
    }

    /** The follow-up keys that the replays of these items would have. */
    static List<UniqueKey> followUpKeys(ReplayPlanOperation.ReplayPlan plan, List<ReplayPlanOperation.PlanItem> items) {
        return items.stream()
                .map(item -> Lineage.followUpKey(plan.ws(), item.run(), ReplayPreviewer.countResumptions(item)))
                .toList();
    }
}
