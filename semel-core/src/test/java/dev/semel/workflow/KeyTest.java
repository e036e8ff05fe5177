package dev.semel.workflow;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import tools.jackson.databind.node.JsonNodeFactory;

/** How parts become a key: the same parts always the same one, other parts another one. */
class KeyTest {
    enum Kind {
        RECEIPT {
            @Override
            public String toString() {
                return "shown to people";
            }
        }
    }

    record Id(String value) {}

    static Stream<Arguments> joined() {
        return Stream.of(
                Arguments.of("capture:pay_1", parts("capture", "pay_1")),
                Arguments.of("a:b:c", parts("a", "b", "c")),
                Arguments.of("a%3Ab:c", parts("a:b", "c")),
                Arguments.of("a:b%3Ac", parts("a", "b:c")),
                Arguments.of("a%253Ab:c", parts("a%3Ab", "c")),
                Arguments.of("a\\:b", parts("a\\", "b")),
                Arguments.of("a%20b:c%22", parts("a b", "c\"")),
                Arguments.of("%C3%A4:%F0%9F%98%80", parts("\u00e4", "\ud83d\ude00")),
                Arguments.of("%00:x%0A", parts("\u0000", "x\n")),
                Arguments.of("7:1.5:true:x", parts(7, new BigDecimal("1.50"), true, 'x')),
                Arguments.of("RECEIPT:PT1H", parts(Kind.RECEIPT, Duration.ofHours(1))),
                Arguments.of("00000000-0000-0001-0000-000000000002:a", parts(new UUID(1, 2), "a")),
                Arguments.of("Id[value=3]:a", parts(new Id("3"), "a")));
    }

    @ParameterizedTest
    @MethodSource("joined")
    void joined_parts_are_unambiguous(String key, Object[] parts) {
        assertEquals(key, Key.joinEscaped(parts).text());
        assertEquals(key, Key.of(parts).text());
        assertEquals(key, Start.withKey(parts).key());
    }

    @Test
    void one_number_has_one_text() {
        Object[] hundred = {
            100,
            100L,
            (short) 100,
            (byte) 100,
            100.0,
            100f,
            new BigDecimal("100"),
            new BigDecimal("100.00"),
            new BigDecimal("1e2"),
            BigInteger.valueOf(100),
            new AtomicLong(100),
            JsonNodeFactory.instance.numberNode(new BigDecimal("1e2")),
            JsonNodeFactory.instance.numberNode(100.0)
        };
        for (Object number : hundred) {
            assertEquals("order:100", Key.of("order", number).text(), number.getClass()::toString);
            assertEquals("100", Key.of(number).text(), number.getClass()::toString);
        }
        assertEquals("0.1:-2.5", Key.of(0.1f, new BigDecimal("-2.500")).text());
        assertEquals("1e+400", Key.of(new BigDecimal("1e400")).text());
        assertEquals("0", Key.of(-0.0).text());
        assertNotEquals(Key.of(9007199254740993L), Key.of(9007199254740992L));
        assertEquals(
                "9007199254740993", Key.of(new BigDecimal("9007199254740993.0")).text());
        assertThrows(IllegalArgumentException.class, () -> Key.of("order", Double.NaN));
        assertThrows(IllegalArgumentException.class, () -> Key.of("order", Float.POSITIVE_INFINITY));
    }

    @Test
    void a_single_part_is_the_key_itself() {
        assertEquals("urn:event:1", Key.of("urn:event:1").text());
        assertEquals("urn:event:1", Start.withKey("urn:event:1").key());
        assertEquals("urn%3Aevent%3A1", Key.joinEscaped("urn:event:1").text());
        assertNotEquals(Key.joinEscaped("a:b"), Key.joinEscaped("a", "b"));
    }

    static Stream<Arguments> refused() {
        return Stream.of(
                Arguments.of("the key has no parts", parts()),
                Arguments.of("part 1 of the key is null", parts((Object) null)),
                Arguments.of("part 2 of the key is null", parts("a", null)),
                Arguments.of("part 1 of the key is empty", parts("")),
                Arguments.of("part 2 of the key is empty", parts("a", " ")),
                Arguments.of("part 2 of the key is not Unicode text", parts("a", "half \ud83d")),
                Arguments.of(
                        "part 1 of the key is a Object, whose toString() differs in every process",
                        parts(new Object(), "a")),
                Arguments.of(
                        "part 2 of the key is a byte[], whose toString() differs in every process",
                        parts("a", new byte[] {1})));
    }

    @ParameterizedTest
    @MethodSource("refused")
    void ambiguous_parts_are_rejected(String why, @Nullable Object[] parts) {
        assertEquals(
                why,
                assertThrows(IllegalArgumentException.class, () -> Key.joinEscaped(parts))
                        .getMessage());
        assertEquals(
                why,
                assertThrows(IllegalArgumentException.class, () -> Key.of(parts))
                        .getMessage());
    }

    private static @Nullable Object[] parts(@Nullable Object... parts) {
        return parts;
    }
}
