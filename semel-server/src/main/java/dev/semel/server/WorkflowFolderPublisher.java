package dev.semel.server;

import dev.semel.error.SemelException;
import dev.semel.server.files.definition.WorkflowDefinition;
import dev.semel.store.DatabaseRows;
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
 * Publishes a folder of workflow files when the server starts, and in `semel dev` again after each change. An invalid
 * file is reported with its position, and its published version stays. A deleted file unpublishes nothing, because
 * runs and keys still need it. The alert file is read after the workflows.
 */
final class WorkflowFolderPublisher implements AutoCloseable {
    /** Some folders, such as network mounts, report no changes, so they are also polled. */
    private static final long POLL_SECONDS = 2;

    private static final long QUIET_MILLIS = 50;
    private static final int MAX_QUIET_CHECKS = 40;

    private final Path folder;
    private final Function<WorkflowDefinition, DatabaseRows.WorkflowRow> publish;
    private final Function<String, String> alerts;
    private final Consumer<String> messages;
    private final Map<String, String> seen = new TreeMap<>();
    private @Nullable WatchService watchService;

    /** @param alerts imports the alerts of a text and returns a summary */
    WorkflowFolderPublisher(
            Path folder,
            Function<WorkflowDefinition, DatabaseRows.WorkflowRow> publish,
            Function<String, String> alerts,
            Consumer<String> messages) {
        this.folder = folder;
        this.publish = publish;
        this.alerts = alerts;
        this.messages = messages;
    }

    /** Publishes all files, in the order of their names; the first invalid one stops it. */
    void publishAll() throws IOException {
        for (Map.Entry<String, String> file : read().entrySet()) {
            try {
                var unused = AlertSettingYamlImporter.isAlertFile(file.getKey())
                        ? alerts.apply(file.getValue())
                        : publish.apply(WorkflowDefinition.compile(file.getValue()));
            } catch (SemelException e) {
                throw new SemelException(e.code(), file.getKey() + ": " + e.detail(), e.fix());
            }
        }
    }

    /** Publishes the files that changed since the last call, and reports the results. */
    synchronized void publishChanged() throws IOException {
        Map<String, String> now = read();
        Set<String> gone = new TreeSet<>(seen.keySet());
        gone.removeAll(now.keySet());
        for (String name : gone) {
            seen.remove(name);
            messages.accept(
                    AlertSettingYamlImporter.isAlertFile(name)
                            ? name + " was deleted. Its alerts stay active; to delete one, use `semel alert delete`"
                            : name
                                    + " was deleted. Its published version stays active; to pause it, use `semel"
                                    + " workflow pause`");
        }
        now.forEach((name, text) -> {
            if (!text.equals(seen.put(name, text))) {
                changed(name, text);
            }
        });
    }

    private void changed(String name, String text) {
        try {
            if (AlertSettingYamlImporter.isAlertFile(name)) {
                messages.accept(name + ": " + alerts.apply(text));
                return;
            }
            DatabaseRows.WorkflowRow row = publish.apply(WorkflowDefinition.compile(text));
            if (row.changed()) {
                messages.accept(name + ": " + row.name() + " v" + row.version() + " published");
            }
        } catch (SemelException e) {
            messages.accept(name + ": " + e.detail() + "\n  fix: "
                    + e.fix().indent(2).strip() + "\n  The earlier published version stays active.");
        }
    }

    private Map<String, String> read() throws IOException {
        // Alerts refer to workflows, so they come after them.
        Map<String, String> texts = new TreeMap<>(Comparator.comparing(AlertSettingYamlImporter::isAlertFile)
                .thenComparing(Comparator.<String>naturalOrder()));
        try (Stream<Path> files = Files.list(folder)) {
            for (Path file : files.filter(WorkflowFolderPublisher::isOne).toList()) {
                try {
                    texts.put(file.getFileName().toString(), Files.readString(file));
                } catch (NoSuchFileException e) {
                    continue; // it was deleted after it was listed
                }
            }
        } catch (UncheckedIOException e) {
            throw new IOException("The folder cannot be listed.", e);
        }
        return texts;
    }

    private static boolean isOne(Path file) {
        String name = file.getFileName().toString();
        boolean hidden = name.startsWith("."); // temporary files of editors
        return !hidden && (name.endsWith(".yaml") || name.endsWith(".yml") || name.endsWith(".json"));
    }

    /** Watches the folder until closed. */
    void startWatching() throws IOException {
        WatchService service = folder.getFileSystem().newWatchService();
        watchService = service;
        folder.register(
                service,
                StandardWatchEventKinds.ENTRY_CREATE,
                StandardWatchEventKinds.ENTRY_MODIFY,
                StandardWatchEventKinds.ENTRY_DELETE);
        Thread.ofPlatform().name("semel-workflows").daemon(true).start(() -> pollUntilClosed(service));
    }

    private void pollUntilClosed(WatchService service) {
        String problem = "";
        while (true) {
            try {
                awaitQuiet(service, service.poll(POLL_SECONDS, TimeUnit.SECONDS));
                publishChanged();
                problem = "";
            } catch (ClosedWatchServiceException e) {
                return;
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                return;
            } catch (IOException | RuntimeException e) {
                // Reported once per problem: the folder may be missing for hours, and the store for seconds.
                String now = "The workflow folder " + folder + " could not be read: " + e.getMessage();
                if (!now.equals(problem)) {
                    messages.accept(now);
                    problem = now;
                }
            }
        }
    }

    /** Waits until no file was written for a moment, so that no partial file is read. */
    private static void awaitQuiet(WatchService service, @Nullable WatchKey first) throws InterruptedException {
        WatchKey key = first;
        for (int i = 0; key != null && i < MAX_QUIET_CHECKS; i++) {
            key.pollEvents();
            key.reset();
            key = service.poll(QUIET_MILLIS, TimeUnit.MILLISECONDS);
        }
    }

    @Override
    public void close() {
        try {
            if (watchService != null) {
                watchService.close();
            }
        } catch (IOException e) {
            messages.accept("The workflow folder could not be closed: " + e.getMessage());
        }
    }
}
