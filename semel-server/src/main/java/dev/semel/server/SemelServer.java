package dev.semel.server;

import dev.semel.Semel;
import dev.semel.SemelOptions;
import dev.semel.WorkerStatus;
import dev.semel.engine.EngineEnvironment;
import dev.semel.engine.EngineLimits;
import dev.semel.engine.RetentionPolicy;
import dev.semel.engine.WorkflowCatalog;
import dev.semel.error.SemelException;
import dev.semel.server.access.ApiTokens;
import dev.semel.server.access.UserAccounts;
import dev.semel.server.alerts.AlertMonitor;
import dev.semel.server.api.ApiLimits;
import dev.semel.server.api.ApiRoutes;
import dev.semel.server.api.FileWorkflow;
import dev.semel.server.api.PrometheusMetrics;
import dev.semel.server.channel.ChannelFactory;
import dev.semel.server.channel.MessageTemplate;
import dev.semel.server.channel.TimeoutTimer;
import dev.semel.server.cli.ServerOptions;
import dev.semel.server.dashboard.DashboardRoutes;
import dev.semel.server.definition.WorkflowDefinition;
import dev.semel.server.demo.DemoProviderServer;
import dev.semel.server.demo.DemoSettings;
import dev.semel.server.http.HttpServer;
import dev.semel.server.http.HttpServerSettings;
import dev.semel.server.http.TokenScope;
import dev.semel.server.ingress.ReviewNotifier;
import dev.semel.server.outbound.OutboundAddressGuard;
import dev.semel.server.outbound.OutboundHttpClient;
import dev.semel.server.services.WorkspaceStepServices;
import dev.semel.server.settings.WorkspaceSettings;
import dev.semel.server.settings.WorkspaceSettings.DocumentChecks;
import dev.semel.server.steps.JavaStep;
import dev.semel.server.steps.StepServices;
import dev.semel.store.Durability;
import dev.semel.store.StoreCommand;
import dev.semel.store.StoreFailure;
import dev.semel.store.StoredRows;
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
public final class SemelServer implements AutoCloseable {
    private static final Duration ALERT_INTERVAL = Duration.ofSeconds(15);

    private final ServerOptions options;
    private final OutboundHttpClient outbound;
    private final TimeoutTimer alarm = new TimeoutTimer();
    private final InstantSource clock;
    private final Map<String, JavaStep> javaSteps;
    private final CompletableFuture<Boolean> servicesReady = new CompletableFuture<>();
    private final Semel semel;
    private final IdentityProviderConnection provider;
    private final WorkspaceSettings settings;
    private final UserAccounts users;
    private final ApiRoutes api;
    private final AlertMonitor alertMonitor;
    private final HttpServer http;
    private final StoredRows.WorkspaceRow workspace;
    private final @Nullable WorkflowFolderPublisher folder;
    private final @Nullable DemoProviderServer playground;
    private final ReviewNotifier reminders;

