package dev.semel.server;

import dev.semel.Semel;
import dev.semel.Settings;
import dev.semel.Standing;
import dev.semel.engine.Ambient;
import dev.semel.engine.Catalog;
import dev.semel.engine.Keeping;
import dev.semel.engine.Limits;
import dev.semel.error.SemelException;
import dev.semel.server.alerts.Watch;
import dev.semel.server.api.Api;
import dev.semel.server.api.Bounds;
import dev.semel.server.api.FileWorkflow;
import dev.semel.server.api.Metrics;
import dev.semel.server.auth.People;
import dev.semel.server.auth.Tokens;
import dev.semel.server.channel.Alarm;
import dev.semel.server.channel.Channels;
import dev.semel.server.channel.MessageTemplate;
import dev.semel.server.cli.ServeOptions;
import dev.semel.server.definition.Definition;
import dev.semel.server.demo.Demo;
import dev.semel.server.demo.Playground;
import dev.semel.server.doors.Reminders;
import dev.semel.server.http.HttpServer;
import dev.semel.server.http.Scope;
import dev.semel.server.outbound.Guard;
import dev.semel.server.outbound.Outbound;
import dev.semel.server.pages.Pages;
import dev.semel.server.settings.Settings.Checks;
import dev.semel.server.steps.JavaStep;
import dev.semel.server.steps.Outside;
import dev.semel.server.world.World;
import dev.semel.store.Durability;
import dev.semel.store.Edit;
import dev.semel.store.Rows;
import dev.semel.store.StoreFailure;
import java.io.IOException;
import java.io.PrintStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.ServiceLoader;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import javax.net.ssl.SSLSocketFactory;
import org.jspecify.annotations.Nullable;

/** The Semel server: creates store, engine, API and dashboard, and starts and stops them. */
public final class Serve implements AutoCloseable {
    private static final Duration ALERT_INTERVAL = Duration.ofSeconds(15);

    private final ServeOptions options;
    private final Outbound outbound;
    private final Alarm alarm = new Alarm();
    private final InstantSource clock;
    private final Map<String, JavaStep> javaSteps;
    private final CompletableFuture<Boolean> servicesReady = new CompletableFuture<>();
    private final Semel semel;
    private final WayToProvider provider;
    private final dev.semel.server.settings.Settings settings;
    private final People people;
    private final Api api;
    private final Watch watch;
    private final HttpServer http;
    private final Rows.Workspace workspace;
    private final @Nullable WorkflowFolder folder;
    private final @Nullable Playground playground;
    private final Reminders reminders;

    private Serve(ServeOptions options, Ambient ambient) {
        this.options = options;
        this.clock = () -> Instant.EPOCH.plus(ambient.micros(), ChronoUnit.MICROS);
        int standIn = options.trust().standIn();
        this.outbound = standIn == 0
                ? new Outbound(Guard.of(options.dev(), options.allowHosts()))
                : Outbound.to(new InetSocketAddress(InetAddress.getLoopbackAddress(), standIn));
        this.javaSteps = standIn == 0 ? javaSteps() : Map.of(); // Java code could call real services
        this.semel = Semel.open(
                Settings.of(options.store(), version -> FileWorkflow.compile(awaitServices(version), this::stepServices))
                        .withClock(ambient, () -> 0)
                        .withWorker(name(options))
                        .withLimits(limits(options.keep()))
                        .withRequests(Log::request));
        this.provider = WayToProvider.of(options, semel, clock);
        try {
            this.playground = options.dev() && options.demo() ? playground(options.port()) : null;
            this.workspace = semel.change(new Edit.OpenWorkspace("default", semel.newSecret(32)));
            Tokens tokens = options.dev() ? Tokens.forDev(semel, workspace) : Tokens.serving(semel);
            Metrics metrics = new Metrics(semel);
            this.settings = new dev.semel.server.settings.Settings(
                    semel, SecretKeyFile.keys(options, semel), new Checks(MessageTemplate::check, Channels::check));
            servicesReady.complete(true);
            Log.clean(settings.redaction()::clean);
            this.people = (options.dev()
                            ? People.forDev(semel, Objects.requireNonNull(tokens.authenticate("dev")))
                            : People.serving(semel))
                    .with(provider.signOn())
                    .foundAt(options.front().home());
            this.api = new Api(semel, tokens, metrics, options.dev())
                    .with(settings)
                    .receiving(settings, clock)
                    .within(new Bounds(
                            options.bounds().depth(), options.bounds().schedules()))
                    .with(people);
            Pages.addTo(
                    api.router(), people, clock, () -> "form-" + HexFormat.of().formatHex(semel.newSecret(16)));
            this.watch = new Watch(semel, settings, ws -> stepServices(ws).outbox());
            this.reminders = new Reminders(semel, api.eventDoor());
            Path files = options.workflows();
            this.folder = files == null ? null : folder(files);
            publishFiles();
            if (!options.dev()) {
                firstToken(tokens);
            }
            this.http = HttpServer.start(
                    dev.semel.server.http.Settings.on(options.host(), options.port())
                            .behind(options.front().proxies()),
                    api.router(),
                    tokens,
                    metrics);
            reminders.start();
        } catch (RuntimeException e) {
            servicesReady.complete(false);
            semel.close();
            closeConnections();
            throw e;
        }
    }

