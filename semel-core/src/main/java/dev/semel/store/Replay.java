package dev.semel.store;

import dev.semel.run.RunId;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * What is done about plans of safe replays. A plan is a head and one item for each run; it is laid, gets its items page
 * by page, is ready for a while, and is applied once. Each of these is one transaction, and done twice it is done once.
 */
public sealed interface Replay<T> {
    /** So long a plan may be applied. */
    Duration VALID = Duration.ofMinutes(15);

    /** The life of a plan. The codes are stored. */
    enum State {
        /** Its items are being written. */
        MAKING(1),
        PLANNED(2),
        APPLYING(3),
        /** Every item was seen to. */
        DONE(4),
        STOPPED(5);

        private final int code;

        State(int code) {
            this.code = code;
        }

        public int code() {
            return code;
        }

        public String word() {
            return name().toLowerCase(Locale.ROOT);
        }

        public static State of(int code) {
            return values()[code - 1];
        }
    }

    /** What became of an item. The codes are stored. */
    enum Fate {
        PLANNED(1),
        /** The new run exists. */
        APPLIED(2),
        /** The world moved since the plan was made. Nothing was started. */
        OUTDATED(3),
        /** Its run was not admitted. */
        REFUSED(4),
        /** It was not asked for: it needs a person, is unprotected or cannot be replayed. */
        LEFT_OUT(5);

        private final int code;

        Fate(int code) {
            this.code = code;
        }

        public int code() {
            return code;
        }

        public String word() {
            return name().toLowerCase(Locale.ROOT);
        }

        public static Fate of(int code) {
            return values()[code - 1];
        }
    }

    /**
     * The head of a plan.
     *
     * @param wish what was asked for, as JSON text; who asks again with the same key must ask for the same
     * @param input what the runs get instead of their own input; null for that
     * @param counts what the items come to, as JSON text
     * @param how it is applied, as JSON text; null where that is not said yet
     * @param approvedBy empty where nobody need approve; null while somebody must
     * @param note why it was stopped; while it is applied, what it waits for
     * @param takenBy the worker that applies it, until {@code takenUntil}
     */
    record Plan(
            RunId id,
            int ws,
            String madeBy,
            String wish,
            @Nullable String input,
            long madeAt,
            long validUntil,
            State state,
            String counts,
            @Nullable String approvedBy,
            @Nullable String how,
            @Nullable String appliedBy,
            String note,
            @Nullable RunId takenBy,
            long takenUntil,
            long endedAt) {
        /** What people see as its id. */
        public String text() {
            return textOf(id);
        }
    }

    static String textOf(RunId plan) {
        return "rpl_" + plan.text().substring(4);
    }

    /** Null for a text that is no id of a plan. */
    static @Nullable RunId parse(String text) {
        return text.startsWith("rpl_") ? RunId.parse("run_" + text.substring(4)) : null;
    }

    /**
     * One run of a plan.
     *
     * @param run the newest of its lineage when the plan was made
     * @param worst the place of its most dangerous action, counted from 1; 0 where it cannot be replayed
     * @param actions all of its actions, one bit each
     * @param body what is foretold for it, as JSON text
     * @param made the new run
     * @param note why it has no new run
     */
    record Item(
            RunId run,
            int worst,
            int actions,
            String body,
            Fate fate,
            @Nullable RunId made,
            String note) {
        public Item became(Fate value, @Nullable RunId newRun, String why) {
            return new Item(run, worst, actions, body, value, newRun, why);
        }
    }

    /**
     * Begins a plan, or finds the one that has this id. The times in it are the store's.
     *
     * @param approval somebody else than its maker must approve it
     * @param how it is to be applied, as JSON text; where it is approved it is applied so and in no other way
     */
    record Lay(
            RunId id,
            int ws,
            String madeBy,
            String wish,
            @Nullable String input,
            boolean approval,
            @Nullable String how)
            implements Replay<Plan> {
        /** One of which nobody said yet how it is applied. */
        public Lay(RunId id, int ws, String madeBy, String wish, @Nullable String input, boolean approval) {
            this(id, ws, madeBy, wish, input, approval, null);
        }
    }

    /** Writes items of a plan that is being made. Answers how many there are; 0 where it is not being made any more. */
    record Note(RunId plan, List<Item> items) implements Replay<Integer> {
        /** In the order of their rows. */
        public Note {
            items = items.stream().sorted(Comparator.comparing(Item::run)).toList();
        }
    }

    /** Removes items of a plan that is being made: they stayed from an attempt before, and are not meant any more. */
    record Drop(RunId plan, List<RunId> runs) implements Replay<Integer> {
        /** In the order of their rows. */
        public Drop {
            runs = runs.stream().sorted().toList();
        }
    }

    /** All items are there: from now on it may be applied. Null: there is no such plan. */
    record Ready(RunId plan, String counts) implements Replay<@Nullable Plan> {}

    /** Somebody approves a plan; the first one counts, and never its maker. Null: there is no such plan. */
    record Approve(int ws, RunId plan, Edit.By by) implements Replay<@Nullable Plan> {}

    /**
     * Begins to apply a plan, once, while it is valid and where nobody need approve it any more; one that somebody
     * approved, only in the way that was said before. The answer is the plan as it stands then, begun by this or not.
     * Null: there is no such plan.
     */
    record Begin(int ws, RunId plan, String how, Edit.By by) implements Replay<@Nullable Plan> {}

    /** Takes a plan that is being applied, to see to it alone for so many microseconds. */
    record Take(RunId plan, RunId by, long lasts) implements Replay<Boolean> {}

    /**
     * Lets a plan go that its worker cannot see to, so that another one may take it at once. False: it was not its.
     *
     * @param note what it waits for; it stands with the plan until somebody goes on with it
     */
    record LetGo(RunId plan, RunId by, String note) implements Replay<Boolean> {}

    /** Writes down what became of items; where there are any, it waits for nothing. False: the plan was taken by somebody else, or is not applied any more. */
    record Settle(RunId plan, RunId by, List<Item> items) implements Replay<Boolean> {
        /** In the order of their rows. */
        public Settle {
            items = items.stream().sorted(Comparator.comparing(Item::run)).toList();
        }
    }

    /** Every item was seen to, or its driver gave it up for a reason. False: it is not applied any more. */
    record Finish(RunId plan, State state, String note) implements Replay<Boolean> {}

    /** A person stops a plan: what was started goes on. Null: there is no such plan. */
    record Stop(int ws, RunId plan, Edit.By by) implements Replay<@Nullable Plan> {}

    /** Deletes up to {@code limit} items of plans that were made before then, and plans without items; says how many. */
    record Delete(long before, int limit) implements Replay<Integer> {}
}
