package dev.semel.server.steps;

import dev.cel.common.types.CelKind;
import dev.semel.server.language.Durations;
import dev.semel.server.language.Fields;
import dev.semel.server.language.Template;
import dev.semel.server.language.Tree;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;

/**
 * Step kind `sleep: 15m`, `sleep: ${ input.pause }` or `sleep: {until: ${ input.at }}`: durable wait that occupies no
 * thread.
 */
final class SleepKind implements Kind {
    @Override
    public String word() {
        return "sleep";
    }

    @Override
    public Set<String> fields() {
        return Set.of();
    }

    @Override
    public @Nullable Act read(Draft draft) {
        Tree tree = draft.fields().get("sleep");
        if (tree instanceof Tree.Members members) {
            Fields until = new Fields(members, "sleep", draft.problems()).allow(Set.of("until"), Set.of());
            Template time = draft.needed(until, "until", CelKind.STRING);
            return time == null ? null : new Until(time);
        }
        Template length = draft.needed(draft.fields(), "sleep", CelKind.STRING);
        if (length instanceof Template.Literal(JsonNode text)
                && Durations.parse(text.asString()).isEmpty()) {
            draft.wrong(draft.fields().spotOfValue("sleep"), "sleep must be a duration such as 30s, 15m, 24h or 7d.");
            return null;
        }
        return length == null ? null : new For(length);
    }

    /** Waits for a duration. */
    private record For(Template length) implements Act {
        @Override
        public JsonNode run(Play context) {
            Duration duration = Durations.parse(context.text(length, "sleep"))
                    .orElseThrow(() -> context.failed("Step '" + context.id() + "'", "it is not a duration such as 15m"));
            context.durable().sleep(context.id(), duration);
            return JsonNodeFactory.instance.objectNode();
        }

        @Override
        public Stream<Template> templates() {
            return Stream.of(length);
        }
    }

    /** Waits until a time. */
    private record Until(Template time) implements Act {
        @Override
        public JsonNode run(Play context) {
            context.durable().sleepUntil(context.id(), instant(context));
            return JsonNodeFactory.instance.objectNode();
        }

        private Instant instant(Play context) {
            try {
                return OffsetDateTime.parse(context.text(time, "sleep.until")).toInstant();
            } catch (DateTimeException e) {
                throw context.failed("Step '" + context.id() + "'", "it is not a time such as 2026-05-01T09:00:00Z");
            }
        }

        @Override
        public Stream<Template> templates() {
            return Stream.of(time);
        }
    }
}
