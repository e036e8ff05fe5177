package dev.semel.trials.crash;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Compares what the receiver counted and what the store holds with what the protections promise. Pure, and links nothing
 * of the engine.
 */
final class CrashChecks {
    private final MatrixCell cell;
    private final String name;
    private final List<Receiver.ReceivedRequest> heard;
    private final List<LifeResult> stages;
    private final List<String> violations = new ArrayList<>();

    /**
     * How things stood when a life had ended.
     *
     * @param heard how many requests of this cell the receiver had by then
     */
    record LifeResult(CrashableProcess.ProcessReport account, StoreContents remains, int heard) {
        boolean halted() {
            return !account.halted().isEmpty();
        }
    }

    private CrashChecks(MatrixCell cell, String name, List<Receiver.ReceivedRequest> heard, List<LifeResult> stages) {
        this.cell = cell;
        this.name = name;
        this.heard = heard;
        this.stages = stages;
    }

    /** Everything that is wrong; empty where all promises were kept. The name is that of the run's key. */
    static List<String> of(
            MatrixCell cell, String name, List<Receiver.ReceivedRequest> heard, List<LifeResult> stages) {
        CrashChecks judgement = new CrashChecks(cell, name, heard, stages);
        judgement.judgeRuns();
        judgement.judgeAnswers();
        judgement.judgeKeys();
        judgement.judgeLedger();
        judgement.judgeCounts();
        return judgement.violations;
    }

    static int posts(List<Receiver.ReceivedRequest> lines) {
        return (int) lines.stream().filter(Receiver.ReceivedRequest::isPost).count();
    }

    static int accepted(List<Receiver.ReceivedRequest> lines) {
        return (int) lines.stream().filter(Receiver.ReceivedRequest::accepted).count();
    }

    private StoreContents last() {
        return stages.getLast().remains();
    }

    /** No run is lost, none is there twice, and each has ended well. */
    private void judgeRuns() {
        List<StoreContents.Run> own = last().of(name);
        if (own.size() != 1) {
            violations.add("the key has " + own.size() + " runs");
        }
        if (last().runs().size() != cell.effect().runs()) {
            violations.add("there are " + last().runs().size() + " runs, not "
                    + cell.effect().runs());
        }
        for (StoreContents.Run run : last().runs()) {
            if (run.works() != 0 || run.ends() != 1 || run.end() != StoreContents.COMPLETED) {
                violations.add(run.id() + " did not complete: " + run);
            }
        }
    }

    /** What a client was notified stays true: the run of a key is the same in every answer and in the store. */
    private void judgeAnswers() {
        String run = last().runOf(name);
        for (LifeResult stage : stages) {
            CrashableProcess.ProcessReport account = stage.account();
            if (!account.started().isEmpty() && !account.started().equals(run)) {
                violations.add("a client was notified of " + account.started() + ", and the key has \"" + run + "\"");
            }
            if (!account.again().isEmpty()
                    && !(account.replayed() && account.again().equals(run))) {
                violations.add("asked again, the key had " + account.again() + ", replayed: " + account.replayed());
            }
            if (!stage.halted() && account.again().isEmpty()) {
                violations.add("a life ended by itself before it could ask again: " + account);
            }
        }
        if (!stages.getLast().account().end().equals("completed")) {
            violations.add("the last life ended " + stages.getLast().account());
        }
    }

    /** All attempts of one effect carry one key and one body. */
    private void judgeKeys() {
        Set<String> keys = heard.stream().map(Receiver.ReceivedRequest::key).collect(Collectors.toSet());
        if (keys.size() > 1 || keys.contains("")) {
            violations.add("the attempts carried " + keys.size() + " keys: " + keys);
        }
        long bodies = heard.stream()
                .filter(Receiver.ReceivedRequest::isPost)
                .map(Receiver.ReceivedRequest::bodyHash)
                .distinct()
                .count();
        if (bodies > 1) {
            violations.add("the attempts carried " + bodies + " bodies");
        }
    }

    /** An intent before every send; nothing after a recorded result; what nobody knows is never shown as an outcome. */
    private void judgeLedger() {
        if (!cell.effect().isEffect()) {
            return;
        }
        for (LifeResult stage : stages) {
            int posts = posts(heard.subList(0, stage.heard()));
            if (posts > stage.remains().attempts()) {
                violations.add(posts + " requests, and only " + stage.remains().attempts() + " attempts on record");
            }
            if (stage.remains().allDone() && posts(heard) > posts) {
                violations.add("a recorded effect was sent again: " + posts + " requests, then " + posts(heard));
            }
            if (stage.account().end().equals("in_doubt")
                    && stage.remains().of(name).stream().anyMatch(run -> run.work() != StoreContents.IN_DOUBT)) {
                violations.add("a run in doubt is shown as something else: "
                        + stage.remains().of(name));
            }
        }
        boolean indeterminate = last().of(name).stream()
                .anyMatch(run -> run.output().equals("\"" + CrashActionFlows.INDETERMINATE + "\""));
        if (indeterminate && cell.effect() != CrashAction.AT_MOST_ONCE) {
            violations.add("only at most once may end without knowing");
        }
        int expected = indeterminate ? StoreContents.UNKNOWN : StoreContents.DONE;
        if (last().effects().size() != 1 || last().effects().getFirst().state() != expected) {
            violations.add("the ledger has " + last().effects() + ", and its state should be " + expected);
        }
        if (!indeterminate && accepted(heard) == 0) {
            violations.add("it is called done, and the receiver never accepted it");
        }
    }

    private void judgeCounts() {
        int accepted = accepted(heard);
        switch (cell.effect()) {
            case STEP, REPEATABLE -> {
                if (accepted < 1) {
                    violations.add("it is done, and the receiver never accepted it");
                }
            }
            case PROVIDER_KEY, ALREADY_DONE, LOOKUP, CALL -> one("accepted effects", accepted);
            case AT_MOST_ONCE -> atMostOne(posts(heard));
            case ASK -> {
                atMostOne(posts(heard.subList(0, heardUndecided())));
                one("accepted effects", accepted);
            }
            case TX -> one("rows of the user", last().rows());
            case SIGNAL -> one("signals", last().signals());
        }
    }

    /** How much was heard before a person decided: the last life is the first one with a decision. */
    private int heardUndecided() {
        return stages.stream()
                .filter(stage -> !stage.account().end().equals("completed"))
                .mapToInt(LifeResult::heard)
                .max()
                .orElse(heard.size());
    }

    private void one(String what, int count) {
        if (count != 1) {
            violations.add(count + " " + what + ", not one");
        }
    }

    private void atMostOne(int posts) {
        if (posts > 1) {
            violations.add(posts + " requests where at most one may be");
        }
    }
}
