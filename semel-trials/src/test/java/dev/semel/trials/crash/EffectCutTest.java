package dev.semel.trials.crash;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.semel.engine.run.WorkflowCatalog;
import dev.semel.error.EffectInDoubt;
import dev.semel.error.HttpStatusException;
import dev.semel.http.HttpEffectClient;
import dev.semel.runtime.RunHandle;
import dev.semel.runtime.RuntimeOptions;
import dev.semel.runtime.SemelRuntime;
import dev.semel.workflow.Context;
import dev.semel.workflow.EffectBuilder;
import dev.semel.workflow.EffectOutcome;
import dev.semel.workflow.Retry;
import dev.semel.workflow.Start;
import dev.semel.workflow.Step;
import dev.semel.workflow.Workflow;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The wire to the outside world is cut: the request on its way there, or its answer on its way back. The worker sees
 * the same each time; each protection has its own answer to that, and the receiver's log is the witness.
 */
@Tag("trial")
class EffectCutTest {
    private static final Set<CrashAction> DEEDS = EnumSet.of(
            CrashAction.REPEATABLE,
            CrashAction.PROVIDER_KEY,
            CrashAction.ALREADY_DONE,
            CrashAction.LOOKUP,
            CrashAction.AT_MOST_ONCE,
            CrashAction.ASK);
    private static final Retry PROMPT = Retry.exponential(Duration.ofMillis(20)).upTo(3);
    private static final Duration PROVIDER_WINDOW = Duration.ofHours(1);

    @TempDir
    Path folder;

    private final HttpEffectClient http = HttpEffectClient.standard();

    private record Cut(CrashAction effect, EffectProxy.Cut cut) {
        /** The last part of the path; the proxy reads from it where to cut. */
        String name() {
            return effect + "." + cut;
        }
    }

    @Test
    void an_effect_with_a_broken_connection_happens_as_often_as_its_protection_says() {
        WorkflowCatalog.VersionCompiler noFiles = version -> {
            throw new WorkflowCatalog.WorkflowNotRegistered(version.name(), version.workflowId());
        };
        String store = RealPostgres.url(RealPostgres.newDatabase());
        List<String> wrong = new ArrayList<>();
        try (Receiver receiver = Receiver.start(folder);
                EffectProxy proxy = new EffectProxy(receiver.url());
                SemelRuntime semel = SemelRuntime.open(RuntimeOptions.of(store, noFiles))) {
            Map<Cut, RunHandle<String>> runs = new LinkedHashMap<>();
            for (CrashAction action : DEEDS) {
                Workflow<String, String> flow = flow(action);
                semel.register(flow);
                for (EffectProxy.Cut where : EffectProxy.Cut.values()) {
                    Cut cut = new Cut(action, where);
                    String url = proxy.url() + "/" + action.memory() + "/answers/" + cut.name();
                    runs.put(cut, semel.start(flow, url, Start.withKey(cut.name())));
                }
            }
            runs.forEach((cut, run) -> {
                String end = end(cut, run, receiver);
                List<Receiver.ReceivedRequest> heard = receiver.of(cut.name());
                if (!proxy.happened(cut.name())) {
                    wrong.add(cut + " did not happen");
                }
                judge(cut, end, heard).forEach(line -> wrong.add(cut + ": " + line + " " + heard));
            });
            System.out.println("cut effects: " + runs.size() + " cells");
        }
        http.close();
        assertEquals(List.of(), wrong);
    }

    @Test
    void a_duplicated_or_lost_effect_is_detected() {
        Receiver.ReceivedRequest once =
                new Receiver.ReceivedRequest("POST", "/forgets/answers/x", "k", "h", "accepted");
        Receiver.ReceivedRequest other =
                new Receiver.ReceivedRequest("POST", "/forgets/answers/x", "l", "h", "accepted");
        Cut answered = new Cut(CrashAction.LOOKUP, EffectProxy.Cut.ANSWER);
        assertEquals(List.of(), judge(answered, "receipt-1", List.of(once)));
        assertEquals(List.of("2 accepted effects, not 1"), judge(answered, "receipt-1", List.of(once, once)));
        assertEquals(List.of("0 accepted effects, not 1"), judge(answered, "receipt-1", List.of()));
        assertEquals(
                List.of("2 accepted effects, not 1", "the attempts carried several keys"),
                judge(answered, "receipt-1", List.of(once, other)));
        Cut unsure = new Cut(CrashAction.AT_MOST_ONCE, EffectProxy.Cut.ANSWER);
        assertEquals(List.of("it ended with receipt-1"), judge(unsure, "receipt-1", List.of(once)));
    }

