package dev.semel.store;

import dev.semel.run.RunId;
import java.util.List;
import java.util.Random;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;

/** Signals and those who listen, few keys and few ids. Has dice of its own, like the settings. */
final class KeyedSignalScript {
    private final RandomGenerator random = new Random(11);
    private final Supplier<List<StoreWrite.RunExecution>> executed;
    private final List<RunId> runs;
    private long made;

    KeyedSignalScript(Supplier<List<StoreWrite.RunExecution>> executed, List<RunId> runs) {
        this.executed = executed;
        this.runs = runs;
    }

    KeyedSignalStoreWriteCommand<?> next() {
        return switch (random.nextInt(8)) {
            case 0, 1, 2 -> post();
            case 3, 4 -> new KeyedSignalStoreWriteCommand.StartListening(address(), ear(), random.nextInt(4) == 0, 0);
            case 5 -> { // for what came since then; what is older stays kept beside it
                KeyedSignalStoreWriteCommand.SignalWaiter ear =
                        new KeyedSignalStoreWriteCommand.SignalWaiter(ear().by(), Invariants.LATER);
                yield new KeyedSignalStoreWriteCommand.StartListening(
                        address(), ear, false, StoreFixture.START + random.nextInt(20) * 1_000_000L);
            }
            case 6 -> new KeyedSignalStoreWriteCommand.StopListening(ear());
            default -> new KeyedSignalStoreWriteCommand.DeleteExpiredSignals(1 + random.nextInt(3));
        };
    }

    private KeyedSignalStoreWriteCommand.SendKeyedSignal post() {
        String id = "signal " + random.nextInt(12);
        byte[] digest = {(byte) random.nextInt(5) == 0 ? (byte) 1 : (byte) 0};
        return new KeyedSignalStoreWriteCommand.SendKeyedSignal(
                address(), id, new RunId(800_000 + ++made, 4), digest, "{\"n\":" + made + "}");
    }

    private KeyedSignalStoreWriteCommand.SignalAddress address() {
        return new KeyedSignalStoreWriteCommand.SignalAddress(
                1 + random.nextInt(2), "paid", random.nextBoolean() ? "o1" : "o2");
    }

    /** Mostly of an execution that drives a run now. */
    private KeyedSignalStoreWriteCommand.SignalWaiter ear() {
        List<StoreWrite.RunExecution> mine = executed.get();
        String path = random.nextBoolean() ? "wait" : "again";
        if (mine.isEmpty() || random.nextInt(8) == 0) {
            RunId any = runs.isEmpty() ? new RunId(9, 9) : runs.get(random.nextInt(runs.size()));
            return new KeyedSignalStoreWriteCommand.SignalWaiter(
                    new StoreWrite.RunExecution(any, random.nextInt(3)), path);
        }
        return new KeyedSignalStoreWriteCommand.SignalWaiter(mine.get(random.nextInt(mine.size())), path);
    }
}
