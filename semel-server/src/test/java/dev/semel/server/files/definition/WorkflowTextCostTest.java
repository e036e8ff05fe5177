package dev.semel.server.files.definition;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.node.StringNode;

/** What a text costs its thread, compared with a smaller text or with one parse. */
class WorkflowTextCostTest {
    private static final int EDITS = 64;

    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    /** Unlike time, allocated bytes are the same on every machine. */
    private static long allocated(Runnable work) {
        work.run(); // loads classes
        long before = THREADS.getCurrentThreadAllocatedBytes();
        work.run();
        return THREADS.getCurrentThreadAllocatedBytes() - before;
    }

    /** The processor time of three rounds, shortest first. */
    private static long[] processorTimes(Runnable work) {
        long[] times = new long[3];
        for (int i = 0; i < times.length; i++) {
            long before = THREADS.getCurrentThreadCpuTime();
            work.run();
            times[i] = THREADS.getCurrentThreadCpuTime() - before;
        }
        Arrays.sort(times);
        return times;
    }

    @ParameterizedTest
    @ValueSource(strings = {"[", "{", "- ", "? ", "[[],", "{a: ["})
    void the_name_of_a_deeply_nested_text_is_not_searched_to_the_end(String nested) {
        int length = 60_000 / nested.length();
        String small = nested.repeat(length / 20);
        String large = nested.repeat(length);
        assertEquals(Optional.empty(), YamlWorkflowNameReader.find(nested.repeat(100)));
        long longest = processorTimes(() -> YamlWorkflowNameReader.find(small))[2];
        long shortest = processorTimes(() -> YamlWorkflowNameReader.find(large))[0];
        assertTrue(shortest < 5 * longest, longest + " ns; for 20 times the text " + shortest + " ns");
    }

    @Test
    void a_name_behind_many_values_or_in_a_huge_text_is_not_found() {
        String values = "x: [" + "1, ".repeat(30_000) + "1]\n";
        assertEquals(Optional.empty(), YamlWorkflowNameReader.find(values + "workflow: late\n"));
        assertEquals(
                Optional.empty(), YamlWorkflowNameReader.find("workflow: early\n" + "#".repeat(256 * 1024) + "\n"));
        assertEquals(Optional.of("early"), YamlWorkflowNameReader.find("workflow: early\n" + values));
    }

    @Test
    void a_series_of_edits_parses_each_text_once() {
        StringBuilder out = new StringBuilder("semel: 1\nworkflow: large\nowner: trials\nsteps:\n");
        for (int i = 0; i < 400; i++) {
            out.append("  - id: s")
                    .append(i)
                    .append("\n    set: { a: \"${ input.x }\", b: 1, c: a text of some length }\n");
        }
        String text = out.toString();
        List<WorkflowDraftEdit> edits = new ArrayList<>();
        for (int i = 0; i < EDITS; i++) {
            edits.add(new WorkflowDraftEdit.SetField("s" + 5 * i, "set.b", StringNode.valueOf("edited")));
        }
        long parse = allocated(() -> WorkflowDraftStepOutline.of(text));
        String[] edited = new String[1];
        long all = allocated(() -> edited[0] = WorkflowDraftEdit.applyAll(text, edits));
        assertEquals(EDITS, edited[0].split("b: edited,", -1).length - 1);
        assertTrue(all < 3 * EDITS * parse / 2, EDITS + " edits cost " + all / parse + " parses");
    }
}
