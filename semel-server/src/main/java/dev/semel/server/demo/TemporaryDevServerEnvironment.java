package dev.semel.server.demo;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Runs one dev server process at a time. Closing it, or stopping this process, deletes everything. */
public final class TemporaryDevServerEnvironment implements AutoCloseable {
    private final Path folder;
    private final DevServerChildProcess.ProcessOptions options;
    private final DemoExternalApiServer providers;
    private final Thread shutdownHook = Thread.ofPlatform().unstarted(this::clean);
    private @Nullable DevServerChildProcess child;
    private boolean cleaned;

    private TemporaryDevServerEnvironment(Path folder, DevServerChildProcess.ProcessOptions options) {
        this.folder = folder;
        this.options = options;
        this.providers = DemoExternalApiServer.start(0);
        Runtime.getRuntime().addShutdownHook(shutdownHook);
    }

    public static TemporaryDevServerEnvironment open() throws IOException {
        return open(new DevServerChildProcess.ProcessOptions(0, _ -> {}));
    }

    /** Opens an environment in which the simulator answers all outgoing calls. */
    public static TemporaryDevServerEnvironment openWithSimulator(
            ExternalApiSimulator simulator, Consumer<String> outputListener) throws IOException {
        return open(new DevServerChildProcess.ProcessOptions(simulator.port(), outputListener));
    }

    private static TemporaryDevServerEnvironment open(DevServerChildProcess.ProcessOptions options) throws IOException {
        Path folder = Files.createTempDirectory("semel-demo");
        Files.createDirectory(folder.resolve("workflows"));
        return new TemporaryDevServerEnvironment(folder, options);
    }

    public DemoExternalApiServer providers() {
        return providers;
    }

    public void writeWorkflow(String name, String text) throws IOException {
        Files.writeString(folder.resolve("workflows").resolve(name + ".yaml"), text);
    }

    /** Starts a server on the folder and waits until it is ready. The previous server must have ended. */
    public DevServerChildProcess startServer() throws IOException, InterruptedException {
        DevServerChildProcess started = launch();
        started.awaitReady();
        return started;
    }

    private synchronized DevServerChildProcess launch() throws IOException {
        if (cleaned) {
            throw new IOException("the demo is stopping, so it starts no server");
        }
        DevServerChildProcess started =
                DevServerChildProcess.launch(folder.resolve("data"), folder.resolve("workflows"), options);
        child = started;
        return started;
    }

    @Override
    public void close() {
        clean();
        try {
            Runtime.getRuntime().removeShutdownHook(shutdownHook);
        } catch (IllegalStateException stopping) {
            return; // the JVM is shutting down, and the shutdown hook runs already
        }
    }

    private synchronized void clean() {
        if (cleaned) {
            return;
        }
        cleaned = true;
        if (child != null) {
            child.kill();
        }
        providers.close();
        try (Stream<Path> all = Files.walk(folder)) {
            List<Path> deepestFirst = all.sorted(Comparator.reverseOrder()).toList();
            for (Path path : deepestFirst) {
                Files.deleteIfExists(path);
            }
        } catch (IOException e) {
            throw new UncheckedIOException("The folder " + folder + " could not be deleted. Delete it by hand.", e);
        }
    }
}