    /**
     * Recovered runs start as soon as the store is open; they wait here until the services of their steps are ready.
     */
    private Rows.Version awaitServices(Rows.Version version) {
        if (!servicesReady.join()) {
            throw new Catalog.NotKnownHere(version.name(), version.workflowId()); // this server failed to start
        }
        return version;
    }

    /** The default limits, overridden by `--keep`. */
    private static Limits limits(Map<String, Duration> keep) {
        Limits defaults = Limits.DEFAULT;
        Keeping keeping = new Keeping(
                keep.get("payloads"),
                keep.get("requests"),
                keep.get("ticks"),
                keep.getOrDefault("events", defaults.keeping().events()),
                keep.get("audit"));
        return defaults.withTombstones(keep.getOrDefault("tombstones", defaults.tombstones()))
                .withFinishedRuns(keep.getOrDefault("runs", defaults.finishedRuns()))
                .withKeeping(keeping);
    }

    /** Starts on the next port after the server's, which the example files name. */
    private static Playground playground(int port) {
        return Playground.start(port == 0 ? 0 : port + 1);
    }

    /** The services that the steps of a workspace may use. */
    private World stepServices(int ws) {
        return new World(
                new World.Means(
                        semel,
                        settings,
                        outbound,
                        outbound::addresses,
                        (SSLSocketFactory) SSLSocketFactory.getDefault(),
                        alarm,
                        clock,
                        options.trust().allowSql(),
                        javaSteps),
                ws);
    }

    /** Java steps by name. */
    private static Map<String, JavaStep> javaSteps() {
        Map<String, JavaStep> steps = new HashMap<>();
        ServiceLoader.load(JavaStep.class).forEach(step -> steps.put(step.name(), step));
        return steps;
    }

    private static String name(ServeOptions options) {
        return options.name().isEmpty()
                ? Settings.of(options.store(), version -> FileWorkflow.compile(version, _ -> Outside.NOWHERE))
                                .worker() + ":" + options.port()
                : options.name();
    }

    /** Starts the server and returns when `/readyz` reports ready. */
    public static Serve start(ServeOptions options) {
        Serve serve = start(options, Ambient.real());
        serve.watch.every(ALERT_INTERVAL);
        return serve;
    }

    /** For tests: the caller controls the clock and the crash points, and runs the alert checks. */
    public static Serve start(ServeOptions options, Ambient ambient) {
        return new Serve(options, ambient);
    }

    /** Runs until the process receives a stop signal; returns the exit code. */
    static int run(ServeOptions options) {
        Log.install(options.dev());
        PrintStream err = System.err;
        Serve serve;
        try {
            serve = start(options);
        } catch (SemelException | StoreFailure e) {
            err.println("semel: " + e.getMessage());
            return 1;
        } catch (RuntimeException e) {
            err.println("semel: the server could not start. " + reason(e));
            return 1;
        }
        CountDownLatch stopped = new CountDownLatch(1);
        Runtime.getRuntime().addShutdownHook(Thread.ofPlatform().unstarted(() -> {
            serve.close();
            stopped.countDown();
        }));
        serve.greet(err);
        try {
            stopped.await();
        } catch (InterruptedException e) {
            serve.close();
        }
        return 0;
    }

    private static String reason(Throwable e) {
        Throwable deepest = e;
        while (deepest.getCause() != null) {
            deepest = deepest.getCause();
        }
        return deepest.getMessage() == null ? deepest.getClass().getSimpleName() : deepest.getMessage();
    }

