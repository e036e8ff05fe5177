package dev.semel.server.steps;

import dev.semel.server.language.Template;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** Step kind `send: {channel, to, template, data}`: sends one message through one channel. */
final class SendKind implements Kind {
    @Override
    public String word() {
        return "send";
    }

    @Override
    public Set<String> fields() {
        return MailingReader.fieldsWith();
    }

    @Override
    public @Nullable Act read(Draft draft) {
        Mailing mailing = MailingReader.send(draft);
        return mailing == null ? null : new Message(mailing);
    }

    /** Sends a message through a channel or a route. */
    record Message(Mailing mailing) implements Act {
        @Override
        public JsonNode run(Play context) {
            return mailing.run(context);
        }

        @Override
        public Stream<Template> templates() {
            return mailing.templates();
        }

        @Override
        public Stream<Template> compared() {
            return mailing.compared();
        }

        @Override
        public @Nullable Template effectKey() {
            return mailing.terms().effectKey();
        }

        @Override
        public List<Need> needs() {
            return List.of(mailing.need());
        }

        @Override
        public Declared effect() {
            return mailing.declared();
        }
    }
}
