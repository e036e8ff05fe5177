package dev.semel.json;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.Serializable;
import java.lang.reflect.Type;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Attack S38: documents that name classes. What is on record is data, whatever it calls itself: read into the widest of
 * types it is texts, numbers, lists and maps, or it is refused.
 */
class HostileTypesTest {
    record Holder(@Nullable Object value) {}

    interface Open {}

    static Stream<String> documents() {
        String builder = "java.lang.ProcessBuilder";
        return Stream.of(
                "{\"@class\":\"%s\",\"command\":[\"touch\",\"x\"]}".formatted(builder),
                "{\"@type\":\"%s\",\"command\":[\"touch\",\"x\"]}".formatted(builder),
                "{\"@c\":\".ProcessBuilder\",\"class\":\"%s\",\"type\":\"%s\"}".formatted(builder, builder),
                "[\"%s\",{\"command\":[\"touch\",\"x\"]}]".formatted(builder),
                "[\"java.util.ArrayList\",[\"%s\",[[\"touch\"]]]]".formatted(builder),
                "[\"javax.naming.InitialContext\",\"ldap://x\"]",
                "\"rO0ABXNyABFqYXZhLnV0aWwuSGFzaE1hcAUH2sHDFmDRAwACRgAKbG9hZEZhY3RvckkACXRocmVzaG9sZHhw\"");
    }

    private static final List<Type> TYPES = List.of(
            Object.class,
            Serializable.class,
            Comparable.class,
            Open.class,
            Number.class,
            List.class,
            Map.class,
            Object[].class);

    @ParameterizedTest
    @MethodSource("documents")
    void a_document_that_names_a_class_is_data(String document) {
        for (Type type : TYPES) {
            plain(read(document, type));
        }
        assertEquals(
                StrictJsonCodec.parse(document), JsonCodec.STANDARD.write(read(document, Object.class), "the value"));
    }

    @ParameterizedTest
    @MethodSource("documents")
    void also_inside_of_a_record_of_the_user(String document) {
        Holder holder = (Holder) read("{\"value\":" + document + "}", Holder.class);
        plain(holder == null ? null : holder.value());
    }

    private static @Nullable Object read(String document, Type type) {
        try {
            return JsonCodec.STANDARD.convert(StrictJsonCodec.parse(document), type);
        } catch (JsonTypeMismatch refused) {
            return null; // as good: nothing was made of it
        }
    }

    private static void plain(@Nullable Object value) {
        switch (value) {
            case Map<?, ?> map -> map.values().forEach(HostileTypesTest::plain);
            case Collection<?> items -> items.forEach(HostileTypesTest::plain);
            case Object[] items -> List.of(items).forEach(HostileTypesTest::plain);
            case null -> {}
            default ->
                assertTrue(
                        value instanceof String || value instanceof Number || value instanceof Boolean,
                        () -> "made of a document: " + value.getClass());
        }
    }
}
