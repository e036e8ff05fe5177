package dev.semel.testing.junit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;

import dev.semel.testing.WorkflowTestKit;
import dev.semel.workflow.Signal;
import dev.semel.workflow.Workflow;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.platform.launcher.LauncherDiscoveryRequest;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;
import org.junit.platform.launcher.listeners.SummaryGeneratingListener;
import org.junit.platform.launcher.listeners.TestExecutionSummary;

/** What JUnit makes of test classes with a kit; the classes inside run only when this test runs them. */
final class WorkflowTestKitExtensionTest {
    private static TestExecutionSummary run(Class<?> tests) {
        LauncherDiscoveryRequest request = LauncherDiscoveryRequestBuilder.request()
                .selectors(selectClass(tests))
                .build();
        SummaryGeneratingListener summary = new SummaryGeneratingListener();
        LauncherFactory.create().execute(request, summary);
        return summary.getSummary();
    }

    private static String failure(TestExecutionSummary summary) {
        return summary.getFailures().getFirst().getException().toString();
    }

    private static final List<WorkflowTestKit> LABS = new ArrayList<>();

    @SemelTest
    static final class PassingTests {
        private WorkflowTestKit before;

        @BeforeEach
        void set(WorkflowTestKit kit) {
            before = kit;
        }

        @Test
        void one(WorkflowTestKit kit) {
            assertSame(before, kit);
            LABS.add(kit);
        }

        @Test
        void two(WorkflowTestKit kit, TestInfo ignored) {
            LABS.add(kit);
        }
    }

    @Test
    void all_methods_of_a_test_share_a_test_kit_and_no_two_tests_do() {
        LABS.clear();
        assertEquals(2, run(PassingTests.class).getTestsSucceededCount());
        assertEquals(2, LABS.size());
        assertNotSame(LABS.getFirst(), LABS.getLast());
    }

    @SemelTest
    static final class MissingSweepTests {
        @Test
        void sweep(WorkflowTestKit kit) {
            kit.crashEverywhere(_ -> {});
        }
    }

    @Test
    void the_test_kit_is_closed_and_its_failure_fails_the_test() {
        TestExecutionSummary summary = run(MissingSweepTests.class);
        assertEquals(1, summary.getTestsFailedCount());
        assertTrue(failure(summary).contains("its result was not used"), failure(summary));
    }

    @SemelTest
    static final class InConstructor {
        InConstructor(WorkflowTestKit ignored) {}

        @Test
        void never() {}
    }

    @Test
    void a_constructor_gets_no_test_kit() {
        assertTrue(failure(run(InConstructor.class)).contains("No ParameterResolver"));
    }

    @SemelTest
    static final class Failing {
        private static final Signal<String> PAID = Signal.of("paid", String.class);

        @Test
        void fails(WorkflowTestKit kit) {
            Workflow<String, String> flow = Workflow.define("fulfil", String.class, String.class)
                    .body((ctx, in) -> ctx.step("look", String.class, _ -> "seen") + ctx.await(PAID));
            kit.register(flow).start(flow, "secret");
            kit.settle();
            throw new AssertionError("on purpose");
        }
    }

    @Test
    void a_failing_test_shows_its_runs_with_steps_and_no_payload() {
        PrintStream before = System.out;
        ByteArrayOutputStream shown = new ByteArrayOutputStream();
        TestExecutionSummary summary;
        try {
            System.setOut(new PrintStream(shown, true, StandardCharsets.UTF_8));
            summary = run(Failing.class);
        } finally {
            System.setOut(before);
        }
        String text = shown.toString(StandardCharsets.UTF_8);
        assertTrue(failure(summary).contains("on purpose"));
        assertTrue(text.contains("fails(WorkflowTestKit) failed. The runs, newest first:"), text);
        assertTrue(text.contains("fulfil waiting, waits {\"for\":\"signal\""), text);
        assertTrue(text.contains("step look: done, attempt 1"), text);
        assertTrue(!text.contains("secret"), text);
    }
}
