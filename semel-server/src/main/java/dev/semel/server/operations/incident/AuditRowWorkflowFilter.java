package dev.semel.server.operations.incident;

import dev.semel.admission.RunDeduplicationKey;
import dev.semel.definition.WorkflowCatalogEntry;
import dev.semel.json.StrictJsonCodec;
import dev.semel.run.RunId;
import dev.semel.runtime.SemelRuntime;
import dev.semel.server.query.StoreReader;
import dev.semel.store.DatabaseRows;
import dev.semel.store.HumanReviewStoreWriteCommand;
import dev.semel.store.ReplayPlanQueries;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Selects the audit rows that belong to one workflow: changes of the workflow itself, its runs, effects, reviews, keys,
 * schedules, replay plans and alerts. Rows about users, tokens, secrets and other settings belong to no workflow.
 */
final class AuditRowWorkflowFilter {
    private static final int MOST_ITEMS = 1_000;

    private final SemelRuntime semel;
    private final int workspace;
    private final @Nullable String workflowId;
    private final @Nullable String name;
    private final Map<String, Boolean> known = new HashMap<>();

    /** @param workflowId null to select every row */
    AuditRowWorkflowFilter(SemelRuntime semel, int workspace, @Nullable String workflowId) {
        this.semel = semel;
        this.workspace = workspace;
        this.workflowId = workflowId;
        WorkflowCatalogEntry entry = workflowId == null ? null : semel.workflow(workspace, workflowId);
        this.name = entry == null ? null : entry.published().name();
    }

    boolean matches(DatabaseRows.AuditRow row) {
        if (workflowId == null) {
            return true;
        }
        String kind = row.action().substring(0, Math.max(0, row.action().indexOf('.')));
        return known.computeIfAbsent(kind + " " + row.target(), _ -> belongs(kind, row.target()));
    }

    private boolean belongs(String kind, String target) {
        return switch (kind) {
            case "workflow" -> target.equals(name) || target.equals(workflowId);
            case "schedule" -> target.startsWith(workflowId + "/") || target.startsWith(name + "/");
            case "run", "effect" -> isOurs(findRun(target));
            case "review" -> {
                HumanReviewStoreWriteCommand.ReviewRow review =
                        semel.view(reads -> reads.reviews().review(workspace, target));
                yield review != null && review.workflowId().equals(workflowId);
            }
            case "key" -> isKeyOfOurs(target);
            case "replay" -> hasRunOfOurs(target);
            case "alert" -> isAlertOfOurs(target);
            default -> false;
        };
    }

    private boolean isOurs(DatabaseRows.@Nullable RunRow run) {
        return run != null && run.workflowId().equals(workflowId);
    }

    private DatabaseRows.@Nullable RunRow findRun(String target) {
        RunId id = RunId.parse(target);
        DatabaseRows.RunRow run = id == null ? null : semel.view(reads -> reads.run(workspace, id));
        if (run != null) {
            return run;
        }
        RunDeduplicationKey chosen = new RunDeduplicationKey(workspace, RunDeduplicationKey.KeyKind.RUN, target);
        return semel.view(reads -> {
            var held = reads.findKeys(List.of(chosen)).keyRecords().getFirst();
            return held == null ? null : reads.run(workspace, held.run());
        });
    }

    /** The stored text of a key may be followed by its workflow. */
    private boolean isKeyOfOurs(String target) {
        String key = target.split("\n", 2)[0];
        return StoreReader.read(semel, reads -> reads.keyRecords(workspace, key)).stream()
                .anyMatch(held -> held.keyRecord().workflowId().equals(workflowId));
    }

    private boolean hasRunOfOurs(String target) {
        RunId plan = target.startsWith("rpl_") ? RunId.parse("run_" + target.substring("rpl_".length())) : null;
        return plan != null
                && StoreReader.read(
                                semel,
                                reads -> reads.plans()
                                        .items(new ReplayPlanQueries.ItemFilter(plan, 0, null), null, MOST_ITEMS))
                        .stream()
                        .anyMatch(item -> isOurs(semel.view(reads -> reads.run(workspace, item.run()))));
    }

    private boolean isAlertOfOurs(String target) {
        DatabaseRows.SettingRow alert = semel.view(reads -> reads.setting(workspace, "alert", target));
        return alert != null
                && !alert.removed()
                && Objects.equals(
                        StrictJsonCodec.parse(alert.body()).path("workflow").asString(""), name);
    }
}
