package dev.semel.store;

import dev.semel.run.RunId;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * An operation on a safe-replay plan. A plan has a head and one item per run. It is created, filled with items page by
 * page, valid for a limited time, and applied once. Each operation is one transaction; applying it twice has the effect
 * of once.
 */
public sealed interface ReplayPlanStoreWriteCommand<T> {
    /** How long after its creation a plan may be applied. */
    Duration VALIDITY = Duration.ofMinutes(15);

    /** The state of a replay plan. The codes are stored. */
    enum PlanState {
        /** Its items are being added. */
        PLANNING(1),
        PLANNED(2),
        APPLYING(3),
        /** Every item was processed. */
        DONE(4),
        STOPPED(5);

        private final int code;

        PlanState(int code) {
            this.code = code;
        }

        public int code() {
            return code;
        }

        public String word() {
            return name().toLowerCase(Locale.ROOT);
        }

        public static PlanState of(int code) {
            return values()[code - 1];
        }
    }

    /** The outcome of one item of a replay plan. The codes are stored. */
    enum ItemOutcome {
        PLANNED(1),
        /** The new run exists. */
        APPLIED(2),
        /** The situation changed since the plan was created. Nothing was started. */
        OUTDATED(3),
        /** The replay of this run was not admitted. */
        REJECTED(4),
        /** Not selected: it needs a decision, is unprotected or cannot be replayed. */
        SKIPPED(5);

        private final int code;

        ItemOutcome(int code) {
            this.code = code;
        }

        public int code() {
            return code;
        }

        public String word() {
            return name().toLowerCase(Locale.ROOT);
        }

        public static ItemOutcome of(int code) {
            return values()[code - 1];
        }
    }

    /**
     * @param request the request as JSON text; a repeated request with the same key must be equal
     * @param input replaces the input of the runs; null keeps their own
     * @param summary summary of the items as JSON text
     * @param applyOptions options for applying it, as JSON text; null if not chosen yet
     * @param approvedBy empty if no approval is needed; null while it is missing
     * @param note why it was stopped; while it is being applied, what it waits for
     * @param takenBy the worker that applies it, until {@code takenUntil}
     */
    record ReplayPlan(
            RunId id,
            int ws,
            String createdBy,
            String request,
            @Nullable String input,
            long createdAt,
            long validUntil,
            PlanState state,
            String summary,
            @Nullable String approvedBy,
            @Nullable String applyOptions,
            @Nullable String appliedBy,
            String note,
            @Nullable RunId takenBy,
            long takenUntil,
            long endedAt) {
        /** The id that users see. */
        public String idText() {
            return textOf(id);
        }
    }

    static String textOf(RunId plan) {
        return "rpl_" + plan.text().substring(4);
    }

    /** Returns null if the text is not a plan id. */
    static @Nullable RunId parse(String text) {
        return text.startsWith("rpl_") ? RunId.parse("run_" + text.substring(4)) : null;
    }

    /**
     * @param run the newest run of its lineage when the plan was created
     * @param worstAction the position of its riskiest action, from 1; 0 if it cannot be replayed
     * @param actions all of its actions, one bit each
     * @param preview the preview of this run, as JSON text
     * @param newRun the new run
     * @param note why there is no new run
     * @param resendUntil until when its first re-send with the same key is safe; {@link #NO_RESEND} if it has none
     */
    record PlanItem(
            RunId run,
            int worstAction,
            int actions,
            String preview,
            ItemOutcome outcome,
            @Nullable RunId newRun,
            String note,
            long resendUntil) {
        public static final long NO_RESEND = Long.MAX_VALUE;

        public PlanItem(
                RunId run,
                int worstAction,
                int actions,
                String preview,
                ItemOutcome outcome,
                @Nullable RunId newRun,
                String note) {
            this(run, worstAction, actions, preview, outcome, newRun, note, NO_RESEND);
        }

        public PlanItem withOutcome(ItemOutcome value, @Nullable RunId newRun, String why) {
            return new PlanItem(run, worstAction, actions, preview, value, newRun, why, resendUntil);
        }
    }

    /**
     * Creates a plan, or returns the existing plan with this id. The store sets its times.
     *
     * @param needsApproval a user other than its creator must approve it
     * @param applyOptions options for applying it, as JSON text; an approved plan is applied with exactly these
     */
    record CreatePlan(
            RunId id,
            int ws,
            String createdBy,
            String request,
            @Nullable String input,
            boolean needsApproval,
            @Nullable String applyOptions)
            implements ReplayPlanStoreWriteCommand<ReplayPlan> {}

    /** Adds items to a plan that is being created. Returns their number; 0 if the plan is no longer being created. */
    record AddItems(RunId plan, List<PlanItem> items) implements ReplayPlanStoreWriteCommand<Integer> {
        /** Sorted in lock order. */
        public AddItems {
            items = items.stream().sorted(Comparator.comparing(PlanItem::run)).toList();
        }
    }

    /** Removes items of an earlier, interrupted attempt from a plan that is being created. */
    record RemoveItems(RunId plan, List<RunId> runs) implements ReplayPlanStoreWriteCommand<Integer> {
        /** Sorted in lock order. */
        public RemoveItems {
            runs = runs.stream().sorted().toList();
        }
    }

    /** Marks a plan as complete, so that it can be applied. Returns null if the plan does not exist. */
    record MarkReady(RunId plan, String summary) implements ReplayPlanStoreWriteCommand<@Nullable ReplayPlan> {}

    /** The first approval counts, and the creator cannot approve. Null if the plan does not exist. */
    record ApprovePlan(int ws, RunId plan, StoreWriteCommand.ChangeAuthor by)
            implements ReplayPlanStoreWriteCommand<@Nullable ReplayPlan> {}

    /** Once, while valid and approved, with the approved options. Returns the current plan; null if there is none. */
    record StartApplying(int ws, RunId plan, String applyOptions, StoreWriteCommand.ChangeAuthor by)
            implements ReplayPlanStoreWriteCommand<@Nullable ReplayPlan> {}

    /** Claims a plan that is being applied for one worker, for a number of microseconds. */
    record ClaimPlan(RunId plan, RunId by, long duration) implements ReplayPlanStoreWriteCommand<Boolean> {}

    /** Another worker can claim it at once. False if this worker did not hold it. {@code note}: what it waits for. */
    record ReleasePlan(RunId plan, RunId by, String note) implements ReplayPlanStoreWriteCommand<Boolean> {}

    /** Returns false if another worker holds the plan or it is no longer being applied. */
    record RecordItems(RunId plan, RunId by, List<PlanItem> items) implements ReplayPlanStoreWriteCommand<Boolean> {
        /** Sorted in lock order. */
        public RecordItems {
            items = items.stream().sorted(Comparator.comparing(PlanItem::run)).toList();
        }
    }

    /** All items are processed, or its worker gave up. Returns false if it is not being applied. */
    record FinishPlan(RunId plan, PlanState state, String note) implements ReplayPlanStoreWriteCommand<Boolean> {}

    /** Stops a plan; runs that were started continue. Returns null if the plan does not exist. */
    record StopPlan(int ws, RunId plan, StoreWriteCommand.ChangeAuthor by)
            implements ReplayPlanStoreWriteCommand<@Nullable ReplayPlan> {}

    /** Up to {@code limit} items of plans created before then, and plans without items. Returns their number. */
    record DeleteOldPlans(long before, int limit) implements ReplayPlanStoreWriteCommand<Integer> {}
}
