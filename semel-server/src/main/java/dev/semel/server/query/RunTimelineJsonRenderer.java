package dev.semel.server.query;

import dev.semel.effect.EffectLedger;
import dev.semel.error.ErrorCode;
import dev.semel.journal.JournalEntry;
import dev.semel.run.JournalStepPathFormat;
import dev.semel.run.RunId;
import dev.semel.run.StepId;
import dev.semel.server.http.ServerHttpRequest;
import dev.semel.server.query.view.StoreTime;
import dev.semel.server.query.view.TimelineView;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Builds the view of the recorded steps of a run, in the order in which they began. */
public final class RunTimelineJsonRenderer {
    private static final int MAX_ATTEMPTS = 100;
    private static final String EVENT = ".event";

    private final RunId lineage;
    private final Map<String, String> kinds;
    private final Map<String, List<JournalEntry>> byPath = new LinkedHashMap<>();
    private final Map<String, EffectLedger.EffectRow> effects = new HashMap<>();
    private final Map<String, List<EffectLedger.EffectRow>> past = new HashMap<>();
    private final List<JournalEntry.RunResumption> resumed = new ArrayList<>();

    /**
     * The ledger's view of a run.
     *
     * @param rows the rows that the run holds
     * @param past earlier sends of the run, which no row shows any more
     */
    public record LedgerRows(List<EffectLedger.EffectRow> rows, List<EffectLedger.EffectRow> past) {}

    /** @param kinds step kinds of a workflow file by step name; empty for Java */
    public RunTimelineJsonRenderer(
            RunId lineage, Map<String, String> kinds, List<JournalEntry> entries, LedgerRows ledger) {
        this.lineage = lineage;
        this.kinds = Map.copyOf(kinds);
        for (JournalEntry entry : entries) {
            if (entry instanceof JournalEntry.RunResumption one) {
                resumed.add(one);
                one.reopened()
                        .forEach(path -> byPath.computeIfAbsent(path, _ -> new ArrayList<>())
                                .add(one));
            } else if (!(entry instanceof JournalEntry.RedoRequest || entry instanceof JournalEntry.NotificationMute)) {
                byPath.computeIfAbsent(entry.path(), _ -> new ArrayList<>()).add(entry);
            }
        }
        for (EffectLedger.EffectRow row : ledger.rows()) {
            effects.merge(row.details().path(), row, (one, other) -> one.isStepNote() ? other : one);
            byPath.computeIfAbsent(row.details().path(), _ -> new ArrayList<>());
        }
        for (EffectLedger.EffectRow row : ledger.past()) {
            past.computeIfAbsent(row.details().path(), _ -> new ArrayList<>()).add(row);
            byPath.computeIfAbsent(row.details().path(), _ -> new ArrayList<>());
        }
    }

    /**
     * A range of steps. The order of steps never changes, so a number is a stable cursor.
     *
     * @param offset how many steps to skip
     */
    public record StepRange(int offset, int limit) {
        private static final int MAX = 1_000;

        public static final StepRange ALL = new StepRange(0, Integer.MAX_VALUE);

        public static StepRange parse(ServerHttpRequest request) {
            return new StepRange(number(request, "after", 0, Integer.MAX_VALUE), number(request, "limit", 1, MAX));
        }

        private static int number(ServerHttpRequest request, String name, int least, int most) {
            String text = request.query(name);
            if (text == null) {
                return least == 0 ? 0 : most;
            }
            if (text.matches("[0-9]{1,9}")) {
                int value = Integer.parseInt(text);
                if (value >= least && value <= most) {
                    return value;
                }
            }
            throw ApiErrors.invalidQuery(
                    least == 0
                            ? "`after` must be the `next` value of an earlier response"
                            : "limit must be a whole number from 1 to " + MAX);
        }
    }

    public TimelineView toView(StepRange part, PiiMask mask, List<TimelineView.ReviewReferenceView> reviews) {
        List<TimelineView.StepView> items = byPath.entrySet().stream()
                .skip(part.offset())
                .limit(part.limit())
                .map(step -> item(step.getKey(), step.getValue(), mask))
                .toList();
        long end = (long) part.offset() + part.limit();
        return new TimelineView(
                items,
                end < byPath.size() ? String.valueOf(end) : null,
                byPath.size(),
                resumed.stream()
                        .map(one -> new TimelineView.ResumptionView(
                                StoreTime.instant(one.at()), one.by(), one.reason(), one.version(), one.reopened()))
                        .toList(),
                reviews);
    }

