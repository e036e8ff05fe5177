package dev.semel.trials.simulation;

import dev.semel.effect.EffectLedger;
import dev.semel.run.RunState;
import dev.semel.runtime.RunHandle;
import dev.semel.store.DatabaseRows;
import java.util.List;
import java.util.Set;

/** The second half of a history: nothing goes wrong any more, people answer, and time passes. */
final class LivenessPhase {
    private static final int ONE_IN = 4;

    private final Simulation simulation;
    private final Simulation.SharedState shared;

    LivenessPhase(Simulation simulation, Simulation.SharedState shared) {
        this.simulation = simulation;
        this.shared = shared;
    }

    /** Some runs are never given their signals, and must wait. */
    static boolean staysUnsignalled(Simulation.SharedState shared, String id) {
        return shared.chance("signal " + id).nextInt(ONE_IN) == 0;
    }

    /** About some doubts nobody ever decides. */
    static boolean staysInDoubt(Simulation.SharedState shared, String id) {
        return shared.chance("doubt " + id).nextBoolean();
    }

    /** False: something still moves or is stuck after so many rounds. */
    boolean comeToRest(int rounds) {
        shared.trace("from here on nothing goes wrong");
        simulation.calm();
        simulation.workers().forEach(worker -> worker.life().resume());
        simulation.replaceDead();
        simulation.joinClients();
        for (int round = 0; round < rounds; round++) {
            if (round % 5 == 0) {
                people();
            }
            simulation.advance(12);
            if (round > 5 && rests()) {
                simulation.joinClients();
                return true;
            }
        }
        return false;
    }

    /** Clients ask until they are answered, signals are sent, doubts are decided. */
    private void people() {
        for (String what : List.copyOf(shared.met())) {
            String id = what.startsWith("asked ") ? what.substring("asked ".length()) : "";
            if (!id.isEmpty() && !shared.acknowledged.containsKey(id)) {
                simulation.trigger(id);
            }
        }
        SimulatedWorker worker = simulation.workers().getFirst();
        shared.acknowledged.forEach((id, runs) -> {
            String runId = runs.iterator().next();
            if (stateOf(runId) == RunState.WAITING) {
                simulation.signal(worker, id, runId);
            }
        });
        SimulationChecks.runs(shared).stream()
                .filter(run -> run.state() == RunState.IN_DOUBT || run.end() != null)
                .forEach(run -> decide(worker, run));
        simulation.joinClients();
    }

    private RunState stateOf(String runId) {
        return SimulationChecks.runs(shared).stream()
                .filter(run -> run.runIdText().equals(runId))
                .map(DatabaseRows.RunRow::state)
                .findFirst()
                .orElse(RunState.QUEUED);
    }

    /** An honest person: it happened if the receiver says so. */
    private void decide(SimulatedWorker worker, DatabaseRows.RunRow row) {
        String id = SimulationChecks.idOf(row);
        RunHandle<?> run = worker.semel().run(row.ws(), row.runIdText());
        for (EffectLedger.EffectRow effect : unknown(shared, row)) {
            boolean asked = effect.details().protection().equals("ask");
            if (effect.details().protection().equals("at_most_once") || (asked && staysInDoubt(shared, id))) {
                continue;
            }
            String action = SimulationChecks.effect(id, effect);
            String path = effect.details().path();
            boolean happened = shared.receivers().accepted(action);
            shared.trace("a person says of " + action + (happened ? ": it happened" : ": it did not happen"));
            shared.met(happened ? "decided: happened" : "decided: did not happen");
            if (happened) {
                run.confirmDone(path, "done " + action, "person");
            } else {
                shared.receivers().denied(action);
                run.confirmNotDone(path, "person");
            }
        }
    }

    static List<EffectLedger.EffectRow> unknown(Simulation.SharedState shared, DatabaseRows.RunRow row) {
        return shared.reads().effects(row.id()).stream()
                .filter(effect -> effect.state() == EffectLedger.EffectState.UNKNOWN)
                .toList();
    }

    /** Whether every client has its answer and every run is where its program says that it may stay. */
    private boolean rests() {
        Set<String> answered = shared.acknowledged.keySet();
        return shared.met().stream()
                        .filter(what -> what.startsWith("asked "))
                        .allMatch(what -> answered.contains(what.substring("asked ".length())))
                && SimulationChecks.runs(shared).stream().allMatch(run -> mayRest(shared, run));
    }

    static boolean mayRest(Simulation.SharedState shared, DatabaseRows.RunRow run) {
        String id = SimulationChecks.idOf(run);
        return switch (run.state()) {
            case COMPLETED, FAILED, CANCELLED -> true;
            case WAITING -> staysUnsignalled(shared, id) && waitsForSignal(run);
            case IN_DOUBT ->
                staysInDoubt(shared, id)
                        && unknown(shared, run).stream()
                                .anyMatch(
                                        effect -> effect.details().protection().equals("ask"));
            case HELD, QUEUED, STARTED, RUNNING -> false;
        };
    }

    private static boolean waitsForSignal(DatabaseRows.RunRow run) {
        DatabaseRows.RunProgress work = run.progress();
        String waits = work == null ? null : work.waitingFor();
        return waits != null && waits.contains("signal");
    }
}
