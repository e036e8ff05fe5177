package dev.semel.json;

import dev.semel.error.JsonConversionFailed;
import dev.semel.error.SemelException;
import java.lang.reflect.Type;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.core.json.JsonWriteFeature;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.MapperFeature;
import tools.jackson.databind.SerializationFeature;
import tools.jackson.databind.cfg.CoercionAction;
import tools.jackson.databind.cfg.CoercionInputShape;
import tools.jackson.databind.cfg.DateTimeFeature;
import tools.jackson.databind.cfg.EnumFeature;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.type.LogicalType;

/**
 * Converts Java values to JSON and back. Records need no annotations; times are ISO 8601; numbers keep every digit.
 * Reading is strict: a text is not a number, a fraction is not an int, and a missing primitive is not zero. Only
 * unknown members are ignored, so that a recorded type may lose a member or come from a newer version. Class names in a
 * document are never followed, unless Jackson annotations of the type say so.
 *
 * <p>Errors name the rule and the JSON path, never a value; Jackson's own messages would contain values.
 */
public final class JsonCodec {
    public static final JsonCodec STANDARD = new JsonCodec();

    private final JsonMapper mapper = JsonMapper.builder()
            .annotationIntrospector(new RequiredPrimitives())
            .enable(SerializationFeature.FAIL_ON_EMPTY_BEANS) // otherwise any object would be recorded as {}
            .disable(JsonWriteFeature.WRITE_NAN_AS_STRINGS) // so that the reader rejects it
            .enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS)
            .enable(DeserializationFeature.FAIL_ON_NULL_FOR_PRIMITIVES)
            .disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
            .disable(DeserializationFeature.ACCEPT_FLOAT_AS_INT)
            .disable(MapperFeature.ALLOW_COERCION_OF_SCALARS)
            .enable(EnumFeature.FAIL_ON_NUMBERS_FOR_ENUMS)
            .withCoercionConfig(
                    LogicalType.Textual,
                    config -> config.setCoercion(CoercionInputShape.Integer, CoercionAction.Fail)
                            .setCoercion(CoercionInputShape.Float, CoercionAction.Fail)
                            .setCoercion(CoercionInputShape.Boolean, CoercionAction.Fail))
            .disable(DateTimeFeature.WRITE_DATES_AS_TIMESTAMPS, DateTimeFeature.WRITE_DURATIONS_AS_TIMESTAMPS)
            .enable(DateTimeFeature.WRITE_DATES_WITH_ZONE_ID)
            .disable(DateTimeFeature.ADJUST_DATES_TO_CONTEXT_TIME_ZONE, DateTimeFeature.NORMALIZE_DESERIALIZED_ZONE_ID)
            .build();

    private JsonCodec() {}

    /**
     * @param what names the value in an error, e.g. `the result of step "capture"`
     * @throws JsonConversionFailed if it has no JSON form, or none within the limits of {@link StrictJsonCodec}
     */
    public JsonNode write(@Nullable Object value, String what) {
        try {
            // Written and parsed again, so that the limits are checked in one place and the result equals what a
            // restart reads.
            return StrictJsonCodec.parse(mapper.writeValueAsString(value));
        } catch (JacksonException e) {
            throw unwritable(value, what, JsonTypeMismatch.unwritable(e));
        } catch (SemelException e) {
            throw unwritable(
                    value,
                    what,
                    ": it contains NaN, Infinity or an unpaired surrogate, or exceeds the limits of a JSON document");
        }
    }

    /**
     * @param what names the value in an error, e.g. `The recorded result of step "capture"`
     * @return null only for JSON's null
     * @throws JsonConversionFailed if it does not fit
     */
    public <T> @Nullable T read(JsonNode value, Type type, String what) {
        try {
            return convert(value, type);
        } catch (JsonTypeMismatch e) {
            throw unreadableError(what, type, e);
        }
    }

    public JsonConversionFailed unreadableError(String what, Type type, JsonTypeMismatch mismatch) {
        return new JsonConversionFailed(
                what + " cannot be read as " + nameOf(type) + mismatch.where()
                        + ". The value is still recorded, but Semel did not use it.",
                "Change the type so that it accepts the recorded value: declare new members as Optional, and do not"
                        + " narrow or rename members. Then replay the run.");
    }

    /** Converts JSON to a Java value, for callers that throw their own error. */
    public <T> @Nullable T convert(JsonNode value, Type type) throws JsonTypeMismatch {
        if (type == JsonNode.class) {
            @SuppressWarnings("unchecked") // checked by the condition above
            T same = (T) value;
            return same;
        }
        try {
            return mapper.<@Nullable T>treeToValue(value, mapper.constructType(type));
        } catch (JacksonException e) {
            throw JsonTypeMismatch.of(e);
        }
    }

    /** The JSON member name of each accessor method of a type. Empty if its JSON form is not an object. */
    public Map<String, String> members(Type type) {
        return JsonPropertyNameResolver.of(mapper, mapper.constructType(type));
    }

    /** The name of a type as its author wrote it. */
    public static String nameOf(Type type) {
        return type instanceof Class<?> plain ? plain.getSimpleName() : type.getTypeName();
    }

    private static JsonConversionFailed unwritable(@Nullable Object value, String what, String why) {
        String type = value == null ? "null" : nameOf(value.getClass());
        return new JsonConversionFailed(
                "A value of type " + type + " (" + what + ") cannot be written as JSON" + why
                        + ". It was not recorded.",
                "Return a record of texts, numbers, times, enums, lists and other records. If the action has happened,"
                        + " read its result from the external system.");
    }
}
