package dev.semel.testing.junit;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Marks a test class whose methods take a {@link dev.semel.testing.WorkflowTestKit} parameter.
 * Each test gets its own, which is checked and closed afterwards. If a test fails, its runs are printed with their
 * steps.
 */
@Documented
@Inherited
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@ExtendWith(WorkflowTestKitExtension.class)
@SuppressWarnings("exports") // users of this annotation have JUnit, and do not name the extension
public @interface SemelTest {}
