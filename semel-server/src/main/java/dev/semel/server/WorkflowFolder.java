package dev.semel.server;

import dev.semel.error.SemelException;
import dev.semel.server.definition.Definition;
import dev.semel.store.Rows;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.ClosedWatchServiceException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardWatchEventKinds;
import java.nio.file.WatchKey;
import java.nio.file.WatchService;
import java.util.Comparator;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A folder of workflow files: published when the server starts, and in `semel dev` again whenever one of them changes. A
 * file that is wrong is told with its place, and what was published of it before stays; one that is deleted unpublishes
 * nothing, because runs and keys still need it. One file beside them may hold alerts, and is read after them.
 */
final class WorkflowFolder implements AutoCloseable {
    /** Some folders tell nothing, such as those of another machine, so they are looked at anyway. */
    private static final long LOOK_SECONDS = 2;

    private static final long QUIET_MILLIS = 50;
    private static final int LONGEST_UNREST = 40;

    private final Path folder;
    private final Function<Definition, Rows.Workflow> publish;
    private final Function<String, String> alerts;
    private final Consumer<String> talk;
    private final Map<String, String> seen = new TreeMap<>();
    private @Nullable WatchService watch;

    /** @param alerts keeps the alerts of a text, and says what that changed */
    WorkflowFolder(
            Path folder,
            Function<Definition, Rows.Workflow> publish,
            Function<String, String> alerts,
            Consumer<String> talk) {
        this.folder = folder;
        this.publish = publish;
        this.alerts = alerts;
        this.talk = talk;
    }

    /** Publishes all, in the order of their names; the first that is wrong ends it. */
    void publishAll() throws IOException {
        for (Map.Entry<String, String> file : read().entrySet()) {
            try {
                var unused = AlertFile.isOne(file.getKey())
                        ? alerts.apply(file.getValue())
                        : publish.apply(Definition.compile(file.getValue()));
            } catch (SemelException e) {
                throw new SemelException(e.code(), file.getKey() + ": " + e.detail(), e.fix());
            }
        }
    }

    /** Publishes what has changed since the last look, and says what became of it. */
    synchronized void look() throws IOException {
        Map<String, String> now = read();
        Set<String> gone = new TreeSet<>(seen.keySet());
        gone.removeAll(now.keySet());
        for (String name : gone) {
            seen.remove(name);
            talk.accept(
                    AlertFile.isOne(name)
                            ? name + " is gone; its alerts stay, and `semel alert delete` ends one"
                            : name + " is gone; what was published of it stays, and `semel pause` holds its triggers");
        }
        now.forEach((name, text) -> {
            if (!text.equals(seen.put(name, text))) {
                changed(name, text);
            }
        });
    }

    private void changed(String name, String text) {
        try {
            if (AlertFile.isOne(name)) {
                talk.accept(name + ": " + alerts.apply(text));
                return;
            }
            Rows.Workflow row = publish.apply(Definition.compile(text));
            if (row.changed()) {
                talk.accept(name + ": " + row.name() + " v" + row.version() + " published");
            }
        } catch (SemelException e) {
            talk.accept(name + ": " + e.detail() + "\n  fix: "
                    + e.fix().indent(2).strip() + "\n  What was published before stays in force.");
        }
    }

    private Map<String, String> read() throws IOException {
        // Alerts name workflows, so they come behind them.
        Map<String, String> texts =
                new TreeMap<>(Comparator.comparing(AlertFile::isOne).thenComparing(Comparator.<String>naturalOrder()));
        try (Stream<Path> files = Files.list(folder)) {
            for (Path file : files.filter(WorkflowFolder::isOne).toList()) {
                try {
                    texts.put(file.getFileName().toString(), Files.readString(file));
                } catch (NoSuchFileException e) {
                    continue; // it went between the two questions
                }
            }
        } catch (UncheckedIOException e) {
            throw new IOException("The folder cannot be listed.", e);
        }
        return texts;
    }

    private static boolean isOne(Path file) {
        String name = file.getFileName().toString();
        boolean hidden = name.startsWith("."); // what editors write while they save
        return !hidden && (name.endsWith(".yaml") || name.endsWith(".yml") || name.endsWith(".json"));
    }

    /** Goes on looking, until closed. */
    void watch() throws IOException {
        WatchService service = folder.getFileSystem().newWatchService();
        watch = service;
        folder.register(
                service,
                StandardWatchEventKinds.ENTRY_CREATE,
                StandardWatchEventKinds.ENTRY_MODIFY,
                StandardWatchEventKinds.ENTRY_DELETE);
        Thread.ofPlatform().name("semel-workflows").daemon(true).start(() -> lookUntilClosed(service));
    }

    private void lookUntilClosed(WatchService service) {
        String trouble = "";
        while (true) {
            try {
                rest(service, service.poll(LOOK_SECONDS, TimeUnit.SECONDS));
                look();
                trouble = "";
            } catch (ClosedWatchServiceException e) {
                return;
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                return;
            } catch (IOException | RuntimeException e) {
                // Once for each trouble: the folder may be away for hours, and the store for seconds.
                String now = "The workflows in " + folder + " could not be looked at: " + e.getMessage();
                if (!now.equals(trouble)) {
                    talk.accept(now);
                    trouble = now;
                }
            }
        }
    }

    /** Until nothing was written for a moment, so that no half of a file is read. */
    private static void rest(WatchService service, @Nullable WatchKey first) throws InterruptedException {
        WatchKey key = first;
        for (int i = 0; key != null && i < LONGEST_UNREST; i++) {
            key.pollEvents();
            key.reset();
            key = service.poll(QUIET_MILLIS, TimeUnit.MILLISECONDS);
        }
    }

    @Override
    public void close() {
        try {
            if (watch != null) {
                watch.close();
            }
        } catch (IOException e) {
            talk.accept("The folder of workflows did not close: " + e.getMessage());
        }
    }
}
