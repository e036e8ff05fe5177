package dev.semel.definition;

import java.io.IOException;
import java.io.ObjectOutputStream;
import java.io.OutputStream;
import java.io.Serializable;
import java.lang.invoke.SerializedLambda;
import org.jspecify.annotations.Nullable;

/**
 * Finds the name of the method behind a method reference, so that a key conflict can name the field that differs.
 * It serializes the reference to a null stream and reads the method from the {@link SerializedLambda}.
 */
public final class MethodReferenceNameFinder extends ObjectOutputStream {
    private @Nullable Method method;

    /** @param owner the class that declares it */
    public record Method(String owner, String name) {}

    private MethodReferenceNameFinder() throws IOException {
        super(OutputStream.nullOutputStream());
        enableReplaceObject(true);
    }

    /** The referenced method; null for a lambda, whose method name is generated. */
    public static @Nullable Method of(Serializable accessor) {
        try (MethodReferenceNameFinder stream = new MethodReferenceNameFinder()) {
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
