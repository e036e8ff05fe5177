package dev.semel.store;

import dev.semel.run.RunId;
import java.lang.reflect.RecordComponent;
import java.util.HexFormat;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Values as texts that are equal where the values are: records by their parts, arrays of bytes by what is in them. */
final class ValueText {
    private static final int LONGEST = 100;

    private ValueText() {}

    static String of(@Nullable Object value) {
        return switch (value) {
            case null -> "null";
            case byte[] bytes -> "x" + HexFormat.of().formatHex(bytes);
            case RunId id -> id.text();
            case List<?> list -> list.stream().map(ValueText::of).collect(Collectors.joining(", ", "[", "]"));
            case Record one ->
                one.getClass().getSimpleName()
                        + Stream.of(one.getClass().getRecordComponents())
                                .map(part -> part.getName() + "=" + of(read(part, one)))
                                .collect(Collectors.joining(", ", "(", ")"));
            case String text
            when text.length() > LONGEST ->
                text.substring(0, LONGEST) + "… (" + text.length() + " characters, hash " + text.hashCode() + ")";
            default -> value.toString();
        };
    }

    private static @Nullable Object read(RecordComponent part, Record one) {
        try {
            part.getAccessor().setAccessible(true);
            return part.getAccessor().invoke(one);
        } catch (ReflectiveOperationException e) {
            throw new AssertionError("a record tells its parts", e);
        }
    }
}
