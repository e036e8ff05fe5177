package dev.semel.server.files.steps.effects;

import dev.semel.definition.DurableWorkflowOperations;
import dev.semel.definition.StepSpec;
import dev.semel.error.StepFailed;
import dev.semel.server.files.expressions.YamlValueTemplate;
import dev.semel.server.files.steps.CompiledYamlStepAction;
import dev.semel.server.files.steps.DeclaredEffect;
import dev.semel.server.files.steps.NotificationChannelRequirement;
import dev.semel.server.files.steps.NotificationEventPublisher;
import dev.semel.server.files.steps.StepNotificationSender;
import dev.semel.server.files.steps.YamlEffectOptions;
import dev.semel.server.files.steps.YamlStepExecutionContext;
import dev.semel.workflow.EffectOutcome;
import dev.semel.workflow.Retry;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/**
 * Sends a message: records the channels of its route with reasons, then sends over each channel as one effect.
 *
 * <p>A fallback is tried only if the channel before it certainly did not accept the message. A channel that accepted
 * it with an answer that cannot be recorded has sent it.
 *
 * @param notification the notification; null if the step names a channel
 * @param emit whether the notification is also an event, which starts the workflows that subscribe to it
 */
public record YamlNotificationStep(
        @Nullable String notification,
        @Nullable YamlValueTemplate channel,
        @Nullable YamlValueTemplate template,
        YamlValueTemplate to,
        @Nullable YamlValueTemplate data,
        @Nullable YamlValueTemplate overrides,
        boolean emit,
        YamlEffectOptions terms,
        StepLocation location)
        implements CompiledYamlStepAction {
    /** The message is sent and its event is not stored: an overloaded store must not fail the run. */
    private static final Retry UNTIL_PUBLISHED = Retry.STANDARD.upTo(300);

    /** @param window `provider_window` as written; null if it is absent */
    record StepLocation(
            String step, int line, int column, @Nullable Duration window) {}

    @Override
    public JsonNode run(YamlStepExecutionContext context) {
        return run(context, context.evaluateOrEmpty(data));
    }

    JsonNode run(YamlStepExecutionContext context, JsonNode filled) {
        String recipient = context.text(to, "to");
        StepNotificationSender.MessageRequest request = new StepNotificationSender.MessageRequest(
                notification,
                context.optionalText(channel, "channel"),
                context.optionalText(template, "template"),
                recipient,
                terms.protection().word());
        JsonNode plan = context.durable()
                .step(
                        context.id() + ".plan",
                        () -> context.services().messages().plan(request));
        JsonNode changes = context.evaluateOrEmpty(overrides);
        DeliveryReport report = new DeliveryReport();
        for (JsonNode leg : plan.path("routes")) {
            leg(new MessageContext(context, recipient, filled, changes), leg, report);
        }
        ObjectNode result = report.result();
        return emit && report.isNew() ? result.set("event", publishEvent(context, recipient, filled, result)) : result;
    }

    /** The step id identifies the event, so neither a retry, a recovery nor a safe replay starts its runs again. */
    private JsonNode publishEvent(
            YamlStepExecutionContext context, String recipient, JsonNode filled, ObjectNode result) {
        ObjectNode data = JsonNodeFactory.instance
                .objectNode()
                .put("to", recipient)
                .put("sent", result.path("sent").booleanValue())
                .put("workflow", context.run().workflow())
                .put("run_id", context.durable().runId())
                .put("step", context.id());
        data.set("data", filled);
        int depth = context.durable().depth() + 1;
        return context.durable()
                .step(
                        StepSpec.named(context.id() + ".event").retry(UNTIL_PUBLISHED),
                        step -> context.services()
                                .events()
                                .publish(new NotificationEventPublisher.NotificationEvent(
                                        step.id(),
                                        Objects.requireNonNull(notification),
                                        data,
                                        context.durable().runId(),
                                        depth)));
    }

    private record MessageContext(
            YamlStepExecutionContext context, String recipient, JsonNode data, JsonNode overrides) {}

    /** Sends over one channel, or over its fallbacks in order. */
    private void leg(MessageContext trip, JsonNode leg, DeliveryReport report) {
        StepFailed failed = null;
        int fallbacks = 0;
        for (JsonNode choice : leg) {
            fallbacks += isFallback(choice) ? 1 : 0;
        }
        for (JsonNode choice : leg) {
            fallbacks -= isFallback(choice) ? 1 : 0;
            String state = choice.path("state").asString("");
            boolean goes = state.equals("selected") || (isFallback(choice) && failed != null);
            if (!goes) {
                report.notSent(choice, choice.path("reason").asString(""));
                continue;
            }
            try {
                EffectOutcome<JsonNode> outcome = send(trip, choice, fallbacks > 0);
                String name = name(trip.context(), choice);
                if (trip.context().durable().isNotificationSkipped(name)) {
                    report.muted(choice);
                } else {
                    report.sent(choice, outcome, trip.context().durable().suppressedBy(name));
                }
                failed = null;
            } catch (StepFailed e) {
                failed = e.effectHappened() ? null : e;
                if (failed == null) {
                    report.sentWithoutReceipt(choice);
                } else {
                    report.notSent(choice, "failed: " + e.reason());
                }
            }
        }
        if (failed != null) {
            report.failed(failed);
        }
    }

    private static boolean isFallback(JsonNode choice) {
        return choice.path("state").asString("").equals("fallback");
    }

    private EffectOutcome<JsonNode> send(MessageContext trip, JsonNode choice, boolean hasFallback) {
        YamlStepExecutionContext context = trip.context();
        String channel = choice.path("channel").asString("");
        JsonNode sent = comparedTemplates(trip, choice);
        String recipient = normal(trip.recipient());
        var aim = new YamlEffectOptions.EffectSend(
                name(context, choice), notification == null ? null : channel, recipient, sent);
        var plannedMessage = new StepNotificationSender.PlannedMessage(
                choice,
                trip.data(),
                trip.overrides(),
                context.durable().runId(),
                context.durable().depth() + 1);
        return context.durable()
                .effect(
                        (hasFallback ? over(choice).withAlternative() : over(choice)).spec(context, aim),
                        step -> context.services().messages().send(step, plannedMessage));
    }

    /** The channel may declare a shorter provider window than the file; the shorter one applies. */
    private YamlEffectOptions over(JsonNode choice) {
        JsonNode seconds = choice.path("provider_window");
        return seconds.isNumber() ? terms.withProviderWindow(Duration.ofSeconds(seconds.longValue())) : terms;
    }

    /** Name of the recorded effect: one notification may use several channels. */
    private String name(YamlStepExecutionContext context, JsonNode choice) {
        return notification == null
                ? context.id()
                : context.id() + "." + choice.path("channel").asString("");
    }

    /** A different template, channel or override makes a different message, also with the same data. */
    private static JsonNode comparedTemplates(MessageContext trip, JsonNode choice) {
        ObjectNode sent = JsonNodeFactory.instance.objectNode();
        sent.set("data", trip.data());
        sent.set("channel", choice.path("channel"));
        sent.set("template", choice.path("template"));
        sent.set("overrides", trip.overrides());
        return sent;
    }

    /** Addresses are case-insensitive. */
    private static String normal(String recipient) {
        return recipient.indexOf('@') > 0 ? recipient.strip().toLowerCase(Locale.ROOT) : recipient;
    }

    /** Builds the step result: the channels that were and were not used, each with its reason. */
    private static final class DeliveryReport {
        private final ObjectNode result =
                JsonNodeFactory.instance.objectNode().put("sent", false).put("suppressed", false);
        private @Nullable StepFailed failure;
        private boolean leftItself;
        private boolean muted;

        DeliveryReport() {
            result.putArray("deliveries");
            result.putArray("not_sent");
        }

        /** @param earlier the earlier effect whose result is reused, if this one was suppressed */
        void sent(
                JsonNode choice,
                EffectOutcome<JsonNode> outcome,
                DurableWorkflowOperations.@Nullable EarlierEffect earlier) {
            ObjectNode delivery = result.withArray("deliveries").addObject();
            delivery.put("channel", choice.path("channel").asString(""));
            delivery.put("reason", choice.path("reason").asString(""));
            suppressed(delivery, earlier);
            switch (outcome) {
                case EffectOutcome.Done<JsonNode>(JsonNode receipt) ->
                    accepted(delivery, choice, receipt.path("message_id"), earlier == null);
                case EffectOutcome.Indeterminate<JsonNode>(String why) -> {
                    delivery.put("indeterminate", true).put("reason", why);
                    result.put("indeterminate", true);
                }
            }
        }

        /** The channel accepted the message, and its answer could not be recorded. */
        void sentWithoutReceipt(JsonNode choice) {
            ObjectNode delivery = result.withArray("deliveries").addObject();
            delivery.put("channel", choice.path("channel").asString(""));
            delivery.put("reason", choice.path("reason").asString(""));
            suppressed(delivery, null);
            delivery.put("recorded", false);
            accepted(delivery, choice, JsonNodeFactory.instance.nullNode(), true);
        }

        /** @param anew false for a suppressed message: the channel accepted an earlier one */
        private void accepted(ObjectNode delivery, JsonNode choice, JsonNode messageId, boolean anew) {
            delivery.set("message_id", messageId);
            boolean sent = result.path("sent").booleanValue();
            if (!sent && (anew || !result.has("channel"))) {
                result.set("channel", choice.path("channel"));
                result.set("message_id", messageId);
            }
            result.put("sent", sent || anew);
        }

        /** A message counts as suppressed if no channel sent it anew; the result names the first earlier run. */
        private void suppressed(ObjectNode delivery, DurableWorkflowOperations.@Nullable EarlierEffect earlier) {
            delivery.put("suppressed", earlier != null);
            if (earlier == null) {
                leftItself = true;
                result.put("suppressed", false).remove(List.of("first_run", "first_sent_at"));
                return;
            }
            String at = earlier.at() == null ? null : earlier.at().toString();
            delivery.put("first_run", earlier.runId()).put("first_sent_at", at);
            if (!leftItself && !result.path("suppressed").booleanValue()) {
                result.put("suppressed", true).put("first_run", earlier.runId()).put("first_sent_at", at);
            }
        }

        void notSent(JsonNode choice, String reason) {
            result.withArray("not_sent")
                    .addObject()
                    .put("channel", choice.path("channel").asString(""))
                    .put("reason", reason);
        }

        /** A channel that failed with all fallbacks fails the step; sends over other channels stay recorded. */
        void failed(StepFailed e) {
            failure = failure == null ? e : failure;
        }

        /** A replay without notifications. */
        void muted(JsonNode choice) {
            muted = true;
            notSent(choice, "this safe replay sends no notifications");
        }

        /** Whether no earlier message made this one superfluous. */
        boolean isNew() {
            return !muted && !result.path("suppressed").booleanValue();
        }

        ObjectNode result() {
            if (failure != null) {
                throw failure;
            }
            return result;
        }
    }

    @Override
    public Stream<YamlValueTemplate> templates() {
        return Stream.concat(
                Stream.of(channel, template, to, data, overrides).flatMap(Stream::ofNullable), terms.templates());
    }

    @Override
    public Stream<YamlValueTemplate> comparedTemplates() {
        return terms.sendsChanges()
                ? Stream.of(channel, template, data, overrides).flatMap(Stream::ofNullable)
                : Stream.empty();
    }

    @Override
    public @Nullable YamlValueTemplate effectKey() {
        return terms.effectKey();
    }

    @Override
    public DeclaredEffect declaredEffect() {
        String by = Objects.requireNonNullElse(constant(channel), "a channel");
        return terms.declaredEffect(notification == null ? "message by " + by : "notification " + notification);
    }

    private static @Nullable String constant(@Nullable YamlValueTemplate template) {
        return template instanceof YamlValueTemplate.Literal(JsonNode text) ? text.asString() : null;
    }

    @Override
    public List<NotificationChannelRequirement> channelRequirements() {
        return List.of(new NotificationChannelRequirement(
                location.step(),
                constant(channel),
                notification,
                constant(template),
                terms.protection().word(),
                location.window(),
                location.line(),
                location.column()));
    }
}
