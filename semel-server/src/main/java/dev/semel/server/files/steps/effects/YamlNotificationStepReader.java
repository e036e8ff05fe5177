package dev.semel.server.files.steps.effects;

import dev.cel.common.types.CelKind;
import dev.semel.effect.EffectDuplicateProtection;
import dev.semel.server.files.expressions.YamlValueTemplate;
import dev.semel.server.files.steps.YamlEffectOptions;
import dev.semel.server.files.steps.YamlEffectOptionsReader;
import dev.semel.server.files.steps.YamlStepReadContext;
import dev.semel.server.files.yaml.MisspelledNameSuggester;
import dev.semel.server.files.yaml.YamlMapReader;
import dev.semel.server.files.yaml.YamlNode;
import dev.semel.server.files.yaml.YamlSourceRange;
import dev.semel.workflow.EffectOperation;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** Reads the fields that `send`, `notify` and `digest` steps share. */
public final class YamlNotificationStepReader {
    /** Protections that any channel may support; publishing checks the step's own channel. */
    private static final Set<String> HONOURED = Set.of("provider_key", "at_most_once", "ask", "none");

    private static final YamlEffectOptionsReader EFFECT =
            new YamlEffectOptionsReader("a message", EffectOperation.NOTIFY, HONOURED, null);

    private static final Pattern NAME = Pattern.compile("[a-z][a-z0-9._-]{0,63}");
    private static final int LONG_KEY = 256;

    private YamlNotificationStepReader() {}

    /** Step kind `send: {channel, to, template, data}`: sends one message through one channel. */
    public static @Nullable YamlNotificationStep readSend(YamlStepReadContext draft) {
        YamlMapReader send = draft.section("send", Set.of("channel", "to", "template", "data"));
        if (send == null) {
            return null;
        }
        YamlValueTemplate channel = draft.requiredTemplate(send, "channel", CelKind.STRING);
        YamlValueTemplate template = draft.requiredTemplate(send, "template", CelKind.STRING);
        YamlValueTemplate to = draft.requiredTemplate(send, "to", CelKind.STRING, CelKind.INT, CelKind.DOUBLE);
        YamlValueTemplate data = draft.template(send, "data", CelKind.MAP);
        YamlEffectOptions terms = EFFECT.read(draft);
        YamlValueTemplate overrides = readOverrides(draft, channel);
        if (channel == null || template == null || to == null || terms == null) {
            return null;
        }
        lint(draft, terms);
        return new YamlNotificationStep(
                null, channel, template, to, data, overrides, false, terms, place(draft, terms));
    }

    /** Step kind `notify: NAME`, `to`, `data`: sends a notification through the channels of its route. */
    public static @Nullable YamlNotificationStep readNotify(YamlStepReadContext draft) {
        String notification = draft.fields().text("notify");
        if (notification == null) {
            return null;
        }
        if (!NAME.matcher(notification).matches()) {
            draft.addError(
                    draft.fields().valueRange("notify"),
                    "notify must name a notification: a lower-case letter, followed by up to 63 lower-case letters,"
                            + " digits, dots, _ or -.");
            return null;
        }
        YamlValueTemplate to =
                draft.requiredTemplate(draft.fields(), "to", CelKind.STRING, CelKind.INT, CelKind.DOUBLE);
        YamlValueTemplate data = draft.template(draft.fields(), "data", CelKind.MAP);
        YamlEffectOptions terms = EFFECT.read(draft);
        YamlValueTemplate overrides = readOverrides(draft, null);
        boolean emit = draft.fields().flag("emit", false);
        if (to == null || terms == null) {
            return null;
        }
        lint(draft, terms);
        return new YamlNotificationStep(
                notification, null, null, to, data, overrides, emit, terms, place(draft, terms));
    }

    /**
     * `overrides: {CHANNEL: {OPTION: value}}`. An option without its channel would silently change nothing.
     *
     * @param channel of the step; null if its route decides
     */
    private static @Nullable YamlValueTemplate readOverrides(
            YamlStepReadContext draft, @Nullable YamlValueTemplate channel) {
        if (draft.fields().get("overrides") instanceof YamlNode.MapNode map) {
            String only = channel instanceof YamlValueTemplate.Literal(JsonNode text) ? text.asString("") : "";
            map.members().forEach((name, member) -> {
                YamlNode value = member.value();
                boolean expression = value instanceof YamlNode.ScalarNode(YamlSourceRange _, JsonNode text)
                        && text.asString("").strip().startsWith("${");
                if (!(value instanceof YamlNode.MapNode) && !expression) {
                    draft.addError(
                            value.range(),
                            "overrides.%s is not inside a channel, so it would change nothing.".formatted(name),
                            "no channel",
                            "Write overrides: {%s: {%s: …}}.".formatted(only.isEmpty() ? "CHANNEL" : only, name));
                } else if (!only.isEmpty() && !only.equals(name)) {
                    draft.addError(
                            value.range(),
                            "overrides names the channel '%s', but this step sends through '%s'."
                                    .formatted(MisspelledNameSuggester.shorten(name), only),
                            "other channel",
                            "Write overrides: {%s: …}.".formatted(only));
                }
            });
        }
        return draft.template(draft.fields(), "overrides", CelKind.MAP);
    }

    private static YamlNotificationStep.StepLocation place(YamlStepReadContext draft, YamlEffectOptions terms) {
        var spot = draft.fields().valueRange(draft.fields().get("protect") == null ? "id" : "protect");
        return new YamlNotificationStep.StepLocation(
                draft.id(),
                draft.problems().line(spot),
                draft.problems().column(spot),
                terms.protection() instanceof EffectDuplicateProtection.ProviderKey
                        ? draft.fields().duration("provider_window")
                        : null);
    }

    /** The recipient is always part of the key; this checks the rest of it. */
    private static void lint(YamlStepReadContext draft, YamlEffectOptions terms) {
        if (terms.idempotent() != null
                && terms.idempotent().key().expressions().findAny().isPresent()
                && terms.idempotent().keySource().length() > LONG_KEY) {
            draft.addWarning(
                    "SEM-K07: the key expression has more than 256 characters; a short key is easier to look up.");
        }
    }
}
