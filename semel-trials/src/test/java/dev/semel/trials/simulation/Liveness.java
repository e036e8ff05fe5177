package dev.semel.trials.simulation;

import dev.semel.Run;
import dev.semel.effect.Ledger;
import dev.semel.run.RunState;
import dev.semel.store.Rows;
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
                .map(Rows.Run::state)
                .findFirst()
                .orElse(RunState.QUEUED);
    }

    /** An honest person: it happened if the receiver says so. */
    private void decide(Worker worker, Rows.Run row) {
        String id = Verdict.idOf(row);
        Run<String> run = worker.semel().run(worker.parent(), row.runIdText());
        for (Ledger.Row effect : unknown(world, row)) {
            boolean asked = effect.facts().protection().equals("ask");
            if (effect.facts().protection().equals("at_most_once") || (asked && staysInDoubt(world, id))) {
                continue;
            }
            String deed = Verdict.deed(id, effect);
            String path = effect.facts().path();
            boolean happened = world.receivers().accepted(deed);
            world.trace("a person says of " + deed + (happened ? ": it happened" : ": it did not happen"));
            world.met(happened ? "decided: happened" : "decided: did not happen");
            if (happened) {
                run.happened(path, "done " + deed, "person");
            } else {
                world.receivers().denied(deed);
                run.didNotHappen(path, "person");
            }
        }
    }

    static List<Ledger.Row> unknown(Simulation.World world, Rows.Run row) {
        return world.reads().effects(row.id()).stream()
                .filter(effect -> effect.state() == Ledger.State.UNKNOWN)
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

    static boolean mayRest(Simulation.World world, Rows.Run run) {
        String id = Verdict.idOf(run);
        return switch (run.state()) {
            case COMPLETED, FAILED, CANCELLED -> true;
            case WAITING -> staysUnsignalled(world, id) && waitsForSignal(run);
            case IN_DOUBT ->
                staysInDoubt(world, id)
                        && unknown(world, run).stream()
                                .anyMatch(effect -> effect.facts().protection().equals("ask"));
            case QUEUED, STARTED, RUNNING -> false;
        };
    }

    private static boolean waitsForSignal(Rows.Run run) {
        Rows.Work work = run.work();
        String waits = work == null ? null : work.waits();
        return waits != null && waits.contains("signal");
    }
}
