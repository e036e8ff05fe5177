package dev.semel.server.steps;

import dev.semel.server.expressions.ValueTemplate;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** Step kind `send: {channel, to, template, data}`: sends one message through one channel. */
final class SendStepKind implements StepKind {
    @Override
    public String name() {
        return "send";
    }

    @Override
    public Set<String> fields() {
        return MessageStepReader.fieldsWith();
    }

    @Override
    public @Nullable YamlStepAction read(StepReadContext draft) {
        MessageStep mailing = MessageStepReader.send(draft);
        return mailing == null ? null : new MessageAction(mailing);
    }

    /** Sends a message through a channel or a route. */
    record MessageAction(MessageStep mailing) implements YamlStepAction {
        @Override
        public JsonNode run(StepContext context) {
            return mailing.run(context);
        }

        @Override
        public Stream<ValueTemplate> templates() {
            return mailing.templates();
        }

        @Override
        public Stream<ValueTemplate> comparedTemplates() {
            return mailing.comparedTemplates();
        }

        @Override
        public @Nullable ValueTemplate effectKey() {
            return mailing.terms().effectKey();
        }

        @Override
        public List<ChannelRequirement> channelRequirements() {
            return List.of(mailing.channelRequirement());
        }

        @Override
        public DeclaredEffect declaredEffect() {
            return mailing.declaredEffect();
        }
    }
}
