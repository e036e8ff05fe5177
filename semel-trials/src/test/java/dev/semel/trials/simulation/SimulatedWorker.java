package dev.semel.trials.simulation;

import dev.semel.Semel;
import dev.semel.workflow.Workflow;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** One engine with its faults and its switch, and the workflows as it knows them. */
final class SimulatedWorker {
    private final String name;
    private final WorkerSwitch life = new WorkerSwitch();
    private final WorkerStore store;
    private final StoreFaults faults;
    private final Workflow<RandomProgram.ProgramInput, String> parent;
    private final Workflow<RandomProgram.ProgramInput, String> child;
    private @Nullable Semel semel;

    SimulatedWorker(String name, Simulation.SharedState world, StoreFaults faults) {
        this.name = name;
        this.faults = faults;
        this.store = new WorkerStore(faults.around(world.store()), life, world.bug(), world.activity());
        this.child = Workflow.define("child", RandomProgram.ProgramInput.class, String.class)
                .body((ctx, ask) -> new ProgramExecution(world, this, ask, null).run(ctx));
        this.parent = Workflow.define("parent", RandomProgram.ProgramInput.class, String.class)
                .body((ctx, ask) -> new ProgramExecution(world, this, ask, child).run(ctx));
    }

    void opened(Semel value) {
        semel = value;
    }

    Semel semel() {
        Semel open = semel;
        if (open == null) {
            throw new IllegalStateException(name + " is not open");
        }
        return open;
    }

    String name() {
        return name;
    }

    WorkerSwitch life() {
        return life;
    }

    WorkerStore store() {
        return store;
    }

    StoreFaults faults() {
        return faults;
    }

    Workflow<RandomProgram.ProgramInput, String> parent() {
        return parent;
    }

    List<Workflow<?, ?>> workflows() {
        return List.of(parent, child);
    }
}
