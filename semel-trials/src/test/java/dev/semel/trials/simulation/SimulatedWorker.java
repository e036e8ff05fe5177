package dev.semel.trials.simulation;

import dev.semel.runtime.SemelRuntime;
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
    private @Nullable SemelRuntime semel;

    SimulatedWorker(String name, Simulation.SharedState shared, StoreFaults faults) {
        this.name = name;
        this.faults = faults;
        this.store = new WorkerStore(faults.around(shared.store()), life, shared.bug(), shared.activity());
        this.child = Workflow.define("child", RandomProgram.ProgramInput.class, String.class)
                .body((ctx, ask) -> new ProgramExecution(shared, this, ask, null).run(ctx));
        this.parent = Workflow.define("parent", RandomProgram.ProgramInput.class, String.class)
                .body((ctx, ask) -> new ProgramExecution(shared, this, ask, child).run(ctx));
    }

    void opened(SemelRuntime value) {
        semel = value;
    }

    SemelRuntime semel() {
        SemelRuntime open = semel;
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
