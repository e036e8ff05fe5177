package dev.semel.trials.path;

import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.trials.path.CallRecorder.Call;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/**
 * Counts the types of Semel that a trigger with a new key passes through until its 200, because a reader has to follow
 * them. Nested types count as the type that encloses them.
 */
class TriggerPathTest {
    private static final int MOST_TYPES = 112;

    @Test
    void a_trigger_with_a_new_key_passes_through_few_types() throws Exception {
        Set<String> path = null;
        for (List<Call> calls : record()) {
            if (path == null) {
                path = path(calls);
            } else {
                path.retainAll(path(calls)); // what a timer does meanwhile is not in every request
            }
        }
        Set<String> types = path == null ? Set.of() : path;
        String list = types.size() + " types, at most " + MOST_TYPES + ":\n" + String.join("\n", types);
        System.out.println(list);
        assertTrue(types.contains("engine.admission.TriggerIngress"), list);
        assertTrue(types.contains("store.sqlite.SqliteBatchWriter"), list);
        assertTrue(types.size() <= MOST_TYPES, list);
    }

    @SuppressWarnings("unchecked") // the recorder is the same type in both class loaders
    private static List<List<Call>> record() throws Exception {
        ClassLoader loader = new RecordingClassLoader();
        ClassLoader usual = Thread.currentThread().getContextClassLoader();
        Thread.currentThread().setContextClassLoader(loader); // for services that the server looks up
        try {
            Callable<List<List<Call>>> scenario =
                    (Callable<List<List<Call>>>) loader.loadClass(TriggerScenario.class.getName())
                            .getConstructor()
                            .newInstance();
            return scenario.call();
        } finally {
            Thread.currentThread().setContextClassLoader(usual);
        }
    }

    /** The thread of the request, and the threads of the store until the run begins. */
    private static Set<String> path(List<Call> calls) {
        long request = calls.stream()
                .filter(call -> is(call, "server.operations.trigger.WorkflowTriggerRoutes", "trigger"))
                .findFirst()
                .orElseThrow()
                .thread();
        Set<String> path = calls.stream()
                .takeWhile(call -> !is(call, "engine.run.RunExecutor", "runToEnd"))
                .filter(call -> call.threadName().matches("semel-(lane|read)-.*"))
                .map(Call::type)
                .collect(Collectors.toCollection(TreeSet::new));
        calls.stream().filter(call -> call.thread() == request).map(Call::type).forEach(path::add);
        return path;
    }

    private static boolean is(Call call, String type, String method) {
        return call.type().equals(type) && call.method().equals(method);
    }
}
