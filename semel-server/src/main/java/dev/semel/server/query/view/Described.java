package dev.semel.server.query.view;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Describes a record or a member of it in the JSON schema of the API. The type of a member gives its schema type;
 * {@code @Nullable} allows null, and {@code @JsonInclude(NON_NULL)} means absent instead of null.
 */
@Retention(RetentionPolicy.RUNTIME)
@Target({ElementType.TYPE, ElementType.RECORD_COMPONENT})
public @interface Described {
    /** Whole sentences, or nothing where the name says it. */
    String value() default "";

    String example() default "";

    String pattern() default "";

    /** The texts that a string may have. An enum needs none. */
    String[] oneOf() default {};

    long min() default Long.MIN_VALUE;

    long max() default Long.MAX_VALUE;

    int maxItems() default Integer.MAX_VALUE;
}
