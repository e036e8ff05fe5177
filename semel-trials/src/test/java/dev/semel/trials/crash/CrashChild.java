package dev.semel.trials.crash;

import dev.semel.engine.ClockAndRandomSource;
import dev.semel.engine.EngineLimits;
import dev.semel.engine.run.WorkflowCatalog;
import dev.semel.error.EffectInDoubt;
import dev.semel.error.StepFailed;
import dev.semel.runtime.RunHandle;
import dev.semel.runtime.RuntimeOptions;
import dev.semel.runtime.SemelRuntime;
import dev.semel.workflow.Start;
import dev.semel.workflow.Workflow;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;

/**
 * A process that lives one {@link ProcessLife} for each line of its standard input, and tells on its standard output what it
 * learns, as a client would. A life that is to halt takes the whole process with it: no hook, no flush, no goodbye.
 */
final class CrashChild {
    static final int HALTED = 137;
    private static final int STUCK = 99;
    private static final Duration LONGEST = Duration.ofSeconds(60);
    private static final Duration SHORT_LEASE = Duration.ofMillis(1_500);

    private final ProcessLife life;
    private final Map<String, Integer> passed = new ConcurrentHashMap<>();

    private CrashChild(ProcessLife life) {
        this.life = life;
    }

    public static void main(String[] args) throws IOException {
        AtomicLong deadline = new AtomicLong(Long.MAX_VALUE);
        Thread.ofPlatform().daemon(true).start(() -> endWhenStuck(deadline));
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            deadline.set(System.nanoTime() + LONGEST.plusSeconds(30).toNanos());
            try {
                new CrashChild(ProcessLife.parse(line)).live();
            } catch (RuntimeException e) {
                e.printStackTrace();
                say("over", "broken", String.valueOf(e.getMessage()));
            }
            deadline.set(Long.MAX_VALUE);
        }
    }

    private static void endWhenStuck(AtomicLong deadline) {
        while (System.nanoTime() < deadline.get()) {
            LockSupport.parkNanos(Duration.ofSeconds(1).toNanos());
        }
        Thread.getAllStackTraces().forEach((thread, frames) -> {
            System.err.println(thread);
            for (StackTraceElement frame : frames) {
                System.err.println("    at " + frame);
            }
        });
        Runtime.getRuntime().halt(STUCK);
    }

    private static void say(String... words) {
        System.out.println(String.join("\t", words).replace('\n', ' '));
        System.out.flush();
    }

    private RuntimeOptions settings() {
        WorkflowCatalog.VersionCompiler noFiles = version -> {
            throw new WorkflowCatalog.WorkflowNotRegistered(version.name(), version.workflowId());
        };
        ClockAndRandomSource.TestInstrumentation testInstrumentation = new ClockAndRandomSource.TestInstrumentation() {
            @Override
            public void point(String label) {
                int passing = passed.merge(label, 1, Integer::sum);
                if (label.equals(life.halt().label()) && passing == life.halt().passing()) {
                    say("halted", label);
                    Runtime.getRuntime().halt(HALTED);
                }
            }
        };
        RuntimeOptions settings = RuntimeOptions.of(life.store(), noFiles)
                .withClock(ClockAndRandomSource.real().withInstrumentation(testInstrumentation), () -> 0)
                .withWorkerName("pid " + ProcessHandle.current().pid());
        // A file is free as soon as its process is gone; in PostgreSQL the lease of the dead has to run out.
        return life.store().startsWith("sqlite:")
                ? settings
                : settings.withLimits(EngineLimits.DEFAULT.withLease(SHORT_LEASE));
    }

    private void live() {
        String[] end;
        CrashActionFlows flows = new CrashActionFlows(life.mutation());
        Workflow<CrashActionFlows.Task, String> flow = flows.flow(life.effect());
        try (SemelRuntime semel = SemelRuntime.open(settings())) {
            semel.register(flow);
            String target = "";
            if (life.effect() == CrashAction.CALL) {
                semel.register(flows.called());
            }
            Workflow<String, String> workflow = flows.reported();
            if (life.effect() == CrashAction.SIGNAL) {
                semel.register(workflow);
                target = semel.start(workflow, "", Start.withKey(life.name() + ".reported"))
                        .id();
            }
            CrashActionFlows.Task task =
                    new CrashActionFlows.Task(url(), life.manners().startsWith("hangs"), target);
            Start start = Start.withKey(life.name());
            RunHandle<String> run = life.run().isEmpty() ? semel.start(flow, task, start) : semel.run(flow, life.run());
            say("started", run.id());
            end = end(run);
            if (life.effect() == CrashAction.SIGNAL) {
                semel.run(workflow, target).result(LONGEST);
            }
            RunHandle<String> again = semel.start(flow, task, start);
            say("again", again.id(), Boolean.toString(again.replayed()));
        }
        say("passed", passed());
        say(end);
    }

    private String url() {
        return life.receiver() + "/" + life.effect().memory() + "/" + life.manners() + "/" + life.name();
    }

    /** How the run ends, with the decision of a person where one is given; all failures are ends, too. */
    private String[] end(RunHandle<String> run) {
        try {
            return completed(run);
        } catch (EffectInDoubt e) {
            boolean decided = switch (life.decision()) {
                case NONE -> false;
                case HAPPENED -> run.confirmDone("effect", "receipt-1", "tester");
                case DID_NOT_HAPPEN -> run.confirmNotDone("effect", "tester");
            };
            return decided ? afterDecision(run) : new String[] {"over", "in_doubt", ""};
        } catch (StepFailed e) {
            return e.reason().equals("outcome-unknown")
                    ? afterResume(run)
                    : new String[] {"over", "failed", e.toString()};
        } catch (RuntimeException e) {
            return new String[] {"over", "failed", e.toString()};
        }
    }

    /** The attempts ended and the outcome is unknown: an operator resumes the run, which sends the same key again. */
    private static String[] afterResume(RunHandle<String> run) {
        try {
            run.resume("tester", "the receiver answers again");
            return completed(run);
        } catch (RuntimeException e) {
            return new String[] {"over", "failed", e.toString()};
        }
    }

    /** Who decided looks until the run has noticed: it is shown in doubt until it was taken up. */
    private static String[] afterDecision(RunHandle<String> run) {
        long deadline = System.nanoTime() + LONGEST.toNanos();
        while (System.nanoTime() < deadline) {
            try {
                return completed(run);
            } catch (EffectInDoubt e) {
                LockSupport.parkNanos(Duration.ofMillis(20).toNanos());
            } catch (RuntimeException e) {
                return new String[] {"over", "failed", e.toString()};
            }
        }
        return new String[] {"over", "in_doubt", "after a decision"};
    }

    private static String[] completed(RunHandle<String> run) {
        return new String[] {"over", "completed", run.result(LONGEST)};
    }

    private String passed() {
        return new TreeMap<>(passed)
                .entrySet().stream()
                        .map(entry -> entry.getKey() + "=" + entry.getValue())
                        .collect(Collectors.joining(","));
    }
}
