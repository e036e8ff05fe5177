package dev.semel.server.files.steps.flow;

import dev.cel.common.types.CelKind;
import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.server.files.expressions.YamlValueTemplate;
import dev.semel.server.files.steps.CompiledYamlStepAction;
import dev.semel.server.files.steps.EarlyRunEndException;
import dev.semel.server.files.steps.YamlStepExecutionContext;
import dev.semel.server.files.steps.YamlStepReadContext;
import dev.semel.server.files.yaml.YamlMapReader;
import java.time.Duration;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;

/**
 * Step kinds `wait_for` and `wait_for_reply`: wait until a signal arrives for the run or for a key.
 *
 * <p>Forms: `wait_for: {signal, key, timeout}`, `wait_for_reply: {to: step, timeout}` or `{from: address, timeout}`,
 * with `on_timeout`. A reply is a signal named after the message's step; with `from` it is the next webhook message of
 * that sender.
 */
record WaitForStepAction(
        String signal,
        @Nullable Duration timeout,
        StepTimeoutOrRejectionAction expiry,
        @Nullable YamlValueTemplate key,
        @Nullable YamlValueTemplate from)
        implements CompiledYamlStepAction {
    private static final Pattern SIGNAL = Pattern.compile("[A-Za-z0-9][A-Za-z0-9._-]{0,63}");

    private static final int LONGEST_SIGNAL = 64;
    private static final String REPLY = "reply";
    private static final int LONGEST_KEY = 255;

    static @Nullable CompiledYamlStepAction readSignal(YamlStepReadContext draft) {
        YamlMapReader section = draft.section("wait_for", Set.of("signal", "key", "timeout"));
        return section == null ? null : read(draft, section, signal(draft, section), null);
    }

    static @Nullable CompiledYamlStepAction readReply(YamlStepReadContext draft) {
        YamlMapReader section = draft.section("wait_for_reply", Set.of("to", "from", "timeout"));
        if (section == null) {
            return null;
        }
        YamlValueTemplate from = draft.template(section, "from", CelKind.STRING, CelKind.INT, CelKind.DOUBLE);
        if (section.get("from") != null && section.get("to") != null) {
            draft.addError(section.nameRange("from"), "wait_for_reply must have either `to` or `from`, not both.");
            return null;
        }
        String signal = section.get("from") != null ? REPLY : reply(draft, section);
        return read(draft, section, signal, from);
    }

    private static @Nullable CompiledYamlStepAction read(
            YamlStepReadContext draft,
            YamlMapReader section,
            @Nullable String signal,
            @Nullable YamlValueTemplate from) {
        Duration timeout = section.duration("timeout");
        StepTimeoutOrRejectionAction expiry = StepTimeoutOrRejectionAction.read(
                draft, draft.fields(), "on_timeout", new StepTimeoutOrRejectionAction.Fail());
        if (timeout == null && draft.fields().get("on_timeout") != null) {
            draft.addError(
                    draft.fields().nameRange("on_timeout"),
                    "on_timeout needs a timeout; add timeout: 3d or remove on_timeout.");
        }
        YamlValueTemplate key = draft.template(section, "key");
        return signal == null ? null : new WaitForStepAction(signal, timeout, expiry, key, from);
    }

    private static @Nullable String signal(YamlStepReadContext draft, YamlMapReader section) {
        String signal = section.text("signal");
        if (section.get("signal") == null) {
            draft.addError(section.nameRange("signal"), "wait_for.signal is missing.");
        } else if (signal != null && !SIGNAL.matcher(signal).matches()) {
            draft.addError(
                    section.valueRange("signal"),
                    "a signal name must have 1 to 64 letters, digits, dots, hyphens or underscores.");
            return null;
        }
        return signal;
    }

    private static @Nullable String reply(YamlStepReadContext draft, YamlMapReader section) {
        String to = section.text("to");
        if (section.get("to") == null) {
            draft.addError(
                    section.nameRange("to"),
                    "wait_for_reply needs `to` (the id of the step that sent the message) or `from` (the sender's"
                            + " address).");
        } else if (to != null && !draft.context().earlierSteps().contains(to)) {
            draft.addError(section.valueRange("to"), "there is no earlier step '%s' to reply to.".formatted(to));
            return null;
        }
        return to == null ? null : signalOf(to);
    }

    /** A step id may be as long as a signal name, so a long id is shortened here. */
    static String signalOf(String step) {
        String name = "reply." + step;
        return name.length() <= LONGEST_SIGNAL ? name : name.substring(0, LONGEST_SIGNAL);
    }

    @Override
    public JsonNode run(YamlStepExecutionContext context) {
        JsonNode value = waited(context);
        if (value != null) {
            return value;
        }
        return switch (expiry) {
            case StepTimeoutOrRejectionAction.Continue _ ->
                JsonNodeFactory.instance.objectNode().put("timed_out", true);
            case StepTimeoutOrRejectionAction.End(String word) -> throw new EarlyRunEndException(word);
            case StepTimeoutOrRejectionAction.Reject _ -> throw EarlyRunEndException.rejected(context.id(), true);
            case StepTimeoutOrRejectionAction.Fail _ ->
                throw new SemelException(
                        ErrorCode.STEP_FAILED,
                        "Step '%s' timed out while it waited for the signal %s. Recorded results are kept."
                                .formatted(context.id(), signal),
                        "Send the signal earlier, set a longer timeout, or set on_timeout: continue.");
        };
    }

    private @Nullable JsonNode waited(YamlStepExecutionContext context) {
        if (from != null) {
            return context.durable().awaitReply(context.id(), key(context, from, "wait_for_reply.from"), timeout);
        }
        return key == null
                ? context.durable().await(context.id(), signal, timeout)
                : context.durable().await(context.id(), signal, key(context, key, "wait_for.key"), timeout);
    }

    private static String key(YamlStepExecutionContext context, YamlValueTemplate key, String field) {
        String text = context.text(key, field);
        if (text.isBlank() || text.length() > LONGEST_KEY || text.chars().anyMatch(Character::isISOControl)) {
            throw context.evaluationFailed(
                    field + " of step '" + context.id() + "'",
                    "it is empty, longer than 255 characters, or has control characters");
        }
        return text;
    }

    @Override
    public Stream<YamlValueTemplate> templates() {
        return Stream.of(key, from).flatMap(Stream::ofNullable);
    }
}
