package dev.semel.server;

import dev.semel.engine.ClockAndRandomSource;
import dev.semel.engine.EngineLimits;
import dev.semel.engine.RetentionPolicy;
import dev.semel.engine.RunSizeLimits;
import dev.semel.engine.run.WorkflowCatalog;
import dev.semel.error.SemelException;
import dev.semel.runtime.RuntimeOptions;
import dev.semel.runtime.SemelRuntime;
import dev.semel.runtime.WorkerStatus;
import dev.semel.server.access.ApiTokenStore;
import dev.semel.server.access.UserAccountStore;
import dev.semel.server.alerts.AlertMonitor;
import dev.semel.server.cli.server.ServerOptions;
import dev.semel.server.connectors.channel.NotificationChannelFactory;
import dev.semel.server.connectors.channel.SmtpTimeoutScheduler;
import dev.semel.server.connectors.ingress.HumanReviewNotifier;
import dev.semel.server.connectors.notification.UnsubscribeLinks;
import dev.semel.server.connectors.outbound.OutboundAddressGuard;
import dev.semel.server.connectors.outbound.OutboundHttpClient;
import dev.semel.server.connectors.template.NotificationTemplate;
import dev.semel.server.dashboard.DashboardRoutes;
import dev.semel.server.demo.DemoDataSeeder;
import dev.semel.server.demo.DemoExternalApiServer;
import dev.semel.server.files.definition.WorkflowDefinition;
import dev.semel.server.files.steps.YamlStepDependencies;
import dev.semel.server.http.AllowedHosts;
import dev.semel.server.http.TokenScope;
import dev.semel.server.http.transport.HttpServer;
import dev.semel.server.http.transport.HttpServerSettings;
import dev.semel.server.operations.ApiLimits;
import dev.semel.server.operations.PublishedYamlWorkflow;
import dev.semel.server.operations.system.PrometheusMetrics;
import dev.semel.server.services.WorkspaceYamlStepDependencies;
import dev.semel.server.settings.WorkspaceSettingRepositories;
import dev.semel.server.settings.WorkspaceSettingRepositories.DocumentChecks;
import dev.semel.server.steps.JavaStep;
import dev.semel.store.DatabaseRows;
import dev.semel.store.StoreFailure;
import dev.semel.store.StoreWriteCommand;
import dev.semel.store.WorkflowStore;
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
    private final SmtpTimeoutScheduler alarm = new SmtpTimeoutScheduler();
    private final InstantSource clock;
    private final Map<String, JavaStep> javaSteps;
    private final CompletableFuture<Boolean> servicesReady = new CompletableFuture<>();
    private final SemelRuntime semel;
    private final IdentityProviderConnection provider;
    private final WorkspaceSettingRepositories settings;
    private final UserAccountStore users;
    private final ApiRoutes api;
    private final AlertMonitor alertMonitor;
    private final HttpServer http;
    private final DatabaseRows.WorkspaceRow workspace;
    private final @Nullable WorkflowFolderPublisher folder;
    private final @Nullable DemoExternalApiServer playground;
    private final HumanReviewNotifier reminders;

    private SemelServer(ServerOptions options, ClockAndRandomSource ambient) {
        this.options = options;
        this.clock = () -> Instant.EPOCH.plus(ambient.micros(), ChronoUnit.MICROS);
        this.outbound = outboundClient(options);
        // With stubs no Java step runs: its code could call real services.
        this.javaSteps = options.stepPermissions().stubPort() == 0 ? javaSteps() : Map.of();
        this.semel = SemelRuntime.open(RuntimeOptions.of(
                        options.store(),
                        version -> PublishedYamlWorkflow.compile(awaitServices(version), this::stepServices))
                .withClock(ambient, () -> 0)
                .withWorkerName(name(options))
                .withLimits(limits(options.retention()).withRunSize(runSize(options.limits())))
                .withRequestObserver(JsonServerLogger::logRequest));
        this.provider = IdentityProviderConnection.open(options, semel, clock, this::loginCookieKey);
        if (options.dev()) {
            semel.confirmClock(); // a developer's machine may have been off for weeks
        }
        try {
            this.playground = options.dev() && options.demo() ? playground(options.port()) : null;
            this.workspace = semel.change(new StoreWriteCommand.CreateWorkspace("default", semel.newSecret(32)));
            ApiTokenStore tokens =
                    options.dev() ? ApiTokenStore.forDev(semel, workspace) : ApiTokenStore.serving(semel);
            PrometheusMetrics metrics = new PrometheusMetrics(semel);
            this.settings = new WorkspaceSettingRepositories(
                    semel,
                    SecretEncryptionKeyLoader.load(options, semel),
                    new DocumentChecks(NotificationTemplate::check, NotificationChannelFactory::check));
            JsonServerLogger.setRedaction(settings.redaction()::redact);
            this.users = users(tokens)
                    .withProvider(provider.signOn())
                    .withPublicUrl(options.proxySettings().publicUrl());
            this.api = new ApiRoutes(semel, tokens, metrics, options.dev())
                    .addRoutesFor(settings)
                    .addWebhooks(settings, clock, options.proxySettings().publicUrl())
                    .addUnsubscribeLinks(settings, unsubscribeLinks())
                    .setLimits(new ApiLimits(
                            options.limits().maxDepth(), options.limits().maxSchedules()))
                    .addRoutesFor(users);
            servicesReady.complete(true);
            DashboardRoutes.addTo(
                    api.router(), users, clock, () -> "form-" + HexFormat.of().formatHex(semel.newSecret(16)));
            this.alertMonitor =
                    new AlertMonitor(semel, settings, ws -> stepServices(ws).messageDispatcher());
            this.reminders = new HumanReviewNotifier(semel, api.eventIngress());
            Path files = options.workflows();
            this.folder = files == null ? null : folder(files);
            publishFiles();
            if (!options.dev()) {
                firstToken(tokens);
            }
            this.http = HttpServer.start(httpSettings(options), api.router(), tokens, metrics);
            semel.workerStatus().threads().watch(http.deadlineThread());
            reminders.start();
        } catch (RuntimeException e) {
            servicesReady.complete(false);
            semel.close();
            closeConnections();
            throw e;
        }
    }

    private static HttpServerSettings httpSettings(ServerOptions options) {
        return HttpServerSettings.defaults(
                options.host(),
                options.port(),
                options.proxySettings().trustedProxies(),
                options.dev() ? AllowedHosts.LOOPBACK : AllowedHosts.ANY);
    }

    private static OutboundHttpClient outboundClient(ServerOptions options) {
        int standIn = options.stepPermissions().stubPort();
        return standIn == 0
                ? new OutboundHttpClient(OutboundAddressGuard.of(
                        options.dev(), options.stepPermissions().allowHosts()))
                : OutboundHttpClient.withSubstituteServer(
                        new InetSocketAddress(InetAddress.getLoopbackAddress(), standIn));
    }

    private UserAccountStore users(ApiTokenStore tokens) {
        return options.dev()
                ? UserAccountStore.forDev(semel, Objects.requireNonNull(tokens.authenticate("dev")))
                : UserAccountStore.serving(semel);
    }

    /** Recovered runs start when the store is open; here they wait until the services of their steps are ready. */
    private DatabaseRows.VersionRow awaitServices(DatabaseRows.VersionRow version) {
        if (!servicesReady.join()) {
            throw new WorkflowCatalog.WorkflowNotRegistered(
                    version.name(), version.workflowId()); // this server failed to start
        }
        return version;
    }

    /** The default limits, overridden by `--keep`. */
    private static EngineLimits limits(Map<String, Duration> keep) {
        EngineLimits defaults = EngineLimits.DEFAULT;
        RetentionPolicy retention = new RetentionPolicy(
                keep.get("payloads"),
                keep.get("requests"),
                keep.get("ticks"),
                keep.getOrDefault("events", defaults.retention().events()),
                keep.get("audit"));
        return defaults.withTombstones(keep.getOrDefault("tombstones", defaults.tombstones()))
                .withFinishedRuns(keep.getOrDefault("runs", defaults.finishedRuns()))
                .withRetention(retention);
    }

    static RunSizeLimits runSize(ServerOptions.ServerLimits limits) {
        return RunSizeLimits.DEFAULT
                .withSteps(limits.maxRunSteps())
                .withJournalBytes((long) limits.maxRunJournal() << 20);
    }

    /** Starts on the next port after the server's, which the example files name. */
    private static DemoExternalApiServer playground(int port) {
        return DemoExternalApiServer.start(port == 0 ? 0 : port + 1);
    }

    private WorkspaceYamlStepDependencies stepServices(int ws) {
        return new WorkspaceYamlStepDependencies(
                new WorkspaceYamlStepDependencies.SharedServices(
                        semel,
                        settings,
                        () -> api.eventIngress(),
                        unsubscribeLinks(),
                        outbound,
                        outbound::allowedAddresses,
                        (SSLSocketFactory) SSLSocketFactory.getDefault(),
                        alarm,
                        clock,
                        options.stepPermissions().allowSql(),
                        javaSteps),
                ws);
    }

    private UnsubscribeLinks unsubscribeLinks() {
        return new UnsubscribeLinks(options.proxySettings().publicUrl(), ws -> {
            DatabaseRows.WorkspaceRow row = semel.view(reads -> reads.workspace(ws));
            return row == null ? null : row.secret();
        });
    }

    private static Map<String, JavaStep> javaSteps() {
        Map<String, JavaStep> steps = new HashMap<>();
        ServiceLoader.load(JavaStep.class).forEach(step -> steps.put(step.name(), step));
        return steps;
    }

    private static String name(ServerOptions options) {
        return options.name().isEmpty()
                ? RuntimeOptions.of(
                                        options.store(),
                                        version -> PublishedYamlWorkflow.compile(
                                                version, _ -> YamlStepDependencies.UNAVAILABLE))
                                .workerName()
                        + ":" + options.port()
                : options.name();
    }

    /** Starts the server and returns when `/readyz` reports ready. */
    public static SemelServer start(ServerOptions options) {
        boolean stubs = options.stepPermissions().stubPort() != 0;
        SemelServer serve =
                start(options, stubs ? StubServerClock.readingFrom(System.in).ambient() : ClockAndRandomSource.real());
        serve.alertMonitor.start(ALERT_INTERVAL);
        return serve;
    }

    /** For tests: the caller controls the clock and the crash points, and runs the alert checks. */
    public static SemelServer start(ServerOptions options, ClockAndRandomSource ambient) {
        return new SemelServer(options, ambient);
    }

    /** Runs until the process receives a stop signal; returns the exit code. */
    static int run(ServerOptions options) {
        JsonServerLogger.install(options.dev());
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
        serve.haltIfThreadDies(err);
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

    /**
     * Ends the process without a shutdown, which could wait for the dead thread. The record in the store is safe: other
     * workers, or the next process, continue the runs.
     */
    public void haltIfThreadDies(PrintStream err) {
        semel.workerStatus().threads().onDeath(thread -> {
            try {
                err.println("semel: thread " + thread + " died, so the server stops. Its runs are recorded and continue"
                        + " when a server starts. Restart it, and report the error in the log.");
            } finally {
                Runtime.getRuntime().halt(1);
            }
        });
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
        WorkflowStore.Durability durability = semel.workerStatus().durability();
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
            publish("demo payment_receipt", DemoDataSeeder.resource("/examples/payment_receipt.yaml"));
        }
        if (playground != null) {
            new DemoDataSeeder(semel, settings, workspace.ws()).save(playground.url());
            DemoDataSeeder.examples(playground.url()).forEach(one -> publish("demo " + one.name(), one.text()));
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
        AlertSettingYamlImporter alerts = new AlertSettingYamlImporter(semel, settings, ws);
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

    private byte[] loginCookieKey() {
        return workspace.secret();
    }

    /** Creates one admin token if the store has none, in a file that only its owner can read. */
    private void firstToken(ApiTokenStore tokens) {
        List<DatabaseRows.TokenRow> existing = semel.view(reads -> reads.tokens(workspace.ws()));
        if (existing != null && !existing.isEmpty()) {
            return;
        }
        Path file = options.data().resolve("admin-token");
        ApiTokenStore.CreatedToken made = tokens.draft(
                workspace.ws(),
                workspace.name(),
                new ApiTokenStore.TokenRequest(
                        "first",
                        EnumSet.complementOf(EnumSet.of(TokenScope.OPEN)),
                        0,
                        ApiTokenStore.FIRST_TOKEN_ACTOR));
        try {
            OwnerOnlyFileWriter.write(file, made.secret());
        } catch (IOException e) {
            throw new StoreFailure.Unreachable(
                    "The first token could not be written to " + file + ": " + e.getMessage()
                            + ". No token was created. Start again with a writable --data folder.",
                    e);
        }
        // CRASH(first-token): the file holds a token that the store does not know; the next start creates another.
        semel.crashPoint("first-token");
        StoreWriteCommand.ChangeAuthor by =
                new StoreWriteCommand.ChangeAuthor(semel.newId(), "serve", "the first token of this store");
        var note = new StoreWriteCommand.AuditEntry(
                workspace.ws(), "token.create", made.row().tokenId(), by);
        if (semel.changeOrNull(new StoreWriteCommand.AuditedCommand<>(
                        new StoreWriteCommand.CreateToken(made.row()), Objects::nonNull, note))
                == null) {
            throw new IllegalStateException("the id or the hash of a new token already exists");
        }
        System.err.println("The first admin token is in " + file);
    }

    public int port() {
        return http.port();
    }

    public SemelRuntime semel() {
        return semel;
    }

    /** The dashboard users, for tests. */
    public UserAccountStore users() {
        return users;
    }

    /** The fake providers of the demo; null without it. */
    public @Nullable DemoExternalApiServer playground() {
        return playground;
    }

    /** The alert monitor, for tests that run its checks themselves. */
    public AlertMonitor alertMonitor() {
        return alertMonitor;
    }

    /** The settings of all workspaces, for tests. */
    public WorkspaceSettingRepositories settings() {
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
