package dev.semel.server.steps;

import dev.cel.common.types.CelKind;
import dev.semel.effect.Protection;
import dev.semel.server.expressions.DurationFormat;
import dev.semel.server.expressions.YamlMapReader;
import dev.semel.server.expressions.ExpressionContext;
import dev.semel.server.expressions.SourceRange;
import dev.semel.server.expressions.ValueTemplate;
import dev.semel.server.expressions.YamlNode;
import dev.semel.workflow.EffectAction;
import dev.semel.workflow.OnChange;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Reads the fields that all effect steps share: protection, key and window, retries and review.
 *
 * <p>A step without a protection is rejected with the choices, because nothing else decides what happens when a
 * response is lost.
 *
 * @param action name of the action in messages, e.g. `POST`
 * @param does default of `does`
 * @param supportedProtections protections that this action supports
 * @param noProtectionReason why it needs no protection, e.g. because it only reads; null if it needs one
 */
record EffectOptionsReader(
        String action,
        EffectAction does,
        Set<String> supportedProtections,
        @Nullable String noProtectionReason) {
    static final Set<String> FIELDS = Set.of(
            "idempotent",
            "protect",
            "provider_window",
            "because",
            "reviewers",
            "on_doubt",
            "retry",
            "timeout",
            "already_done_status",
            "does",
            "risk",
            "object",
            "worth");

    private static final Duration USUAL_MEMORY = Duration.ofHours(24);
    private static final String UNPROTECTED = """
        Write one of:
          protect: provider_key   # the provider honours the Idempotency-Key; set how long with provider_window
          protect: lookup         # the engine can query the provider for the outcome
          protect: ask            # a user decides if the outcome is unknown
          protect: at_most_once   # never sent again; the step may end indeterminate
          protect: none           # sent again if the outcome is unknown; give the reason with because
        """;

    @Nullable
    EffectOptions read(StepReadContext draft) {
        int before = draft.problems().count();
        YamlMapReader fields = draft.fields();
        InDoubtReviewReader.ReviewTemplate question = InDoubtReviewReader.read(draft);
        Protection protection = protection(draft, question);
        EffectOptions.IdempotentSection once = once(draft);
        RetryOptions retries = RetryOptions.read(draft);
        EffectAction meant = fields.choice("does", EffectAction.class).orElse(does);
        String risk = fields.text("risk");
        if (risk != null && !risk.equals("high")) {
            draft.addError(fields.valueRange("risk"), "risk must be high; remove it for normal risk.");
        }
        ValueTemplate object = draft.template(fields, "object", CelKind.STRING, CelKind.INT);
        ValueTemplate worth = draft.template(fields, "worth", CelKind.STRING, CelKind.INT, CelKind.DOUBLE);
        List<Integer> done = alreadyDone(draft);
        if (draft.problems().count() > before || protection == null) {
            return null;
        }
        remember(draft, protection, once, retries);
        return new EffectOptions(once, protection, retries, done, meant, object, worth, risk, question);
    }

    private @Nullable Protection protection(StepReadContext draft, InDoubtReviewReader.@Nullable ReviewTemplate question) {
        YamlMapReader fields = draft.fields();
        String word = fields.text("protect");
        if (word == null) {
            if (noProtectionReason != null) {
                return new Protection.Repeatable(noProtectionReason);
            }
            if (fields.get("protect") == null) {
                draft.problems()
                        .add(
                                fields.nameRange("id"),
                                "SEM-P01: %s has an external effect but no protection; if its response is lost, the outcome is unknown."
                                        .formatted(action),
                                "protect is missing",
                                UNPROTECTED.strip());
            }
            return null;
        }
        SourceRange spot = fields.valueRange("protect");
        String because = fields.text("because");
        if (!supportedProtections.contains(word)) {
            draft.addError(
                    spot,
                    "%s supports protect: %s; it does not support %s."
                            .formatted(action, String.join(", ", new TreeSet<>(supportedProtections)), word));
            return null;
        }
        return switch (word) {
            case "provider_key" -> new Protection.ProviderKey(memory(draft));
            case "lookup" -> new Protection.Lookup();
            case "at_most_once" -> new Protection.AtMostOnce();
            case "ask" -> new Protection.Ask(reviewers(draft, question));
            case "repeatable" -> new Protection.Repeatable(because == null ? "declared in the file" : because);
            default -> none(draft, spot, because);
        };
    }

    private static @Nullable Protection none(StepReadContext draft, SourceRange spot, @Nullable String because) {
        if (because == null || because.isBlank()) {
            draft.problems()
                    .add(
                            spot,
                            "protect: none sends again if the outcome is unknown; give the reason.",
                            "why?",
                            "Add because: with the reason; users see it in the list of effects.");
            return null;
        }
        draft.addWarning("it is unprotected: if a response is lost, the engine sends it again.");
        return new Protection.None(because);
    }

    private static Duration memory(StepReadContext draft) {
        Duration window = draft.fields().duration("provider_window");
        if (draft.fields().get("provider_window") == null) {
            draft.addWarning("provider_window is missing; the engine assumes that the provider remembers a key for 24h.");
        }
        return window == null ? USUAL_MEMORY : window;
    }

    /** The reviewers: `on_doubt.review.to`, else `reviewers`, else the owner. */
    private static String reviewers(StepReadContext draft, InDoubtReviewReader.@Nullable ReviewTemplate question) {
        String named = draft.fields().text("reviewers");
        if (question != null && !question.to().isEmpty()) {
            return question.to();
        }
        return named == null ? "owner" : named;
    }

    private EffectOptions.@Nullable IdempotentSection once(StepReadContext draft) {
        YamlMapReader fields = draft.section("idempotent");
        if (fields == null) {
            return null;
        }
        fields.allowOnly(Set.of("key", "time", "unit", "on_change"), Set.of());
        int before = draft.problems().count();
        ValueTemplate key = draft.template(fields, "key", ExpressionContext.ContextKind.EFFECT_KEY, CelKind.STRING, CelKind.INT);
        if (fields.get("key") == null) {
            draft.addError(fields.range(), "idempotent.key is missing; it identifies the effect, e.g. key: ${ input.order_id }.");
        } else if (key instanceof ValueTemplate.Literal && draft.problems().count() == before) {
            draft.addError(
                    fields.valueRange("key"),
                    "this key is the same for every run, so only the first would be sent; use an id from the"
                            + " input.");
        }
        Duration window = window(draft, fields);
        OnChange onChange =
                fields.choice("on_change", OnChange.class).orElse(OnChange.SEND);
        if (window == null && fields.get("on_change") != null && fields.get("time") == null) {
            draft.addError(
                    fields.nameRange("on_change"),
                    "on_change needs a window across runs; add time and unit.");
        }
        String written = fields.get("key") instanceof YamlNode.ScalarNode(SourceRange _, var text) ? text.asString() : "";
        return key == null ? null : new EffectOptions.IdempotentSection(key, written, window, onChange);
    }

    /** Units of `idempotent.unit`. */
    private enum WindowUnit {
        SECONDS(1),
        MINUTES(60),
        HOURS(3_600),
        DAYS(86_400);

        final int seconds;

        WindowUnit(int seconds) {
            this.seconds = seconds;
        }
    }

    private static @Nullable Duration window(StepReadContext draft, YamlMapReader fields) {
        Integer time = fields.number("time", 1, Integer.MAX_VALUE);
        WindowUnit unit = fields.choice("unit", WindowUnit.class).orElse(null);
        if ((fields.get("time") == null) != (fields.get("unit") == null)) {
            draft.addError(fields.range(), "time and unit must be set together, e.g. time: 12, unit: hours.");
        }
        if (time == null || unit == null) {
            return null;
        }
        Duration window = Duration.ofSeconds((long) time * unit.seconds);
        if (window.compareTo(Duration.ofDays(365)) > 0) {
            draft.addError(fields.valueRange("time"), "the window must be between 1 second and 365 days.");
            return null;
        }
        return window;
    }

    private static List<Integer> alreadyDone(StepReadContext draft) {
        List<Integer> statuses = new ArrayList<>();
        for (YamlNode item : draft.fields().items("already_done_status")) {
            if (item instanceof YamlNode.ScalarNode(SourceRange _, var value)
                    && value.isInt()
                    && value.intValue() >= 400
                    && value.intValue() <= 599) {
                statuses.add(value.intValue());
            } else {
                draft.addError(item.range(), "each already_done_status must be a number between 400 and 599.");
            }
        }
        return statuses;
    }

    /** A key that the provider forgets before the last attempt does not protect that attempt. */
    private static void remember(StepReadContext draft, Protection protection, EffectOptions.@Nullable IdempotentSection once, RetryOptions retries) {
        Duration horizon = retries.totalPause();
        if (protection instanceof Protection.ProviderKey(Duration memory) && memory.compareTo(horizon) < 0) {
            draft.addWarning(
                    "SEM-K06: the provider forgets the key after %s, but retries last %s; the last attempts end in doubt."
                            .formatted(DurationFormat.format(memory), DurationFormat.format(horizon)));
        }
        if (once != null && once.window() != null && once.window().compareTo(horizon) < 0) {
            draft.addWarning("SEM-K06: the window of %s is shorter than its retries, which last %s."
                    .formatted(DurationFormat.format(once.window()), DurationFormat.format(horizon)));
        }
    }
}
