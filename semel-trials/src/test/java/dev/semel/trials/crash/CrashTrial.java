package dev.semel.trials.crash;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** Does one cell after another: halts a process, lets another one go on, and hands over what was seen. */
final class CrashTrial implements AutoCloseable {
    private static final AtomicInteger NUMBERS = new AtomicInteger();

    private final Path folder;
    private final Receiver receiver;
    private final Tampering tampering;
    private @Nullable CrashableProcess survivor;

    /** What a test does to the store between two lives, to show that the judgement sees it. */
    interface Tampering {
        Tampering NONE = (_, _) -> {};

        void between(String store, String name);
    }

    /** @param passed labels that were passed by lives which ended by themselves */
    record Result(
            MatrixCell cell,
            List<Receiver.ReceivedRequest> heard,
            List<CrashChecks.LifeResult> stages,
            List<String> violations,
            Set<String> passed) {
        /** Whether every process ended where it was notified to; otherwise nothing was shown. */
        boolean hit() {
            List<String> halted = stages.stream()
                    .filter(CrashChecks.LifeResult::halted)
                    .map(stage -> stage.account().halted())
                    .toList();
            return halted.equals(
                    cell.halts().stream().map(ProcessLife.HaltPoint::label).toList());
        }

        String row() {
            return "%-68s %8d %8d %5d  %s"
                    .formatted(
                            cell.title(),
                            CrashChecks.posts(heard),
                            CrashChecks.accepted(heard),
                            stages.getLast().remains().runs().size(),
                            !violations.isEmpty() ? "BROKEN" : hit() ? "kept" : "NOT HIT");
        }
    }

    CrashTrial(Path folder, Receiver receiver, Tampering tampering) {
        this.folder = folder;
        this.receiver = receiver;
        this.tampering = tampering;
    }

    Result run(MatrixCell cell, ProcessLife.Mutation mutation) {
        int number = NUMBERS.incrementAndGet();
        String name = "cell" + number;
        String store = cell.store() == MatrixCell.Kind.SQLITE
                ? "sqlite:" + folder.resolve(name + ".db")
                : RealPostgres.url(RealPostgres.newDatabase());
        ProcessLife life = new ProcessLife(
                store,
                cell.effect(),
                name,
                receiver.url(),
                cell.manners(),
                ProcessLife.HaltPoint.NEVER,
                "",
                ProcessLife.Decision.NONE,
                mutation);
        List<CrashChecks.LifeResult> stages = new ArrayList<>();
        for (ProcessLife.HaltPoint halt : cell.halts()) {
            try (CrashableProcess crashable = CrashableProcess.start(folder, CrashChild.class)) {
                stages.add(stage(life.haltingAt(halt), crashable));
            }
            tampering.between(store, name);
            life = life.of(stages.getLast().remains().runOf(name));
        }
        stages.add(stage(life, survivor()));
        if (stages.getLast().account().end().equals("in_doubt")) {
            // What a person does who looks at the provider's own books.
            ProcessLife.Decision truth = CrashChecks.accepted(receiver.of(name)) > 0
                    ? ProcessLife.Decision.HAPPENED
                    : ProcessLife.Decision.DID_NOT_HAPPEN;
            stages.add(stage(life.deciding(truth), survivor()));
        }
        List<Receiver.ReceivedRequest> heard = receiver.of(name);
        Set<String> passed = new HashSet<>();
        stages.forEach(stage -> passed.addAll(stage.account().passed().keySet()));
        return new Result(cell, heard, stages, CrashChecks.of(cell, name, heard, stages), passed);
    }

    private CrashChecks.LifeResult stage(ProcessLife life, CrashableProcess crashable) {
        CrashableProcess.ProcessReport account = crashable.live(life);
        return new CrashChecks.LifeResult(
                account,
                StoreContents.of(life.store(), folder),
                receiver.of(life.name()).size());
    }

    /** A process that never saw what the dead one knew; it takes over for one cell after another. */
    private CrashableProcess survivor() {
        CrashableProcess crashable = survivor;
        if (crashable == null) {
            crashable = CrashableProcess.start(folder, CrashChild.class);
            survivor = crashable;
        }
        return crashable;
    }

    @Override
    public void close() {
        CrashableProcess crashable = survivor;
        if (crashable != null) {
            crashable.close();
        }
    }
}
