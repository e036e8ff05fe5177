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
    private @Nullable Method method;

    /** @param owner the class that declares it */
    record Method(String owner, String name) {}

    private AccessorName() throws IOException {
        super(OutputStream.nullOutputStream());
        enableReplaceObject(true);
    }

    /** The method; null for a lambda, which has none that a person would know. */
    static @Nullable Method of(Accessor<?, ?> accessor) {
        try (AccessorName stream = new AccessorName()) {
            stream.writeObject(accessor);
            Method found = stream.method;
            return found == null || found.name().startsWith("lambda$") ? null : found;
        } catch (IOException e) {
            return null;
        }
    }

    @Override
    protected @Nullable Object replaceObject(Object object) {
        if (object instanceof SerializedLambda lambda) {
            method = new Method(lambda.getImplClass().replace('/', '.'), lambda.getImplMethodName());
        }
        return null;
    }
}
