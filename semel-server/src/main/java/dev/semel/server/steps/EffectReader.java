package dev.semel.server.steps;

import dev.cel.common.types.CelKind;
import dev.semel.effect.Protection;
import dev.semel.server.language.Durations;
import dev.semel.server.language.Fields;
import dev.semel.server.language.Site;
import dev.semel.server.language.Spot;
import dev.semel.server.language.Template;
import dev.semel.server.language.Tree;
import dev.semel.workflow.EffectPlan;
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
 * @param deed name of the action in messages, e.g. `POST`
 * @param does default of `does`
 * @param honoured protections that this action supports
 * @param harmless why it needs no protection, e.g. because it only reads; null if it needs one
 */
record EffectReader(
        String deed,
        EffectPlan.Does does,
        Set<String> honoured,
        @Nullable String harmless) {
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
    EffectTerms read(Draft draft) {
        int before = draft.problems().count();
        Fields fields = draft.fields();
        DoubtReader.Question question = DoubtReader.read(draft);
        Protection protection = protection(draft, question);
        EffectTerms.Once once = once(draft);
        Retries retries = Retries.read(draft);
        EffectPlan.Does meant = fields.choice("does", EffectPlan.Does.class).orElse(does);
        String risk = fields.text("risk");
        if (risk != null && !risk.equals("high")) {
            draft.wrong(fields.spotOfValue("risk"), "risk must be high; remove it for normal risk.");
        }
        Template object = draft.template(fields, "object", CelKind.STRING, CelKind.INT);
        Template worth = draft.template(fields, "worth", CelKind.STRING, CelKind.INT, CelKind.DOUBLE);
        List<Integer> done = alreadyDone(draft);
        if (draft.problems().count() > before || protection == null) {
            return null;
        }
        remember(draft, protection, once, retries);
        return new EffectTerms(once, protection, retries, done, meant, object, worth, risk, question);
    }

    private @Nullable Protection protection(Draft draft, DoubtReader.@Nullable Question question) {
        Fields fields = draft.fields();
        String word = fields.text("protect");
        if (word == null) {
            if (harmless != null) {
                return new Protection.Repeatable(harmless);
            }
            if (fields.get("protect") == null) {
                draft.problems()
                        .add(
                                fields.spotOf("id"),
                                "SEM-P01: %s has an external effect but no protection; if its response is lost, the outcome is unknown."
                                        .formatted(deed),
                                "protect is missing",
                                UNPROTECTED.strip());
            }
            return null;
        }
        Spot spot = fields.spotOfValue("protect");
        String because = fields.text("because");
        if (!honoured.contains(word)) {
            draft.wrong(
                    spot,
                    "%s supports protect: %s; it does not support %s."
                            .formatted(deed, String.join(", ", new TreeSet<>(honoured)), word));
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

    private static @Nullable Protection none(Draft draft, Spot spot, @Nullable String because) {
        if (because == null || because.isBlank()) {
            draft.problems()
                    .add(
                            spot,
                            "protect: none sends again if the outcome is unknown; give the reason.",
                            "why?",
                            "Add because: with the reason; users see it in the list of effects.");
            return null;
        }
        draft.warn("it is unprotected: if a response is lost, the engine sends it again.");
        return new Protection.None(because);
    }

    private static Duration memory(Draft draft) {
        Duration window = draft.fields().duration("provider_window");
        if (draft.fields().get("provider_window") == null) {
            draft.warn("provider_window is missing; the engine assumes that the provider remembers a key for 24h.");
        }
        return window == null ? USUAL_MEMORY : window;
    }

    /** The reviewers: `on_doubt.review.to`, else `reviewers`, else the owner. */
    private static String reviewers(Draft draft, DoubtReader.@Nullable Question question) {
        String named = draft.fields().text("reviewers");
        if (question != null && !question.to().isEmpty()) {
            return question.to();
        }
        return named == null ? "owner" : named;
    }

    private EffectTerms.@Nullable Once once(Draft draft) {
        Fields fields = draft.section("idempotent");
        if (fields == null) {
            return null;
        }
        fields.allow(Set.of("key", "time", "unit", "on_change"), Set.of());
        int before = draft.problems().count();
        Template key = draft.template(fields, "key", Site.Kind.EFFECT_KEY, CelKind.STRING, CelKind.INT);
        if (fields.get("key") == null) {
            draft.wrong(fields.spot(), "idempotent.key is missing; it identifies the effect, e.g. key: ${ input.order_id }.");
        } else if (key instanceof Template.Literal && draft.problems().count() == before) {
            draft.wrong(
                    fields.spotOfValue("key"),
                    "this key is the same for every run, so only the first would be sent; use an id from the"
                            + " input.");
        }
        Duration window = window(draft, fields);
        EffectPlan.OnChange onChange =
                fields.choice("on_change", EffectPlan.OnChange.class).orElse(EffectPlan.OnChange.SEND);
        if (window == null && fields.get("on_change") != null && fields.get("time") == null) {
            draft.wrong(
                    fields.spotOf("on_change"),
                    "on_change needs a window across runs; add time and unit.");
        }
        String written = fields.get("key") instanceof Tree.Scalar(Spot _, var text) ? text.asString() : "";
        return key == null ? null : new EffectTerms.Once(key, written, window, onChange);
    }

    /** Units of `idempotent.unit`. */
    private enum Unit {
        SECONDS(1),
        MINUTES(60),
        HOURS(3_600),
        DAYS(86_400);

        final int seconds;

        Unit(int seconds) {
            this.seconds = seconds;
        }
    }

    private static @Nullable Duration window(Draft draft, Fields fields) {
        Integer time = fields.number("time", 1, Integer.MAX_VALUE);
        Unit unit = fields.choice("unit", Unit.class).orElse(null);
        if ((fields.get("time") == null) != (fields.get("unit") == null)) {
            draft.wrong(fields.spot(), "time and unit must be set together, e.g. time: 12, unit: hours.");
        }
        if (time == null || unit == null) {
            return null;
        }
        Duration window = Duration.ofSeconds((long) time * unit.seconds);
        if (window.compareTo(Duration.ofDays(365)) > 0) {
            draft.wrong(fields.spotOfValue("time"), "the window must be between 1 second and 365 days.");
            return null;
        }
        return window;
    }

    private static List<Integer> alreadyDone(Draft draft) {
        List<Integer> statuses = new ArrayList<>();
        for (Tree item : draft.fields().items("already_done_status")) {
            if (item instanceof Tree.Scalar(Spot _, var value)
                    && value.isInt()
                    && value.intValue() >= 400
                    && value.intValue() <= 599) {
                statuses.add(value.intValue());
            } else {
                draft.wrong(item.spot(), "each already_done_status must be a number between 400 and 599.");
            }
        }
        return statuses;
    }

    /** A key that the provider forgets before the last attempt does not protect that attempt. */
    private static void remember(Draft draft, Protection protection, EffectTerms.@Nullable Once once, Retries retries) {
        Duration horizon = retries.horizon();
        if (protection instanceof Protection.ProviderKey(Duration memory) && memory.compareTo(horizon) < 0) {
            draft.warn(
                    "SEM-K06: the provider forgets the key after %s, but retries last %s; the last attempts end in doubt."
                            .formatted(Durations.words(memory), Durations.words(horizon)));
        }
        if (once != null && once.window() != null && once.window().compareTo(horizon) < 0) {
            draft.warn("SEM-K06: the window of %s is shorter than its retries, which last %s."
                    .formatted(Durations.words(once.window()), Durations.words(horizon)));
        }
    }
}