    private SemelServer(ServerOptions options, EngineEnvironment ambient) {
        this.options = options;
        this.clock = () -> Instant.EPOCH.plus(ambient.micros(), ChronoUnit.MICROS);
        this.outbound = outboundClient(options);
        // With stubs no Java step runs: its code could call real services.
        this.javaSteps = options.stepPermissions().stubPort() == 0 ? javaSteps() : Map.of();
        this.semel = Semel.open(SemelOptions.of(
                        options.store(), version -> FileWorkflow.compile(awaitServices(version), this::stepServices))
                .withClock(ambient, () -> 0)
                .withWorkerName(name(options))
                .withLimits(limits(options.retention()))
                .withRequestObserver(ServerLog::logRequest));
        this.provider = IdentityProviderConnection.open(options, semel, clock);
        try {
            this.playground = options.dev() && options.demo() ? playground(options.port()) : null;
            this.workspace = semel.change(new StoreCommand.CreateWorkspace("default", semel.newSecret(32)));
            ApiTokens tokens = options.dev() ? ApiTokens.forDev(semel, workspace) : ApiTokens.serving(semel);
            PrometheusMetrics metrics = new PrometheusMetrics(semel);
            this.settings = new WorkspaceSettings(
                    semel,
                    SecretKeyLoader.load(options, semel),
                    new DocumentChecks(MessageTemplate::check, ChannelFactory::check));
            servicesReady.complete(true);
            ServerLog.setRedaction(settings.redaction()::redact);
            this.users = users(tokens)
                    .withProvider(provider.signOn())
                    .withPublicUrl(options.proxySettings().publicUrl());
            this.api = new ApiRoutes(semel, tokens, metrics, options.dev())
                    .addRoutesFor(settings)
                    .addWebhooks(settings, clock)
                    .setLimits(new ApiLimits(
                            options.limits().maxDepth(), options.limits().maxSchedules()))
                    .addRoutesFor(users);
            DashboardRoutes.addTo(
                    api.router(), users, clock, () -> "form-" + HexFormat.of().formatHex(semel.newSecret(16)));
            this.alertMonitor =
                    new AlertMonitor(semel, settings, ws -> stepServices(ws).messageDispatcher());
            this.reminders = new ReviewNotifier(semel, api.eventIngress());
            Path files = options.workflows();
            this.folder = files == null ? null : folder(files);
            publishFiles();
            if (!options.dev()) {
                firstToken(tokens);
            }
            this.http = HttpServer.start(
                    HttpServerSettings.defaults(options.host(), options.port())
                            .withProxies(options.proxySettings().trustedProxies()),
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

    private static OutboundHttpClient outboundClient(ServerOptions options) {
        int standIn = options.stepPermissions().stubPort();
        return standIn == 0
                ? new OutboundHttpClient(OutboundAddressGuard.of(options.dev(), options.allowHosts()))
                : OutboundHttpClient.withSubstituteServer(
                        new InetSocketAddress(InetAddress.getLoopbackAddress(), standIn));
    }

    private UserAccounts users(ApiTokens tokens) {
        return options.dev()
                ? UserAccounts.forDev(semel, Objects.requireNonNull(tokens.authenticate("dev")))
                : UserAccounts.serving(semel);
    }

    /**
     * Recovered runs start as soon as the store is open; they wait here until the services of their steps are ready.
     */
    private StoredRows.VersionRow awaitServices(StoredRows.VersionRow version) {
        if (!servicesReady.join()) {
            throw new WorkflowCatalog.WorkflowNotRegistered(
                    version.name(), version.workflowId()); // this server failed to start
        }
        return version;
    }

    /** The default limits, overridden by `--keep`. */
    private static EngineLimits limits(Map<String, Duration> keep) {
        EngineLimits defaults = EngineLimits.DEFAULT;
        RetentionPolicy keeping = new RetentionPolicy(
                keep.get("payloads"),
                keep.get("requests"),
                keep.get("ticks"),
                keep.getOrDefault("events", defaults.retention().events()),
                keep.get("audit"));
        return defaults.withTombstones(keep.getOrDefault("tombstones", defaults.tombstones()))
                .withFinishedRuns(keep.getOrDefault("runs", defaults.finishedRuns()))
                .withRetention(keeping);
    }

    /** Starts on the next port after the server's, which the example files name. */
    private static DemoProviderServer playground(int port) {
        return DemoProviderServer.start(port == 0 ? 0 : port + 1);
    }

    /** The services that the steps of a workspace may use. */
    private WorkspaceStepServices stepServices(int ws) {
        return new WorkspaceStepServices(
                new WorkspaceStepServices.SharedServices(
                        semel,
                        settings,
                        outbound,
                        outbound::allowedAddresses,
                        (SSLSocketFactory) SSLSocketFactory.getDefault(),
                        alarm,
                        clock,
                        options.stepPermissions().allowSql(),
                        javaSteps),
                ws);
    }

    /** Java steps by name. */
    private static Map<String, JavaStep> javaSteps() {
        Map<String, JavaStep> steps = new HashMap<>();
        ServiceLoader.load(JavaStep.class).forEach(step -> steps.put(step.name(), step));
        return steps;
    }

    private static String name(ServerOptions options) {
        return options.name().isEmpty()
                ? SemelOptions.of(
                                        options.store(),
                                        version -> FileWorkflow.compile(version, _ -> StepServices.UNAVAILABLE))
                                .workerName()
                        + ":" + options.port()
                : options.name();
    }

    /** Starts the server and returns when `/readyz` reports ready. */
    public static SemelServer start(ServerOptions options) {
        SemelServer serve = start(options, EngineEnvironment.real());
        serve.alertMonitor.start(ALERT_INTERVAL);
        return serve;
    }

    /** For tests: the caller controls the clock and the crash points, and runs the alert checks. */
    public static SemelServer start(ServerOptions options, EngineEnvironment ambient) {
        return new SemelServer(options, ambient);
    }

    /** Runs until the process receives a stop signal; returns the exit code. */
    static int run(ServerOptions options) {
        ServerLog.install(options.dev());
        PrintStream err = System.err;
        SemelServer serve;
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
        err.println("semel " + WorkerStatus.VERSION + "  " + (options.dev() ? "dev" : "serve") + "  ·  Java "
                + Runtime.version().feature() + "  ·  " + shownStore());
        Durability durability = semel.workerStatus().durability();
        err.println(durability == null ? "the store has not reported its durability yet" : durability.summary());
        err.println("  Open  " + url + (options.dev() ? "         dashboard: workflows, runs and keys" : ""));
        if (!options.dev()) {
            new FirstAdminSetupLink(users, workspace.ws(), options.data().resolve("setup-link"))
                    .print(
                            options.proxySettings().publicUrl().isEmpty()
                                    ? url
                                    : options.proxySettings().publicUrl(),
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
            publish("demo payment_receipt", DemoSettings.resource("/examples/payment_receipt.yaml"));
        }
        if (playground != null) {
            new DemoSettings(semel, settings, workspace.ws()).save(playground.url());
            DemoSettings.examples(playground.url()).forEach(one -> publish("demo " + one.name(), one.text()));
        }
        if (folder == null) {
            return;
        }
        try {
            if (options.dev()) {
                folder.publishChanged(); // an invalid file is reported, and can be corrected while the server runs
                folder.startWatching();
            } else {
                folder.publishAll();
            }
        } catch (IOException e) {
            throw new StoreFailure.Unreachable(
                    "The workflows in " + options.workflows() + " could not be read: " + e.getMessage(), e);
        }
    }

    private WorkflowFolderPublisher folder(Path files) {
        int ws = workspace.ws();
        AlertFileImporter alerts = new AlertFileImporter(semel, settings, ws);
        return new WorkflowFolderPublisher(
                files, definition -> api.publish(ws, definition), alerts::importAlerts, System.err::println);
    }

    private void publish(String file, String text) {
        try {
            api.publish(workspace.ws(), WorkflowDefinition.compile(text));
        } catch (SemelException e) {
            throw new SemelException(e.code(), file + ": " + e.detail(), e.fix());
        }
    }

    /** Creates one admin token if the store has none, in a file that only its owner can read. */
    private void firstToken(ApiTokens tokens) {
        List<StoredRows.TokenRow> existing = semel.view(reads -> reads.tokens(workspace.ws()));
        if (existing != null && !existing.isEmpty()) {
            return;
        }
        Path file = options.data().resolve("admin-token");
        ApiTokens.CreatedToken made = tokens.draft(
                workspace.ws(),
                workspace.name(),
                new ApiTokens.TokenRequest("first", EnumSet.complementOf(EnumSet.of(TokenScope.OPEN)), 0, "serve"));
        try {
            OwnerOnlyFile.write(file, made.secret());
        } catch (IOException e) {
            throw new StoreFailure.Unreachable(
                    "The first token could not be written to " + file + ": " + e.getMessage()
                            + ". No token was created. Start again with a writable --data folder.",
                    e);
        }
        // CRASH(first-token): the file holds a token that the store does not know; the next start creates another.
        semel.crashPoint("first-token");
        StoreCommand.ChangeAuthor by =
                new StoreCommand.ChangeAuthor(semel.newId(), "serve", "the first token of this store");
        var note = new StoreCommand.AuditEntry(
                workspace.ws(), "token.create", made.row().tokenId(), by);
        if (semel.changeOrNull(new StoreCommand.AuditedCommand<>(
                        new StoreCommand.CreateToken(made.row()), Objects::nonNull, note))
                == null) {
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
    public UserAccounts users() {
        return users;
    }

    /** The fake providers of the demo; null without it. */
    public @Nullable DemoProviderServer playground() {
        return playground;
    }

    /** The alert monitor, for tests that run its checks themselves. */
    public AlertMonitor alertMonitor() {
        return alertMonitor;
    }

    /** The settings of all workspaces, for tests. */
    public WorkspaceSettings settings() {
        return settings;
    }

    /** Stops accepting requests, finishes those in progress, writes the pending batch, and releases the lease. */
    @Override
    public void close() {
        if (folder != null) {
            folder.close();
        }
        api.endStreams();
        alertMonitor.close();
        reminders.close();
        http.stop();
        semel.close(options.shutdownGrace());
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
