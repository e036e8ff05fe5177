package dev.semel.server.files.steps;

import dev.cel.common.types.CelKind;
import dev.semel.effect.EffectDuplicateProtection;
import dev.semel.policy.ChangedEffectDataPolicy;
import dev.semel.server.files.expressions.ExpressionCompileContext.ContextKind;
import dev.semel.server.files.expressions.YamlValueTemplate;
import dev.semel.server.files.yaml.DurationFormat;
import dev.semel.server.files.yaml.YamlMapReader;
import dev.semel.server.files.yaml.YamlNode;
import dev.semel.server.files.yaml.YamlSourceRange;
import dev.semel.workflow.EffectOperation;
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
public record YamlEffectOptionsReader(
        String action,
        EffectOperation does,
        Set<String> supportedProtections,
        @Nullable String noProtectionReason) {
    private static final Set<String> FIELDS = Set.of(
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

    public static Set<String> fieldsWith(String... more) {
        Set<String> fields = new TreeSet<>(FIELDS);
        fields.addAll(Set.of(more));
        return fields;
    }

    private static final Duration USUAL_MEMORY = Duration.ofHours(24);
    private static final String UNPROTECTED = """
        Write one of:
          protect: provider_key   # the provider recognises a repeated key; set for how long in provider_window, e.g. 24h
          protect: lookup         # the engine can query the provider for the outcome
          protect: ask            # a user decides if the outcome is unknown
          protect: at_most_once   # the engine never sends again; the step may end indeterminate
          protect: none           # the engine sends again if the outcome is unknown; give the reason with because
        """;

    @Nullable
    public YamlEffectOptions read(YamlStepReadContext draft) {
        int before = draft.problems().count();
        YamlMapReader fields = draft.fields();
        YamlInDoubtEffectReviewReader.ReviewTemplate question = YamlInDoubtEffectReviewReader.read(draft);
        EffectDuplicateProtection protection = protection(draft, question);
        YamlEffectOptions.IdempotentSection once = once(draft);
        RetryOptions retries = RetryOptions.read(draft);
        EffectOperation meant = fields.choice("does", EffectOperation.class).orElse(does);
        String risk = fields.text("risk");
        if (risk != null && !risk.equals("high")) {
            draft.addError(fields.valueRange("risk"), "`risk` can only be `high`; for normal risk, remove the field.");
        }
        YamlValueTemplate object = draft.template(fields, "object", CelKind.STRING, CelKind.INT, CelKind.DOUBLE);
        YamlValueTemplate worth = draft.template(fields, "worth", CelKind.STRING, CelKind.INT, CelKind.DOUBLE);
        List<Integer> done = alreadyDone(draft);
        if (draft.problems().count() > before || protection == null) {
            return null;
        }
        remember(draft, protection, once, retries);
        boolean alternative = "continue".equals(fields.text("on_error"));
        return new YamlEffectOptions(
                once, protection, retries, done, meant, object, worth, risk, question, alternative);
    }

    private @Nullable EffectDuplicateProtection protection(
            YamlStepReadContext draft, YamlInDoubtEffectReviewReader.@Nullable ReviewTemplate question) {
        YamlMapReader fields = draft.fields();
        String word = fields.text("protect");
        if (word == null) {
            if (noProtectionReason != null) {
                return new EffectDuplicateProtection.Repeatable(noProtectionReason);
            }
            if (fields.get("protect") == null) {
                draft.addError(
                        fields.nameRange("id"),
                        "SEM-P01: %s has an external effect but no protection; if its response is lost, the outcome is unknown."
                                .formatted(action),
                        "protect is missing",
                        UNPROTECTED.strip());
            }
            return null;
        }
        YamlSourceRange spot = fields.valueRange("protect");
        String because = fields.text("because");
        if (!supportedProtections.contains(word)) {
            draft.addError(
                    spot,
                    "%s supports protect: %s; it does not support %s."
                            .formatted(action, String.join(", ", new TreeSet<>(supportedProtections)), word));
            return null;
        }
        return switch (word) {
            case "provider_key" -> new EffectDuplicateProtection.ProviderKey(memory(draft));
            case "lookup" -> new EffectDuplicateProtection.Lookup();
            case "at_most_once" -> new EffectDuplicateProtection.AtMostOnce();
            case "ask" -> new EffectDuplicateProtection.Ask(reviewers(draft, question));
            case "repeatable" ->
                new EffectDuplicateProtection.Repeatable(because == null ? "declared in the file" : because);
            default -> none(draft, spot, because);
        };
    }

    private static @Nullable EffectDuplicateProtection none(
            YamlStepReadContext draft, YamlSourceRange spot, @Nullable String because) {
        if (because == null || because.isBlank()) {
            draft.addError(
                    spot,
                    "`protect: none` needs a reason, because the engine sends the effect again if the outcome is"
                            + " unknown.",
                    "why?",
                    "Add `because:` with the reason; users see the reason in the list of effects.");
            return null;
        }
        draft.addWarning("the effect is unprotected: if its response is lost, the engine sends the effect again.");
        return new EffectDuplicateProtection.None(because);
    }

    private static Duration memory(YamlStepReadContext draft) {
        Duration window = draft.fields().duration("provider_window");
        if (draft.fields().get("provider_window") == null) {
            draft.addError(
                    draft.fields().valueRange("protect"),
                    "SEM-P03: `protect: provider_key` needs provider_window; it decides how long the engine may send"
                            + " the effect again with the same key.",
                    "provider_window is missing",
                    "Look up how long the provider remembers an idempotency key, e.g. provider_window: 24h.");
        }
        return window == null ? USUAL_MEMORY : window;
    }

    /** The reviewers: `on_doubt.review.to`, else `reviewers`, else the owner. */
    private static String reviewers(
            YamlStepReadContext draft, YamlInDoubtEffectReviewReader.@Nullable ReviewTemplate question) {
        String named = draft.fields().text("reviewers");
        if (question != null && !question.to().isEmpty()) {
            return question.to();
        }
        return named == null ? "owner" : named;
    }

    private YamlEffectOptions.@Nullable IdempotentSection once(YamlStepReadContext draft) {
        YamlMapReader fields = draft.section("idempotent");
        if (fields == null) {
            return null;
        }
        fields.allowOnly(Set.of("key", "time", "unit", "on_change"));
        int before = draft.problems().count();
        YamlValueTemplate key =
                draft.template(fields, "key", ContextKind.EFFECT_KEY, CelKind.STRING, CelKind.INT, CelKind.DOUBLE);
        if (fields.get("key") == null) {
            draft.addError(
                    fields.range(),
                    "idempotent.key is missing; it identifies the effect, e.g. key: ${ input.order_id }.");
        } else if (key instanceof YamlValueTemplate.Literal && draft.problems().count() == before) {
            draft.addError(
                    fields.valueRange("key"),
                    "this key is the same for every run, so only the first run would send; use an id from the input.");
        }
        Duration window = window(draft, fields);
        ChangedEffectDataPolicy onChange =
                fields.choice("on_change", ChangedEffectDataPolicy.class).orElse(ChangedEffectDataPolicy.SEND);
        if (window == null && fields.get("on_change") != null && fields.get("time") == null) {
            draft.addError(
                    fields.nameRange("on_change"),
                    "`on_change` needs a time window that covers several runs; add `time` and `unit`.");
        }
        return key == null
                ? null
                : new YamlEffectOptions.IdempotentSection(key, fields.sourceText("key"), window, onChange);
    }

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

    private static @Nullable Duration window(YamlStepReadContext draft, YamlMapReader fields) {
        Integer time = fields.number("time", 1, Integer.MAX_VALUE);
        WindowUnit unit = fields.choice("unit", WindowUnit.class).orElse(null);
        if ((fields.get("time") == null) != (fields.get("unit") == null)) {
            draft.addError(fields.range(), "`time` and `unit` must be set together, e.g. time: 12, unit: hours.");
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

    private static List<Integer> alreadyDone(YamlStepReadContext draft) {
        List<Integer> statuses = new ArrayList<>();
        for (YamlNode item : draft.fields().items("already_done_status")) {
            if (item instanceof YamlNode.ScalarNode(YamlSourceRange _, var value)
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
    private static void remember(
            YamlStepReadContext draft,
            EffectDuplicateProtection protection,
            YamlEffectOptions.@Nullable IdempotentSection once,
            RetryOptions retries) {
        Duration horizon = retries.totalPause();
        if (protection instanceof EffectDuplicateProtection.ProviderKey(Duration memory)
                && memory.compareTo(horizon) < 0) {
            draft.addWarning(
                    "SEM-K06: the provider forgets the key after %s, but retries last %s; the last attempts end in doubt."
                            .formatted(DurationFormat.format(memory), DurationFormat.format(horizon)));
        }
        if (once != null && once.window() != null && once.window().compareTo(horizon) < 0) {
            draft.addWarning("SEM-K06: the window of %s is shorter than the retries of the step, which last %s."
                    .formatted(DurationFormat.format(once.window()), DurationFormat.format(horizon)));
        }
    }
}
