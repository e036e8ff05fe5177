package dev.semel.server.steps;

import dev.cel.common.types.CelKind;
import dev.semel.server.language.Fields;
import dev.semel.server.language.Site;
import dev.semel.server.language.Template;
import dev.semel.workflow.Key;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
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
final class DigestKind implements Kind {
    @Override
    public String word() {
        return "digest";
    }

    @Override
    public Set<String> fields() {
        return MailingReader.fieldsWith("send");
    }

    @Override
    public @Nullable Act read(Draft draft) {
        Fields section = draft.section("digest");
        if (section == null) {
            return null;
        }
        section.allow(Set.of("key", "collect_for", "item"), Set.of());
        Template key = draft.template(section, "key", Site.Kind.EFFECT_KEY, CelKind.STRING, CelKind.INT);
        if (key == null) {
            draft.wrong(section.spotOf("key"), "digest.key is missing; it groups the items, e.g. key: ${ input.customer_id }.");
        }
        Duration length = section.duration("collect_for");
        if (section.get("collect_for") == null) {
            draft.wrong(section.spotOf("collect_for"), "digest.collect_for is missing, e.g. 15m.");
        }
        Template item = draft.needed(section, "item");
        if (draft.fields().get("send") == null) {
            draft.wrong(draft.fields().spotOf("digest"), "a digest step needs send: {channel, to, template}.");
            return null;
        }
        Mailing mailing = MailingReader.send(draft);
        return key == null || length == null || item == null || mailing == null
                ? null
                : new Gathering(key, length, item, mailing);
    }

    /** Collects the item and, in the first run of a batch, sends the message. */
    private record Gathering(Template key, Duration length, Template item, Mailing mailing) implements Act {
        @Override
        public JsonNode run(Play context) {
            String name = context.text(key, "digest.key");
            Digests digests = context.outside().digests();
            JsonNode value = context.fill(item);
            // The step id identifies the item: after a crash it is not collected a second time.
            // Two steps never share a batch: their messages have different recipients.
            String shared = Key.of(context.course().workflow(), context.id(), name).text();
            var one = new Digests.Item(
                    shared, context.durable().stepId(context.id()), context.durable().runId(), value);
            JsonNode place = context.durable().step(context.id() + ".collect", () -> digests.collect(one));
            long batch = place.path("batch").longValue();
            if (!place.path("leader").booleanValue()) {
                return collected(batch, place.path("run_id"));
            }
            AtomicBoolean leaves = new AtomicBoolean();
            context.durable().compensate(context.id() + ".unsent", scope -> {
                if (!leaves.get()) {
                    sendInTime(context.on(scope), one, place);
                }
            });
            context.durable().sleep(context.id() + ".wait", length);
            JsonNode gathered = context.durable().step(context.id() + ".close", () -> digests.close(one, batch));
            leaves.set(true); // it may have been sent from here on, and a duplicate would be worse than none
            return gathered.has("sent_by")
                    ? collected(batch, gathered.path("sent_by"))
                    : mailing.run(context, data(context, gathered));
        }

        private static JsonNode collected(long batch, JsonNode by) {
            ObjectNode collected = JsonNodeFactory.instance.objectNode().put("collected", true);
            return collected.put("batch", batch).set("sent_by", by);
        }

        /** If the collecting run is stopped, it still sends the items of the other runs on time. */
        private void sendInTime(Play undo, Digests.Item one, JsonNode place) {
            String opened = place.path("opened_at").asString("");
            if (!opened.isEmpty()) {
                undo.durable()
                        .sleepUntil(undo.id() + ".wait", Instant.parse(opened).plus(length));
            }
            long batch = place.path("batch").longValue();
            JsonNode gathered = undo.durable()
                    .step(undo.id() + ".close", () -> undo.outside().digests().close(one, batch));
            if (!gathered.has("sent_by")) {
                mailing.run(undo, data(undo, gathered));
            }
        }

        private JsonNode data(Play context, JsonNode gathered) {
            ObjectNode data = JsonNodeFactory.instance.objectNode();
            Template own = mailing.data();
            if (own != null && context.fill(own) instanceof ObjectNode given) {
                data.setAll(given);
            }
            data.set("items", gathered.path("items"));
            data.set("count", gathered.path("count"));
            return data;
        }

        @Override
        public Stream<Template> templates() {
            return Stream.concat(Stream.of(key, item), mailing.templates());
        }

        @Override
        public Stream<Template> compared() {
            return mailing.terms().sendsChanges() ? Stream.concat(Stream.of(item), mailing.compared()) : Stream.empty();
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
