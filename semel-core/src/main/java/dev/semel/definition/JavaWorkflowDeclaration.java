package dev.semel.definition;

import dev.semel.idempotency.KeyPolicy;
import dev.semel.json.StrictJsonCodec;
import dev.semel.schedule.Schedule;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/**
 * The declared part of a Java workflow (everything except its code), stored as JSON with each version.
 *
 * @param key name of the field or method that the key is derived from; null for none
 * @param events types of the events that start the workflow
 */
public record JavaWorkflowDeclaration(
        String name,
        @Nullable String title,
        @Nullable String description,
        @Nullable String owner,
        @Nullable String key,
        KeyPolicy policy,
        ConcurrencyControl concurrency,
        @Nullable Duration deadline,
        List<Schedule> schedules,
        List<String> events) {

    /** Writes the declaration with a fixed member order: a changed text is a new version. */
    public String toJson() {
        ObjectNode text = JsonNodeFactory.instance.objectNode();
        text.put("semel", 1).put("java", name);
        put(text, "title", title);
        put(text, "description", description);
        put(text, "owner", owner);
        put(text, "key", key);
        text.set("idempotency", policyJson());
        if (!concurrency.equals(ConcurrencyControl.NONE)) {
            text.set("concurrency", concurrencyJson());
        }
        put(text, "deadline", deadline);
        if (!schedules.isEmpty()) {
            ObjectNode all = text.putObject("schedules");
            schedules.forEach(schedule -> all.set(schedule.name(), StrictJsonCodec.parse(schedule.toJson())));
        }
        list(text, "events", events);
        return StrictJsonCodec.write(text);
    }

    private ObjectNode policyJson() {
        ObjectNode text = JsonNodeFactory.instance.objectNode();
        text.put("window", policy.window().toString()).put("scope", wireName(policy.scope()));
        list(
                text,
                "fingerprint",
                policy.fingerprint().stream().map(field -> field.name()).toList());
        list(text, "fingerprint_ignore", policy.fingerprintIgnore());
        return text.put("on_mismatch", wireName(policy.onMismatch()))
                .put("duplicate_payload", wireName(policy.duplicatePayload()))
                .put("on_failed", wireName(policy.onFailed()))
                .put("hold_while_running", policy.holdWhileRunning())
                .put("require_key", policy.requireKey());
    }

    private ObjectNode concurrencyJson() {
        ObjectNode text = JsonNodeFactory.instance.objectNode();
        ConcurrencyControl.ConcurrencyKey serial = concurrency.serialBy();
        put(text, "serial_by", serial == null ? null : serial.name());
        put(text, "max_concurrent", concurrency.maxConcurrent());
        ConcurrencyControl.Debounce debounce = concurrency.debounce();
        if (debounce != null) {
            text.putObject("debounce")
                    .put("key", debounce.key().name())
                    .put("quiet", debounce.quiet().toString())
                    .put("at_most", debounce.atMost().toString());
        }
        ConcurrencyControl.RateLimit limit = concurrency.rateLimit();
        if (limit != null) {
            text.putObject("rate_limit")
                    .put("key", limit.key().name())
                    .put("count", limit.count())
                    .put("per", limit.per().toString());
        }
        return text;
    }

    private static void put(ObjectNode text, String name, @Nullable Object value) {
        if (value instanceof Integer number) {
            text.put(name, number);
        } else if (value != null) {
            text.put(name, value.toString());
        }
    }

    private static void list(ObjectNode text, String name, List<String> values) {
        if (!values.isEmpty()) {
            var array = text.putArray(name);
            values.forEach(array::add);
        }
    }

    private static String wireName(Enum<?> constant) {
        return constant.name().toLowerCase(Locale.ROOT);
    }
}