    private void greet(PrintStream err) {
        String url = "http://" + (options.host().equals("0.0.0.0") ? "127.0.0.1" : options.host()) + ":" + port();
        err.println("semel " + Standing.VERSION + "  " + (options.dev() ? "dev" : "serve") + "  ·  Java "
                + Runtime.version().feature() + "  ·  " + shownStore());
        Durability durability = semel.standing().durability();
        err.println(durability == null ? "the store has not reported its durability yet" : durability.line());
        err.println("  Open  " + url + (options.dev() ? "         dashboard: workflows, runs and keys" : ""));
        if (!options.dev()) {
            new SetUpLink(people, workspace.ws(), options.data().resolve("setup-link"))
                    .tell(
                            options.front().home().isEmpty()
                                    ? url
                                    : options.front().home(),
                            err);
        }
        err.println("  API   " + url + "/v1" + (options.dev() ? "      bearer token: dev" : ""));
        if (playground != null) {
            err.println("  Play  " + playground.url() + "         fake providers that count calls and effects");
        }
        if (options.demo()) {
            err.println("  Try   semel send payment_receipt --key evt_1 --times 3 --data "
                    + "'{\"payment_id\":\"pay_abc\",\"amount\":4900,\"currency\":\"usd\"}'"
                    + (port() == 8085 ? "" : " --server " + url));
        }
        err.println("ready");
        err.flush();
    }

    /** The store's URL without what might be a password. */
    private String shownStore() {
        String store = options.store();
        int query = store.indexOf('?');
        return "store " + (query < 0 ? store : store.substring(0, query));
    }

    private void publishFiles() {
        if (options.demo()) {
            publish("demo payment_receipt", Demo.resource("/demo/payment_receipt.yaml"));
        }
        if (playground != null) {
            new Demo(semel, settings, workspace.ws()).furnish(playground.url());
            Demo.examples(playground.url()).forEach(one -> publish("demo " + one.name(), one.text()));
        }
        if (folder == null) {
            return;
        }
        try {
            if (options.dev()) {
                folder.look(); // an invalid file is reported, and can be corrected while the server runs
                folder.watch();
            } else {
                folder.publishAll();
            }
        } catch (IOException e) {
            throw new StoreFailure.Down(
                    "The workflows in " + options.workflows() + " could not be read: " + e.getMessage(), e);
        }
    }

    private WorkflowFolder folder(Path files) {
        int ws = workspace.ws();
        AlertFile alerts = new AlertFile(semel, settings, ws);
        return new WorkflowFolder(files, definition -> api.publish(ws, definition), alerts::apply, System.err::println);
    }

    private void publish(String file, String text) {
        try {
            api.publish(workspace.ws(), Definition.compile(text));
        } catch (SemelException e) {
            throw new SemelException(e.code(), file + ": " + e.detail(), e.fix());
        }
    }

    /** Creates one admin token if the store has none, in a file that only its owner can read. */
    private void firstToken(Tokens tokens) {
        List<Rows.Token> existing = semel.view(reads -> reads.tokens(workspace.ws()));
        if (existing != null && !existing.isEmpty()) {
            return;
        }
        Path file = options.data().resolve("admin-token");
        Tokens.Made made = tokens.draft(
                workspace.ws(),
                workspace.name(),
                new Tokens.Wanted("first", EnumSet.complementOf(EnumSet.of(Scope.OPEN)), 0, "serve"));
        try {
            OwnFile.write(file, made.secret());
        } catch (IOException e) {
            throw new StoreFailure.Down(
                    "The first token could not be written to " + file + ": " + e.getMessage()
                            + ". No token was created. Start again with a writable --data folder.",
                    e);
        }
        // CRASH(first-token): the file holds a token that the store does not know; the next start creates another.
        semel.point("first-token");
        Edit.By by = new Edit.By(semel.newId(), "serve", "the first token of this store");
        var note = new Edit.Note(workspace.ws(), "token.create", made.row().tokenId(), by);
        if (semel.maybeChange(new Edit.Noted<>(new Edit.CreateToken(made.row()), Objects::nonNull, note)) == null) {
            throw new IllegalStateException("the id or the hash of a new token already exists");
        }
        System.err.println("The first admin token is in " + file);
    }

    public int port() {
        return http.port();
    }

    public Semel semel() {
        return semel;
    }

    /** The dashboard users, for tests. */
    public People people() {
        return people;
    }

    /** The fake providers of the demo; null without it. */
    public @Nullable Playground playground() {
        return playground;
    }

    /** The alert monitor, for tests that run its checks themselves. */
    public Watch watch() {
        return watch;
    }

    /** The settings of all workspaces, for tests. */
    public dev.semel.server.settings.Settings settings() {
        return settings;
    }

    /** Stops accepting requests, finishes those in progress, writes the pending batch, and releases the lease. */
    @Override
    public void close() {
        if (folder != null) {
            folder.close();
        }
        api.endStreams();
        watch.close();
        reminders.close();
        http.stop();
        semel.close(options.grace());
        closeConnections();
    }

    /** Closes what runs may use until they have stopped. */
    private void closeConnections() {
        outbound.close();
        provider.close();
        alarm.close();
        if (playground != null) {
            playground.close();
        }
    }
}
