package dev.semel.server.steps;

import dev.cel.common.types.CelKind;
import dev.semel.effect.Protection;
import dev.semel.server.language.Fields;
import dev.semel.server.language.Template;
import dev.semel.workflow.EffectPlan;
import java.util.LinkedHashSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Reads the fields that `send`, `event` and `digest` steps share. */
final class MailingReader {
    /** Protections that any channel may support; publishing checks the step's own channel. */
    private static final Set<String> HONOURED = Set.of("provider_key", "at_most_once", "ask", "none");

    private static final EffectReader EFFECT = new EffectReader("a message", EffectPlan.Does.NOTIFY, HONOURED, null);

    private static final int LONG_KEY = 256;

    private MailingReader() {}

    static Set<String> fieldsWith(String... more) {
        Set<String> fields = new LinkedHashSet<>(EffectReader.FIELDS);
        fields.add("overrides");
        fields.addAll(Set.of(more));
        return Set.copyOf(fields);
    }

    /** Reads `send: {channel, to, template, data}`. */
    static @Nullable Mailing send(Draft draft) {
        Fields send = draft.section("send");
        if (send == null) {
            return null;
        }
        send.allow(Set.of("channel", "to", "template", "data"), Set.of());
        Template channel = draft.needed(send, "channel", CelKind.STRING);
        Template template = draft.needed(send, "template", CelKind.STRING);
        Template to = draft.needed(send, "to", CelKind.STRING, CelKind.INT);
        Template data = draft.template(send, "data", CelKind.MAP);
        EffectTerms terms = EFFECT.read(draft);
        Template overrides = draft.template(draft.fields(), "overrides", CelKind.MAP);
        if (channel == null || template == null || to == null || terms == null) {
            return null;
        }
        lint(draft, terms);
        return new Mailing(null, channel, template, to, data, overrides, terms, place(draft, terms));
    }

    /** Reads `event: name`, `to`, `data`. */
    static @Nullable Mailing event(Draft draft, String event) {
        Template to = draft.needed(draft.fields(), "to", CelKind.STRING, CelKind.INT);
        Template data = draft.template(draft.fields(), "data", CelKind.MAP);
        EffectTerms terms = EFFECT.read(draft);
        Template overrides = draft.template(draft.fields(), "overrides", CelKind.MAP);
        if (to == null || terms == null) {
            return null;
        }
        lint(draft, terms);
        return new Mailing(event, null, null, to, data, overrides, terms, place(draft, terms));
    }

    private static Mailing.Place place(Draft draft, EffectTerms terms) {
        var spot = draft.fields().spotOfValue(draft.fields().get("protect") == null ? "id" : "protect");
        return new Mailing.Place(
                draft.id(),
                draft.problems().line(spot),
                draft.problems().column(spot),
                terms.protection() instanceof Protection.ProviderKey
                        ? draft.fields().duration("provider_window")
                        : null);
    }

    /** The recipient is always part of the key; this checks the rest of it. */
    private static void lint(Draft draft, EffectTerms terms) {
        if (terms.once() != null
                && terms.once().key().expressions().findAny().isPresent()
                && terms.once().written().length() > LONG_KEY) {
            draft.warn("SEM-K07: the key expression has more than 256 characters; a short key is easier to look up.");
        }
    }
}
