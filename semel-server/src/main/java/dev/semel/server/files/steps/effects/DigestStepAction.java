package dev.semel.server.files.steps.effects;

import dev.cel.common.types.CelKind;
import dev.semel.definition.StepSpec;
import dev.semel.server.files.expressions.ExpressionCompileContext.ContextKind;
import dev.semel.server.files.expressions.YamlValueTemplate;
import dev.semel.server.files.steps.CompiledYamlStepAction;
import dev.semel.server.files.steps.DeclaredEffect;
import dev.semel.server.files.steps.NotificationChannelRequirement;
import dev.semel.server.files.steps.NotificationDigestCollector;
import dev.semel.server.files.steps.YamlStepExecutionContext;
import dev.semel.server.files.steps.YamlStepReadContext;
import dev.semel.server.files.yaml.YamlMapReader;
import dev.semel.workflow.Key;
import dev.semel.workflow.Retry;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/**
 * Step kind `digest: {key, collect_for, item}` with `send`: collects items of many runs and sends them as one message.
 *
 * <p>The run with the first item sends the message; the other runs continue at once. The template reads `items` and
 * `count`.
 */
public record DigestStepAction(
        YamlValueTemplate key, Duration length, YamlValueTemplate item, YamlNotificationStep mailing)
        implements CompiledYamlStepAction {
    /** The steps only change the store. While it is slow or down for an hour, no run fails and no item is lost. */
    private static final Retry STORE_RETRY = Retry.exponential(Duration.ofSeconds(1))
            .longest(Duration.ofMinutes(1))
            .upTo(100);

    public static @Nullable CompiledYamlStepAction read(YamlStepReadContext draft) {
        YamlMapReader section = draft.section("digest", Set.of("key", "collect_for", "item"));
        if (section == null) {
            return null;
        }
        YamlValueTemplate key =
                draft.template(section, "key", ContextKind.EFFECT_KEY, CelKind.STRING, CelKind.INT, CelKind.DOUBLE);
        if (key == null) {
            draft.addError(
                    section.nameRange("key"),
                    "digest.key is missing; it groups the items, e.g. key: ${ input.customer_id }.");
        }
        Duration length = section.duration("collect_for");
        if (section.get("collect_for") == null) {
            draft.addError(section.nameRange("collect_for"), "digest.collect_for is missing, e.g. 15m.");
        }
        YamlValueTemplate item = draft.requiredTemplate(section, "item");
        if (draft.fields().get("send") == null) {
            draft.addError(
                    draft.fields().nameRange("digest"),
                    "a digest step needs `send` with the fields `channel`, `to` and `template`.");
            return null;
        }
        YamlNotificationStep mailing = YamlNotificationStepReader.readSend(draft);
        return key == null || length == null || item == null || mailing == null
                ? null
                : new DigestStepAction(key, length, item, mailing);
    }

    @Override
    public JsonNode run(YamlStepExecutionContext context) {
        String name = context.text(key, "digest.key");
        NotificationDigestCollector digests = context.services().digests();
        JsonNode value = context.evaluate(item);
        // The step id identifies the item: after a crash it is not collected a second time.
        // Two steps never share a batch: their messages have different recipients.
        String shared = Key.of(context.run().workflow(), context.id(), name).text();
        var one = new NotificationDigestCollector.DigestItem(
                shared,
                context.durable().stepId(context.id()),
                context.durable().runId(),
                value);
        JsonNode place = storeStep(context, "collect", () -> digests.collect(one));
        long batch = place.path("batch").longValue();
        if (!place.path("leader").booleanValue()) {
            return collected(batch, place.path("run_id"));
        }
        AtomicBoolean leaves = new AtomicBoolean();
        context.durable().compensate(context.id() + ".unsent", scope -> {
            if (!leaves.get()) {
                sendInTime(context.withDurable(scope), one, place);
            }
        });
        context.durable().sleep(context.id() + ".wait", length);
        JsonNode gathered = storeStep(context, "close", () -> digests.close(one, batch));
        leaves.set(true); // it may have been sent from here on, and a duplicate would be worse than none
        return gathered.has("sent_by")
                ? collected(batch, gathered.path("sent_by"))
                : send(context, one, batch, gathered);
    }

    /** The intent to send is durable before the send, and with it the recorded items: then nobody needs the batch. */
    private JsonNode send(
            YamlStepExecutionContext context,
            NotificationDigestCollector.DigestItem one,
            long batch,
            JsonNode gathered) {
        JsonNode result = mailing.run(context, data(context, gathered));
        if (result.path("sent").booleanValue(false)) {
            context.services().digests().release(one, batch);
        }
        return result;
    }

    private static JsonNode storeStep(YamlStepExecutionContext context, String part, Supplier<JsonNode> work) {
        StepSpec plan = StepSpec.named(context.id() + "." + part).retry(STORE_RETRY);
        return context.durable().step(plan, _ -> work.get());
    }

    private static JsonNode collected(long batch, JsonNode by) {
        ObjectNode collected = JsonNodeFactory.instance.objectNode().put("collected", true);
        return collected.put("batch", batch).set("sent_by", by);
    }

    /** If the collecting run is stopped, it still sends the items of the other runs on time. */
    private void sendInTime(YamlStepExecutionContext undo, NotificationDigestCollector.DigestItem one, JsonNode place) {
        String opened = place.path("opened_at").asString("");
        if (!opened.isEmpty()) {
            undo.durable().sleepUntil(undo.id() + ".wait", Instant.parse(opened).plus(length));
        }
        long batch = place.path("batch").longValue();
        JsonNode gathered =
                storeStep(undo, "close", () -> undo.services().digests().close(one, batch));
        if (!gathered.has("sent_by")) {
            send(undo, one, batch, gathered);
        }
    }

    private JsonNode data(YamlStepExecutionContext context, JsonNode gathered) {
        ObjectNode data = JsonNodeFactory.instance.objectNode();
        YamlValueTemplate own = mailing.data();
        if (own != null && context.evaluate(own) instanceof ObjectNode given) {
            data.setAll(given);
        }
        data.set("items", gathered.path("items"));
        data.set("count", gathered.path("count"));
        return data;
    }

    @Override
    public Stream<YamlValueTemplate> templates() {
        return Stream.concat(Stream.of(key, item), mailing.templates());
    }

    @Override
    public Stream<YamlValueTemplate> comparedTemplates() {
        return mailing.terms().sendsChanges()
                ? Stream.concat(Stream.of(item), mailing.comparedTemplates())
                : Stream.empty();
    }

    @Override
    public @Nullable YamlValueTemplate effectKey() {
        return mailing.effectKey();
    }

    @Override
    public List<NotificationChannelRequirement> channelRequirements() {
        return mailing.channelRequirements();
    }

    @Override
    public DeclaredEffect declaredEffect() {
        return mailing.declaredEffect();
    }
}
