package dev.semel.trials.crash;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.semel.error.HttpStatus;
import dev.semel.runtime.RunHandle;
import dev.semel.runtime.SemelRuntime;
import dev.semel.runtime.RuntimeOptions;
import dev.semel.engine.WorkflowCatalog;
import dev.semel.error.EffectInDoubt;
import dev.semel.http.HttpEffectClient;
import dev.semel.workflow.Context;
import dev.semel.workflow.EffectBuilder;
import dev.semel.workflow.Outcome;
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
    private static final Set<Deed> DEEDS =
            EnumSet.of(Deed.REPEATABLE, Deed.PROVIDER_KEY, Deed.ALREADY_DONE, Deed.LOOKUP, Deed.AT_MOST_ONCE, Deed.ASK);
    private static final Retry PROMPT = Retry.exponential(Duration.ofMillis(20)).upTo(3);
    private static final Duration PROVIDER_WINDOW = Duration.ofHours(1);

    @TempDir
    Path folder;

    private final HttpEffectClient http = HttpEffectClient.standard();

    private record Cut(Deed deed, EffectProxy.Cut cut) {
        /** The last part of the path; the proxy reads from it where to cut. */
        String name() {
            return deed + "." + cut;
        }
    }

    @Test
    void an_effect_whose_wire_is_cut_is_done_as_often_as_its_protection_says() {
        WorkflowCatalog.VersionCompiler noFiles = version -> {
            throw new WorkflowCatalog.WorkflowNotRegistered(version.name(), version.workflowId());
        };
        String store = RealPostgres.url(RealPostgres.newDatabase());
        List<String> wrong = new ArrayList<>();
        try (Receiver receiver = Receiver.start(folder);
                EffectProxy proxy = new EffectProxy(receiver.url());
                SemelRuntime semel = SemelRuntime.open(RuntimeOptions.of(store, noFiles))) {
            Map<Cut, RunHandle<String>> runs = new LinkedHashMap<>();
            for (Deed deed : DEEDS) {
                Workflow<String, String> flow = flow(deed);
                semel.register(flow);
                for (EffectProxy.Cut where : EffectProxy.Cut.values()) {
                    Cut cut = new Cut(deed, where);
                    String url = proxy.url() + "/" + deed.memory() + "/answers/" + cut.name();
                    runs.put(cut, semel.start(flow, url, Start.withKey(cut.name())));
                }
            }
            runs.forEach((cut, run) -> {
                String end = end(cut, run, receiver);
                List<Receiver.Line> heard = receiver.of(cut.name());
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
    void an_effect_that_is_done_twice_or_lost_is_seen() {
        Receiver.Line once = new Receiver.Line("POST", "/forgets/answers/x", "k", "h", "accepted");
        Receiver.Line other = new Receiver.Line("POST", "/forgets/answers/x", "l", "h", "accepted");
        Cut answered = new Cut(Deed.LOOKUP, EffectProxy.Cut.ANSWER);
        assertEquals(List.of(), judge(answered, "receipt-1", List.of(once)));
        assertEquals(List.of("2 accepted effects, not 1"), judge(answered, "receipt-1", List.of(once, once)));
        assertEquals(List.of("0 accepted effects, not 1"), judge(answered, "receipt-1", List.of()));
        assertEquals(
                List.of("2 accepted effects, not 1", "the attempts carried several keys"),
                judge(answered, "receipt-1", List.of(once, other)));
        Cut unsure = new Cut(Deed.AT_MOST_ONCE, EffectProxy.Cut.ANSWER);
        assertEquals(List.of("it ended with receipt-1"), judge(unsure, "receipt-1", List.of(once)));
    }

    /** How the run ends; of what is in doubt a person says the truth, which the receiver's log tells. */
    private static String end(Cut cut, RunHandle<String> run, Receiver receiver) {
        try {
            return run.result(Until.GENEROUS);
        } catch (EffectInDoubt e) {
            List<Receiver.Line> heard = receiver.of(cut.name());
            if (cut.deed() != Deed.ASK || Judgement.posts(heard) > 1) {
                return "in doubt after " + heard;
            }
            boolean accepted = Judgement.accepted(heard) == 1;
            boolean decided =
                    accepted ? run.confirmDone("deed", "receipt-1", "tester") : run.confirmNotDone("deed", "tester");
            Until.holds(cut + " goes on", () -> run.stepsInDoubt().isEmpty());
            return decided ? afterDecision(run) : "not decided";
        }
    }

    /** It is shown in doubt until somebody has taken it up. */
    private static String afterDecision(RunHandle<String> run) {
        String[] end = {""};
        Until.holds("the decided run ends", () -> {
            try {
                end[0] = run.result(Until.GENEROUS);
                return true;
            } catch (EffectInDoubt e) {
                return false;
            }
        });
        return end[0];
    }

    static List<String> judge(Cut cut, String end, List<Receiver.Line> heard) {
        List<String> wrong = new ArrayList<>();
        int accepted = Judgement.accepted(heard);
        int posts = Judgement.posts(heard);
        boolean arrived = cut.cut() != EffectProxy.Cut.REQUEST;
        boolean unknown = cut.deed() == Deed.AT_MOST_ONCE;
        if (!end.equals(unknown ? DeedFlows.INDETERMINATE : "receipt-1")
                && !(cut.deed() == Deed.REPEATABLE && end.equals("receipt-" + accepted))) {
            wrong.add("it ended with " + end);
        }
        int most = cut.deed() == Deed.REPEATABLE && arrived ? 2 : unknown && !arrived ? 0 : 1;
        if (accepted != most) {
            wrong.add(accepted + " accepted effects, not " + most);
        }
        if (unknown && posts > 1) {
            wrong.add("it was sent " + posts + " times");
        }
        if (heard.stream().map(Receiver.Line::key).distinct().count() > 1) {
            wrong.add("the attempts carried several keys");
        }
        return wrong;
    }

    private Workflow<String, String> flow(Deed deed) {
        return Workflow.define(deed.name().toLowerCase(Locale.ROOT), String.class, String.class)
                .body((ctx, url) -> perform(deed, ctx, URI.create(url)));
    }

    private String perform(Deed deed, Context ctx, URI url) {
        EffectBuilder effect = ctx.effect("deed").retry(PROMPT);
        return switch (deed) {
            case REPEATABLE -> effect.repeatable("it is counted").call(String.class, step -> post(url, step));
            case PROVIDER_KEY -> effect.providerHonoursKey(PROVIDER_WINDOW).call(String.class, step -> post(url, step));
            case ALREADY_DONE ->
                effect.alreadyDone(409).providerHonoursKey(PROVIDER_WINDOW).call(String.class, step -> post(url, step));
            case LOOKUP -> effect.lookup(String.class, step -> find(url, step)).call(step -> post(url, step));
            case AT_MOST_ONCE ->
                switch (effect.atMostOnce().call(String.class, step -> post(url, step))) {
                    case Outcome.Done<String>(String receipt) -> receipt;
                    case Outcome.Indeterminate<String> _ -> DeedFlows.INDETERMINATE;
                };
            case ASK -> effect.askOnDoubt("role:ops").call(String.class, step -> post(url, step));
            case STEP, TX, CALL, SIGNAL -> throw new IllegalArgumentException(deed + " sends nothing");
        };
    }

    private String post(URI url, Step step) throws IOException, InterruptedException {
        return http.send(step, HttpRequest.newBuilder(url).POST(BodyPublishers.ofString("a deed")))
                .asString();
    }

    private @Nullable String find(URI url, Step step) throws IOException, InterruptedException {
        try {
            return http.send(step, HttpRequest.newBuilder(url).GET()).asString();
        } catch (HttpStatus e) {
            return null;
        }
    }
}
