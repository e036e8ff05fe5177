package dev.semel.testing.junit;

import dev.semel.testing.WorkflowTestKit;
import java.lang.reflect.Method;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ExtensionContext.Namespace;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;

/** JUnit 5 and 6 extension that passes a new workflow test kit to each test method and closes it afterwards. */
final class WorkflowTestKitExtension implements ParameterResolver, AfterEachCallback {
    private static final Namespace OURS = Namespace.create(WorkflowTestKitExtension.class);

    /** Methods only: a constructor may serve several tests, and each test gets its own test kit. */
    @Override
    public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
        return parameter.getParameter().getType().equals(WorkflowTestKit.class)
                && parameter.getDeclaringExecutable() instanceof Method
                && context.getTestMethod().isPresent();
    }

    @Override
    public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
        ExtensionContext.Store store = context.getStore(OURS);
        WorkflowTestKit kit = store.get(WorkflowTestKit.class, WorkflowTestKit.class);
        if (kit == null) {
            kit = new WorkflowTestKit();
            store.put(WorkflowTestKit.class, kit);
        }
        return kit;
    }

    @Override
    public void afterEach(ExtensionContext context) {
        WorkflowTestKit kit = context.getStore(OURS).remove(WorkflowTestKit.class, WorkflowTestKit.class);
        if (kit == null) {
            return;
        }
        try (kit) {
            if (context.getExecutionException().isPresent() && kit.isOpen()) {
                System.out.println(context.getDisplayName() + " failed. " + kit.describe());
            }
        }
    }
}
