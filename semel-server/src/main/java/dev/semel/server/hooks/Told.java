package dev.semel.server.hooks;

import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.json.Json;
import dev.semel.server.doors.Event;
import dev.semel.server.settings.HookSetting.Where;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonPointer;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/**
 * What a proved delivery is called, and what it says.
 *
 * @param id by which a repeat of it is known at its hook
 */
record Told(String id, Event event) {
    private static final int LONGEST = 255;

    /** @param hook its name, which is the source of its events and their type where they say none */
    static Told read(Plan plan, Letter letter, JsonNode data, String hook) {
        String id = first(plan.ids(), letter, data);
        if (id == null) {
            throw new SemelException(
                    ErrorCode.INVALID_INPUT,
                    "The delivery has no id in " + words(plan.ids())
                            + ", so that a repeat of it could not be told from it. Nothing was started.",
                    "Send the provider's own id there, 1 to 255 characters, or say in the hook where it stands.");
        }
        String type = first(plan.types(), letter, data);
        return new Told(id, event(id, hook, type == null ? hook : type, data));
    }

    private static Event event(String id, String source, String type, JsonNode data) {
        ObjectNode whole = JsonNodeFactory.instance.objectNode();
        whole.put("id", id).put("source", source).put("type", type).set("data", data);
        return of(whole);
    }

    private static Event of(JsonNode whole) {
        return new Event(
                whole.path("source").asString(""),
                whole.path("id").asString(""),
                whole.path("type").asString(""),
                null,
                null,
                whole.path("data"),
                whole);
    }

    /** A CloudEvent. Its own source stands behind the hook's name: whoever may knock here cannot pass for another hook. */
    static Told cloud(Event event, String hook) {
        String source = hook + ":" + event.source();
        ObjectNode whole = JsonNodeFactory.instance.objectNode();
        event.whole().forEachEntry(whole::set);
        whole.put("source", source);
        var named = new Event(source, event.id(), event.type(), event.time(), event.subject(), event.data(), whole);
        return new Told(cloudId(event.source(), event.id()), named);
    }

    /** An array, since of two texts behind each other nobody can say where the first one ends. */
    private static String cloudId(String source, String id) {
        return Json.write(JsonNodeFactory.instance.arrayNode().add(source).add(id));
    }

    /** Under which id the delivery came that brought an event of this source; no name of a hook has a colon. */
    static String idOf(String source, String id) {
        int colon = source.indexOf(':');
        return colon < 0 ? id : cloudId(source.substring(colon + 1), id);
    }

    static String hookOf(String source) {
        int colon = source.indexOf(':');
        return colon < 0 ? source : source.substring(0, colon);
    }

    /** What was kept of a delivery. */
    static Event kept(String payload) {
        return of(Json.parse(payload));
    }

    private static String words(List<Where> places) {
        List<String> words = places.stream()
                .map(place -> place.header() != null ? "header " + place.header() : String.valueOf(place.pointer()))
                .toList();
        return String.join(" or ", words);
    }

    private static @Nullable String first(List<Where> places, Letter letter, JsonNode data) {
        for (Where place : places) {
            String text = place.pointer() == null ? letter.header(place.header()) : at(data, place.pointer());
            if (text != null && fits(text)) {
                return text;
            }
        }
        return null;
    }

    /** Text or a whole number; anything else is no name. */
    static @Nullable String at(JsonNode data, String pointer) {
        JsonNode value = data.at(JsonPointer.compile(pointer));
        return value.isString() ? value.stringValue() : value.isIntegralNumber() ? value.asString() : null;
    }

    private static boolean fits(String text) {
        return !text.isEmpty() && text.length() <= LONGEST && text.chars().noneMatch(Character::isISOControl);
    }
}
