package dev.semel.trials.simulation;

import dev.semel.runtime.RunHandle;
import dev.semel.effect.EffectLedger;
import dev.semel.workflow.RunState;
import dev.semel.store.StoredRows;
import java.util.List;
import java.util.Set;

/** The second half of a history: nothing goes wrong any more, people answer, and time passes. */
final class Liveness {
    private static final int ONE_IN = 4;

    private final Simulation simulation;
    private final Simulation.World world;

    Liveness(Simulation simulation, Simulation.World world) {
        this.simulation = simulation;
        this.world = world;
    }

    /** Some runs are never given their signals, and must wait. */
    static boolean staysUnsignalled(Simulation.World world, String id) {
        return world.chance("signal " + id).nextInt(ONE_IN) == 0;
    }

    /** About some doubts nobody ever decides. */
    static boolean staysInDoubt(Simulation.World world, String id) {
        return world.chance("doubt " + id).nextBoolean();
    }

    /** False: something still moves or is stuck after so many rounds. */
    boolean comeToRest(int rounds) {
        world.trace("from here on nothing goes wrong");
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
        for (String what : List.copyOf(world.met())) {
            String id = what.startsWith("asked ") ? what.substring("asked ".length()) : "";
            if (!id.isEmpty() && !world.acknowledged.containsKey(id)) {
                simulation.trigger(id);
            }
        }
        Worker worker = simulation.workers().getFirst();
        world.acknowledged.forEach((id, runs) -> {
            String runId = runs.iterator().next();
            if (stateOf(runId) == RunState.WAITING) {
                simulation.signal(worker, id, runId);
            }
        });
        Verdict.runs(world).stream()
                .filter(run -> run.state() == RunState.IN_DOUBT || run.end() != null)
                .forEach(run -> decide(worker, run));
        simulation.joinClients();
    }

    private RunState stateOf(String runId) {
        return Verdict.runs(world).stream()
                .filter(run -> run.runIdText().equals(runId))
                .map(StoredRows.RunRow::state)
                .findFirst()
                .orElse(RunState.QUEUED);
    }

    /** An honest person: it happened if the receiver says so. */
    private void decide(Worker worker, StoredRows.RunRow row) {
        String id = Verdict.idOf(row);
        RunHandle<String> run = worker.semel().run(worker.parent(), row.runIdText());
        for (EffectLedger.EffectRow effect : unknown(world, row)) {
            boolean asked = effect.details().protection().equals("ask");
            if (effect.details().protection().equals("at_most_once") || (asked && staysInDoubt(world, id))) {
                continue;
            }
            String deed = Verdict.deed(id, effect);
            String path = effect.details().path();
            boolean happened = world.receivers().accepted(deed);
            world.trace("a person says of " + deed + (happened ? ": it happened" : ": it did not happen"));
            world.met(happened ? "decided: happened" : "decided: did not happen");
            if (happened) {
                run.confirmDone(path, "done " + deed, "person");
            } else {
                world.receivers().denied(deed);
                run.confirmNotDone(path, "person");
            }
        }
    }

    static List<EffectLedger.EffectRow> unknown(Simulation.World world, StoredRows.RunRow row) {
        return world.reads().effects(row.id()).stream()
                .filter(effect -> effect.state() == EffectLedger.EffectState.UNKNOWN)
                .toList();
    }

    /** Whether every client has its answer and every run is where its program says that it may stay. */
    private boolean rests() {
        Set<String> answered = world.acknowledged.keySet();
        return world.met().stream()
                        .filter(what -> what.startsWith("asked "))
                        .allMatch(what -> answered.contains(what.substring("asked ".length())))
                && Verdict.runs(world).stream().allMatch(run -> mayRest(world, run));
    }

    static boolean mayRest(Simulation.World world, StoredRows.RunRow run) {
        String id = Verdict.idOf(run);
        return switch (run.state()) {
            case COMPLETED, FAILED, CANCELLED -> true;
            case WAITING -> staysUnsignalled(world, id) && waitsForSignal(run);
            case IN_DOUBT ->
                staysInDoubt(world, id)
                        && unknown(world, run).stream()
                                .anyMatch(effect -> effect.details().protection().equals("ask"));
            case QUEUED, STARTED, RUNNING -> false;
        };
    }

    private static boolean waitsForSignal(StoredRows.RunRow run) {
        StoredRows.RunProgress work = run.progress();
        String waits = work == null ? null : work.waitingFor();
        return waits != null && waits.contains("signal");
    }
}
