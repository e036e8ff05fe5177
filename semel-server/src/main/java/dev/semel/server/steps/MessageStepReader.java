package dev.semel.server.steps;

import dev.cel.common.types.CelKind;
import dev.semel.effect.Protection;
import dev.semel.server.expressions.YamlMapReader;
import dev.semel.server.expressions.ValueTemplate;
import dev.semel.workflow.EffectAction;
import java.util.LinkedHashSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Reads the fields that `send`, `event` and `digest` steps share. */
final class MessageStepReader {
    /** Protections that any channel may support; publishing checks the step's own channel. */
    private static final Set<String> HONOURED = Set.of("provider_key", "at_most_once", "ask", "none");

    private static final EffectOptionsReader EFFECT = new EffectOptionsReader("a message", EffectAction.NOTIFY, HONOURED, null);

    private static final int LONG_KEY = 256;

    private MessageStepReader() {}

    static Set<String> fieldsWith(String... more) {
        Set<String> fields = new LinkedHashSet<>(EffectOptionsReader.FIELDS);
        fields.add("overrides");
        fields.addAll(Set.of(more));
        return Set.copyOf(fields);
    }

    /** Reads `send: {channel, to, template, data}`. */
    static @Nullable MessageStep send(StepReadContext draft) {
        YamlMapReader send = draft.section("send");
        if (send == null) {
            return null;
        }
        send.allowOnly(Set.of("channel", "to", "template", "data"), Set.of());
        ValueTemplate channel = draft.requiredTemplate(send, "channel", CelKind.STRING);
        ValueTemplate template = draft.requiredTemplate(send, "template", CelKind.STRING);
        ValueTemplate to = draft.requiredTemplate(send, "to", CelKind.STRING, CelKind.INT);
        ValueTemplate data = draft.template(send, "data", CelKind.MAP);
        EffectOptions terms = EFFECT.read(draft);
        ValueTemplate overrides = draft.template(draft.fields(), "overrides", CelKind.MAP);
        if (channel == null || template == null || to == null || terms == null) {
            return null;
        }
        lint(draft, terms);
        return new MessageStep(null, channel, template, to, data, overrides, terms, place(draft, terms));
    }

    /** Reads `event: name`, `to`, `data`. */
    static @Nullable MessageStep event(StepReadContext draft, String event) {
        ValueTemplate to = draft.requiredTemplate(draft.fields(), "to", CelKind.STRING, CelKind.INT);
        ValueTemplate data = draft.template(draft.fields(), "data", CelKind.MAP);
        EffectOptions terms = EFFECT.read(draft);
        ValueTemplate overrides = draft.template(draft.fields(), "overrides", CelKind.MAP);
        if (to == null || terms == null) {
            return null;
        }
        lint(draft, terms);
        return new MessageStep(event, null, null, to, data, overrides, terms, place(draft, terms));
    }

    private static MessageStep.StepLocation place(StepReadContext draft, EffectOptions terms) {
        var spot = draft.fields().valueRange(draft.fields().get("protect") == null ? "id" : "protect");
        return new MessageStep.StepLocation(
                draft.id(),
                draft.problems().line(spot),
                draft.problems().column(spot),
                terms.protection() instanceof Protection.ProviderKey
                        ? draft.fields().duration("provider_window")
                        : null);
    }

    /** The recipient is always part of the key; this checks the rest of it. */
    private static void lint(StepReadContext draft, EffectOptions terms) {
        if (terms.idempotent() != null
                && terms.idempotent().key().expressions().findAny().isPresent()
                && terms.idempotent().keySource().length() > LONG_KEY) {
            draft.addWarning("SEM-K07: the key expression has more than 256 characters; a short key is easier to look up.");
        }
    }
}
