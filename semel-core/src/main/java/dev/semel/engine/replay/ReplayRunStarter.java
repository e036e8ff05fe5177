package dev.semel.engine.replay;

import dev.semel.admission.ConcurrencyAndRateLimitCalculator;
import dev.semel.admission.RunDeduplicationKey;
import dev.semel.admission.StartConditions;
import dev.semel.admission.Trigger;
import dev.semel.admission.TriggerQuota;
import dev.semel.admission.TriggerResult;
import dev.semel.admission.TriggerSource;
import dev.semel.definition.ConcurrencyControl;
import dev.semel.definition.WorkflowCatalogEntry;
import dev.semel.definition.WorkflowVersion;
import dev.semel.engine.admission.RetryAndReplayKeyDerivation;
import dev.semel.engine.admission.TriggerIngress;
import dev.semel.engine.admission.WorkspaceLookup;
import dev.semel.engine.run.WorkflowCatalog;
import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.json.StrictJsonCodec;
import dev.semel.run.RunId;
import dev.semel.store.DatabaseRows;
import dev.semel.store.ReplayPlanStoreWriteCommand;
import dev.semel.store.StoreQueries;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** Uses the follow-up key of the replayed run: a run gets one replay, however many plans and workers request it. */
public final class ReplayRunStarter {
    private final TriggerIngress intake;
    private final WorkflowCatalog catalog;
    private final WorkspaceLookup workspaces;

    public ReplayRunStarter(TriggerIngress intake, WorkflowCatalog catalog, WorkspaceLookup workspaces) {
        this.intake = intake;
        this.catalog = catalog;
        this.workspaces = workspaces;
    }

    WorkflowCatalog catalog() {
        return catalog;
    }

    /** If another worker has the code of its workflow, the item stays planned and names the code. */
    ReplayPlanStoreWriteCommand.PlanItem admit(
            ReplayPlanStoreWriteCommand.ReplayPlan plan,
            ReplayPlanStoreWriteCommand.PlanItem item,
            RunReplayPreviewer.RunPreview prospect) {
        DatabaseRows.RunRow base = prospect.base();
        try {
            WorkflowCatalogEntry current = catalog.find(base.ws(), base.workflowId());
            if (current == null) {
                return item.withOutcome(
                        ReplayPlanStoreWriteCommand.ItemOutcome.REJECTED, null, "its workflow no longer exists");
            }
            WorkflowVersion version = catalog.version(base.workflowId(), prospect.version());
            String input = plan.input() == null ? base.input() : plan.input();
            JsonNode data = StrictJsonCodec.parse(input);
            Trigger.SourceKey name = name(base.id(), prospect.resumptions(), shown(plan, base.id()));
            TriggerResult answer = intake.submit(
                    base.ws(),
                    current,
                    TriggerQuota.NONE,
                    now -> new Trigger(
                            workspaces.space(base.ws()),
                            new WorkflowCatalogEntry(version, now.paused(), null, now.catalogVersion()),
                            data,
                            input,
                            Trigger.Identifiers.of(name),
                            new Trigger.Sender(
                                    TriggerSource.REPLAY,
                                    plan.appliedBy() == null ? plan.createdBy() : plan.appliedBy(),
                                    base.origin().correlationId()),
                            false,
                            plan.input() == null ? null : workspaces.inputRejection(version.name(), data),
                            new Trigger.RunLinks(base.lineage(), null, base.id(), null, prospect.carriedJournal(), 0),
                            0));
            return item.withOutcome(ReplayPlanStoreWriteCommand.ItemOutcome.APPLIED, answer.run(), "");
        } catch (WorkflowCatalog.WorkflowNotRegistered e) {
            return item.withOutcome(
                    ReplayPlanStoreWriteCommand.ItemOutcome.PLANNED,
                    null,
                    "\"" + e.workflow() + "\" v" + prospect.version());
        } catch (SemelException e) {
            if (e.code() == ErrorCode.STORE_UNAVAILABLE || e.code().retryable()) {
                throw e;
            }
            return item.withOutcome(ReplayPlanStoreWriteCommand.ItemOutcome.REJECTED, null, e.detail());
        } catch (IllegalArgumentException | IllegalStateException e) {
            return item.withOutcome(
                    ReplayPlanStoreWriteCommand.ItemOutcome.REJECTED,
                    null,
                    "its workflow cannot be read: " + e.getMessage());
        }
    }

    /** Returns the key of a replay that the Java API requests: the follow-up key of the run, as plans use it. */
    public static Trigger.SourceKey keyFollowing(StoreQueries reads, RunId base) {
        return name(base, RetryAndReplayKeyDerivation.countResumptions(reads, base), "replay:" + base.text());
    }

    private static Trigger.SourceKey name(RunId base, int resumed, String shown) {
        return new Trigger.SourceKey(
                TriggerSource.REPLAY,
                RetryAndReplayKeyDerivation.followUpText(base, resumed),
                shown,
                RetryAndReplayKeyDerivation.WINDOW);
    }

    /** Returns the queues of a run that is resumed in place, from the limits of its workflow and its data. */
    List<StartConditions.QueueLimit> findQueues(DatabaseRows.RunRow run, WorkflowVersion version) {
        if (version.options().concurrency().equals(ConcurrencyControl.NONE)) {
            return List.of();
        }
        StartConditions conditions = ConcurrencyAndRateLimitCalculator.startGate(new Trigger(
                workspaces.space(run.ws()),
                new WorkflowCatalogEntry(version, false, null, 0),
                StrictJsonCodec.parse(run.input()),
                run.input(),
                Trigger.Identifiers.NONE,
                new Trigger.Sender(TriggerSource.REPLAY, "", null),
                false,
                null,
                new Trigger.RunLinks(run.lineage(), null, run.id(), null),
                0));
        return conditions == null ? List.of() : conditions.queueLimits();
    }

    /** The display key of the new run, unique per plan and replayed run; it identifies the plan. */
    private static String shown(ReplayPlanStoreWriteCommand.ReplayPlan plan, RunId base) {
        return "replay:" + plan.idText() + ":" + base.text();
    }

    static boolean isCreatedBy(ReplayPlanStoreWriteCommand.ReplayPlan plan, DatabaseRows.@Nullable RunRow run) {
        RunId base = run == null ? null : run.replayOf();
        return run != null
                && base != null
                && shown(plan, base).equals(run.origin().key());
    }

    static List<RunDeduplicationKey> followUpKeys(
            ReplayPlanStoreWriteCommand.ReplayPlan plan, List<ReplayPlanStoreWriteCommand.PlanItem> items) {
        return items.stream()
                .map(item -> RetryAndReplayKeyDerivation.followUpKey(
                        plan.ws(), item.run(), RunReplayPreviewer.countResumptions(item)))
                .toList();
    }
}