    /** How the run ends; of what is in doubt a person says the truth, which the receiver's log tells. */
    private static String end(Cut cut, RunHandle<String> run, Receiver receiver) {
        try {
            return run.result(Await.GENEROUS);
        } catch (EffectInDoubt e) {
            List<Receiver.ReceivedRequest> heard = receiver.of(cut.name());
            if (cut.effect() != CrashAction.ASK || CrashChecks.posts(heard) > 1) {
                return "in doubt after " + heard;
            }
            boolean accepted = CrashChecks.accepted(heard) == 1;
            boolean decided = accepted
                    ? run.confirmDone("effect", "receipt-1", "tester")
                    : run.confirmNotDone("effect", "tester");
            Await.holds(cut + " goes on", () -> run.stepsInDoubt().isEmpty());
            return decided ? afterDecision(run) : "not decided";
        }
    }

    /** It is shown in doubt until somebody has taken it up. */
    private static String afterDecision(RunHandle<String> run) {
        String[] end = {""};
        Await.holds("the decided run ends", () -> {
            try {
                end[0] = run.result(Await.GENEROUS);
                return true;
            } catch (EffectInDoubt e) {
                return false;
            }
        });
        return end[0];
    }

    static List<String> judge(Cut cut, String end, List<Receiver.ReceivedRequest> heard) {
        List<String> wrong = new ArrayList<>();
        int accepted = CrashChecks.accepted(heard);
        int posts = CrashChecks.posts(heard);
        boolean arrived = cut.cut() != EffectProxy.Cut.REQUEST;
        boolean unknown = cut.effect() == CrashAction.AT_MOST_ONCE;
        if (!end.equals(unknown ? CrashActionFlows.INDETERMINATE : "receipt-1")
                && !(cut.effect() == CrashAction.REPEATABLE && end.equals("receipt-" + accepted))) {
            wrong.add("it ended with " + end);
        }
        int most = cut.effect() == CrashAction.REPEATABLE && arrived ? 2 : unknown && !arrived ? 0 : 1;
        if (accepted != most) {
            wrong.add(accepted + " accepted effects, not " + most);
        }
        if (unknown && posts > 1) {
            wrong.add("it was sent " + posts + " times");
        }
        if (heard.stream().map(Receiver.ReceivedRequest::key).distinct().count() > 1) {
            wrong.add("the attempts carried several keys");
        }
        return wrong;
    }

    private Workflow<String, String> flow(CrashAction action) {
        return Workflow.define(action.name().toLowerCase(Locale.ROOT), String.class, String.class)
                .body((ctx, url) -> perform(action, ctx, URI.create(url)));
    }

    private String perform(CrashAction action, Context ctx, URI url) {
        EffectBuilder effect = ctx.effect("effect").retry(PROMPT);
        return switch (action) {
            case REPEATABLE -> effect.repeatable("it is counted").call(String.class, step -> post(url, step));
            case PROVIDER_KEY -> effect.providerHonoursKey(PROVIDER_WINDOW).call(String.class, step -> post(url, step));
            case ALREADY_DONE ->
                effect.alreadyDone(409).providerHonoursKey(PROVIDER_WINDOW).call(String.class, step -> post(url, step));
            case LOOKUP -> effect.lookup(String.class, step -> find(url, step)).call(step -> post(url, step));
            case AT_MOST_ONCE ->
                switch (effect.atMostOnce().call(String.class, step -> post(url, step))) {
                    case EffectOutcome.Done<String>(String receipt) -> receipt;
                    case EffectOutcome.Indeterminate<String> _ -> CrashActionFlows.INDETERMINATE;
                };
            case ASK -> effect.askOnDoubt("role:ops").call(String.class, step -> post(url, step));
            case STEP, TX, CALL, SIGNAL -> throw new IllegalArgumentException(action + " sends nothing");
        };
    }

    private String post(URI url, Step step) throws IOException, InterruptedException {
        return http.send(step, HttpRequest.newBuilder(url).POST(BodyPublishers.ofString("a effect")))
                .asString();
    }

    private @Nullable String find(URI url, Step step) throws IOException, InterruptedException {
        try {
            return http.send(step, HttpRequest.newBuilder(url).GET()).asString();
        } catch (HttpStatusException e) {
            return null;
        }
    }
}
