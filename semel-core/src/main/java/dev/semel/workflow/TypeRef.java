package dev.semel.workflow;

import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;
import org.jspecify.annotations.Nullable;

/**
 * A generic type with its type arguments, for example {@code new TypeRef<List<Pick>>() {}}.
 * The empty class body keeps the type arguments at run time.
 */
public abstract class TypeRef<T extends @Nullable Object> {
    private final Type type;

    protected TypeRef() {
        if (!(getClass().getGenericSuperclass() instanceof ParameterizedType parameters)) {
            throw new IllegalArgumentException("a TypeRef needs a type argument: new TypeRef<List<String>>() {}");
        }
        this.type = parameters.getActualTypeArguments()[0];
    }

    private TypeRef(Type type) {
        this.type = type;
    }

    public static <T extends @Nullable Object> TypeRef<T> of(Class<T> type) {
        return new TypeRef<>(type) {};
    }

    public final Type type() {
        return type;
    }
}