    private TimelineView.StepView item(String path, List<JournalEntry> entries, PiiMask mask) {
        List<EffectLedger.EffectRow> earlier = past.getOrDefault(path, List.of());
        EffectLedger.EffectRow row = effects.get(path);
        // Another run of the lineage holds the row by now; the last send of this run has the same key and protection.
        EffectLedger.EffectRow known = row == null && !earlier.isEmpty() ? earlier.getLast() : row;
        JournalEntry last = entries.isEmpty() ? null : entries.getLast();
        JournalEntry.EntryKind kind = entries.isEmpty()
                ? JournalEntry.EntryKind.EFFECT
                : entries.getFirst().kind();
        String name = path.substring(JournalStepPathFormat.scopeOf(path).length());
        List<TimelineView.AttemptView> attempts = new TimelineAttempts(entries, row, earlier).toViews(mask);
        JournalEntry.StepResult done = last instanceof JournalEntry.StepResult result ? result : null;
        String[] skip = skip(done);
        return new TimelineView.StepView(
                StepId.of(lineage, path).text(),
                path,
                name,
                kindOf(name, kind),
                protection(kind, known),
                known == null ? null : UnmaskedPiiValue.key(known).maskTextOrNull(mask),
                known == null ? null : known.lastSend().key(),
                status(last, row),
                attempts.subList(Math.max(0, attempts.size() - MAX_ATTEMPTS), attempts.size()),
                attempts.size(),
                done == null ? null : UnmaskedPiiValue.result(done).maskWith(mask),
                skip.length == 0 ? null : skip[0],
                skip.length == 0 ? null : skip.length < 2 ? "" : skip[1]);
    }

    /** The event of a notification is a step of its own, named after the step of the file. */
    private String kindOf(String name, JournalEntry.EntryKind kind) {
        boolean event =
                name.endsWith(EVENT) && "notify".equals(kinds.get(name.substring(0, name.length() - EVENT.length())));
        return event ? "event" : kinds.getOrDefault(name, kind.word());
    }

    /** Who skipped the step and why; empty if nobody did. */
    private static String[] skip(JournalEntry.@Nullable StepResult done) {
        return done != null && done.outcome() == JournalEntry.StepOutcome.SKIPPED && done.ref() != null
                ? done.ref().split("\n", 2)
                : new String[0];
    }

    private static @Nullable String protection(JournalEntry.EntryKind kind, EffectLedger.@Nullable EffectRow row) {
        if (row != null) {
            return row.details().protection();
        }
        return switch (kind) {
            case TX -> "tx";
            case EFFECT -> null;
            default -> "repeatable";
        };
    }

    private static String status(@Nullable JournalEntry last, EffectLedger.@Nullable EffectRow row) {
        boolean doubted = row != null && row.isInDoubt();
        boolean resendable = row != null && row.resendUntil() > 0;
        return switch (last) {
            case JournalEntry.StepResult done when done.outcome() == JournalEntry.StepOutcome.DONE -> "completed";
            case JournalEntry.StepResult done -> done.outcome().word();
            case JournalEntry.StepFailure failed -> outcome(failed);
            case JournalEntry.WaitStart begun when begun.kind() == JournalEntry.EntryKind.STEP -> "running";
            // If the worker ended after the send, the journal contains only the beginning of the effect.
            case JournalEntry.WaitStart _ -> doubted ? "in_doubt" : resendable ? "unknown" : "waiting";
            case null, default -> doubted ? "in_doubt" : resendable ? "unknown" : "running";
        };
    }

    /** An effect whose result could not be recorded has no result, and it happened. */
    public static String outcome(JournalEntry.StepFailure failed) {
        return failed.error().code().equals(ErrorCode.RESULT_NOT_RECORDABLE.slug()) ? "done_not_recorded" : "failed";
    }
}
