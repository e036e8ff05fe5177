package dev.semel.trials.simulation;

import dev.semel.runtime.SemelRuntime;
import dev.semel.workflow.Workflow;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** One engine with its faults and its switch, and the workflows as it knows them. */
final class Worker {
    private final String name;
    private final Switch life = new Switch();
    private final WorkerStore store;
    private final Faults faults;
    private final Workflow<Program.Ask, String> parent;
    private final Workflow<Program.Ask, String> child;
    private @Nullable SemelRuntime semel;

    Worker(String name, Simulation.World world, Faults faults) {
        this.name = name;
        this.faults = faults;
        this.store = new WorkerStore(faults.around(world.store()), life, world.bug(), world.activity());
        this.child = Workflow.define("child", Program.Ask.class, String.class)
                .body((ctx, ask) -> new Playing(world, this, ask, null).run(ctx));
        this.parent = Workflow.define("parent", Program.Ask.class, String.class)
                .body((ctx, ask) -> new Playing(world, this, ask, child).run(ctx));
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

    Switch life() {
        return life;
    }

    WorkerStore store() {
        return store;
    }

    Faults faults() {
        return faults;
    }

    Workflow<Program.Ask, String> parent() {
        return parent;
    }

    List<Workflow<?, ?>> workflows() {
        return List.of(parent, child);
    }
}
