package dev.semel.server.steps;

import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Step kind `notify: event`, `to`, `data`: sends a notification through the channels of its route. */
final class NotifyStepKind implements StepKind {
    private static final Pattern NAME = Pattern.compile("[a-z][a-z0-9._-]{0,63}");

    @Override
    public String name() {
        return "notify";
    }

    @Override
    public Set<String> fields() {
        return MessageStepReader.fieldsWith("to", "data");
    }

    @Override
    public @Nullable YamlStepAction read(StepReadContext draft) {
        String event = draft.fields().text("notify");
        if (event == null) {
            return null;
        }
        if (!NAME.matcher(event).matches()) {
            draft.addError(
                    draft.fields().valueRange("notify"),
                    "notify must name an event: a lower-case letter and up to 63 lower-case letters, digits, dots, _"
                            + " or -.");
            return null;
        }
        MessageStep mailing = MessageStepReader.readNotify(draft, event);
        return mailing == null ? null : new SendStepKind.MessageAction(mailing);
    }
}
