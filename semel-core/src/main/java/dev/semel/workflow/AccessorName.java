package dev.semel.workflow;

import java.io.IOException;
import java.io.ObjectOutputStream;
import java.io.OutputStream;
import java.lang.invoke.SerializedLambda;
import org.jspecify.annotations.Nullable;

/**
 * Asks a method reference for the name of its method: a stream to nowhere is shown the lambda's description and lets
 * nothing through. This is as near to reflection as we go, because a conflict has to name the field that differs.
 */
final class AccessorName extends ObjectOutputStream {
    private @Nullable String method;

    private AccessorName() throws IOException {
        super(OutputStream.nullOutputStream());
        enableReplaceObject(true);
    }

    /** The name of the method; null for a lambda, which has none that a person would know. */
    static @Nullable String of(Accessor<?, ?> accessor) {
        try (AccessorName stream = new AccessorName()) {
            stream.writeObject(accessor);
            String name = stream.method;
            return name == null || name.startsWith("lambda$") ? null : name;
        } catch (IOException e) {
            return null;
        }
    }

    @Override
    protected @Nullable Object replaceObject(Object object) {
        if (object instanceof SerializedLambda lambda) {
            method = lambda.getImplMethodName();
        }
        return null;
    }
}
