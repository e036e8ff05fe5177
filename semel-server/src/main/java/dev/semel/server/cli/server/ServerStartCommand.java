package dev.semel.server.cli.server;

import dev.semel.server.cli.command.CliCommand;
import dev.semel.server.cli.command.CliDurationFormatter;
import dev.semel.server.http.TrustedProxies;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Base of `semel dev` and `semel serve`: validates the options and starts the server. */
public abstract sealed class ServerStartCommand extends CliCommand {
    private final Function<ServerOptions, Integer> serve;

    @Option(names = "--port", paramLabel = "PORT", description = "Port; 0 selects a free one. Default: 8085.")
    @Nullable
    Integer port;

    @Option(names = "--data", paramLabel = "DIR", description = "Data folder. Default: ./.semel.")
    @Nullable
    Path data;

    @Option(
            names = "--store",
            paramLabel = "URL",
            description =
                    "sqlite:FILE or jdbc:postgresql://HOST/DB. Default: the environment variable SEMEL_STORE, or else"
                            + " SQLite in the --data folder.")
    @Nullable
    String store;

    @Option(names = "--workflows", paramLabel = "DIR", description = "Folder of workflow files to publish.")
    @Nullable
    Path workflows;

    @Option(
            names = "--name",
            paramLabel = "NAME",
            description = "Name of this server in `semel worker list`. Default: the environment variable SEMEL_NAME.")
    @Nullable
    String name;

    @Option(
            names = "--grace",
            paramLabel = "TIME",
            description =
                    "How long runs may continue after SIGTERM. Then another worker or the next start continues them."
                            + " Default: 10s.")
    @Nullable
    String grace;

    @Option(
            names = "--allow-host",
            paramLabel = "NAME[:PORT]",
            description = "Host that steps may call although its address is private; repeatable. Default:"
                    + " the environment variable SEMEL_ALLOW_HOSTS, a list separated by commas.")
    @Nullable
    List<String> allowHosts;

    @Option(
            names = "--allow-sql",
            description =
                    "Let workflow files run SQL in the store's database (tx steps). `semel dev` always allows this."
                        + " Every user who publishes workflows can then read and write all tables of that database.")
    boolean allowSql;

    @Option(
            names = "--keep",
            paramLabel = "NAME=TIME",
            description =
                    "How long the server keeps data, such as runs=30d or payloads=7d; repeatable. NAME is one of runs,"
                            + " tombstones, payloads, requests, ticks, events, audit. Default: the environment variable"
                            + " SEMEL_KEEP, such as runs=30d,payloads=7d.")
    @Nullable
    List<String> keep;

    @Option(
            names = "--max-depth",
            paramLabel = "N",
            description =
                    "Maximum length of a chain of runs in which each run starts the next one by a request, event or"
                            + " webhook. Default: 16.")
    int maxDepth = ServerOptions.ServerLimits.DEFAULT.maxDepth();

    @Option(
            names = "--max-schedules",
            paramLabel = "N",
            description = "Maximum number of schedules per workspace. Default: 1000.")
    int maxSchedules = ServerOptions.ServerLimits.DEFAULT.maxSchedules();

    @Option(
            names = "--max-run-steps",
            paramLabel = "N",
            description = "Maximum number of recorded steps of a run. Default: 100000.")
    int maxRunSteps = ServerOptions.ServerLimits.DEFAULT.maxRunSteps();

    @Option(
            names = "--max-run-journal",
            paramLabel = "MIB",
            description = "Maximum size of the journal of a run, in MiB. Default: 64.")
    int maxRunJournal = ServerOptions.ServerLimits.DEFAULT.maxRunJournal();

    @Option(
            names = "--trusted-proxy",
            paramLabel = "ADDRESS[/BITS]",
            description = "Proxy whose X-Forwarded-For the server trusts, such as 127.0.0.1 or 10.0.0.0/24; repeatable."
                    + " Default: the environment variable SEMEL_TRUSTED_PROXIES, a list separated by commas.")
    @Nullable
    List<String> trustedProxies;

    ServerStartCommand(Function<ServerOptions, Integer> serve) {
        this.serve = serve;
    }

    @Command(
            name = "dev",
            description = "Starts a local server with token `dev` and workspace `default`. Its data survive restarts.",
            footer = {"  semel dev --demo", "  semel dev --port 8086 --data ./try"})
    public static final class DevCommand extends ServerStartCommand {
        @Option(
                names = "--demo",
                description =
                        "Add example workflows and fake providers. The fake providers listen on the --port number plus"
                                + " 1.")
        boolean demo;

        public DevCommand(Function<ServerOptions, Integer> serve) {
            super(serve);
        }

        @Override
        public Integer call() {
            Path defaultFolder = environment().folder().resolve("workflows");
            Path named = workflows == null && Files.isDirectory(defaultFolder) ? defaultFolder : workflows;
            return start(true, demo, "127.0.0.1", named);
        }
    }

    @Command(
            name = "serve",
            description = "Starts a production server.",
            footer = {
                "  semel serve --data /var/lib/semel",
                "  SEMEL_STORE='jdbc:postgresql://db/semel?user=semel&password=…' semel serve --host 0.0.0.0"
            })
    public static final class ServeCommand extends ServerStartCommand {
        @Option(
                names = "--host",
                paramLabel = "HOST",
                description = "Address to listen on. Default: the environment variable SEMEL_HOST, or else 127.0.0.1.")
        @Nullable
        String host;

        public ServeCommand(Function<ServerOptions, Integer> serve) {
            super(serve);
        }

        @Override
        public Integer call() {
            String address = host != null ? host : environment().variable("SEMEL_HOST", "127.0.0.1");
            return start(false, false, address, workflows);
        }
    }

    int start(boolean dev, boolean demo, String host, @Nullable Path folder) {
        Path dataFolder = environment().folder().resolve(data != null ? data : Path.of(or("SEMEL_DATA", ".semel")));
        if (Files.exists(dataFolder) && !Files.isDirectory(dataFolder)) {
            throw usage("--data must be a folder, but this is a file: " + dataFolder + ". Nothing was started.");
        }
        if (folder != null && !Files.isDirectory(environment().folder().resolve(folder))) {
            throw usage("--workflows is not a folder: " + folder + ". Nothing was started.");
        }
        ServerOptions options;
        try {
            @Nullable Path from = folder == null ? null : environment().folder().resolve(folder);
            var trust = new ServerOptions.StepPermissions(
                    new ServerOptions.HiddenText(environment().variable("SEMEL_SECRET_KEY")),
                    listed(allowHosts, "SEMEL_ALLOW_HOSTS"),
                    dev || allowSql,
                    dev ? standIn() : 0);
            options = new ServerOptions(
                    dev,
                    demo,
                    host,
                    port != null ? port : Integer.parseInt(or("SEMEL_PORT", "8085")),
                    dataFolder,
                    store(dataFolder),
                    from,
                    name != null ? name : or("SEMEL_NAME", ""),
                    CliDurationFormatter.parse(grace != null ? grace : or("SEMEL_GRACE", "10s")),
                    trust,
                    keep(),
                    new ServerOptions.ServerLimits(maxDepth, maxSchedules, maxRunSteps, maxRunJournal),
                    OidcEnvironmentVariableReader.read(environment()),
                    new ServerOptions.ProxySettings(
                            TrustedProxies.of(listed(trustedProxies, "SEMEL_TRUSTED_PROXIES")),
                            environment().variable("SEMEL_PUBLIC_URL")));
        } catch (IllegalArgumentException bad) {
            throw usage(bad.getMessage() + ". Nothing was started.");
        }
        return serve.apply(options);
    }

    /** Port of the stub server of `semel qa`. It has no host, so that it is always on this machine. */
    private int standIn() {
        String text = or("SEMEL_STAND_IN", "0");
        int at = text.matches("[0-9]{1,5}") ? Integer.parseInt(text) : -1;
        if (at < 0 || at > 65_535) {
            throw new IllegalArgumentException("SEMEL_STAND_IN must be a local port number");
        }
        return at;
    }

    private Map<String, Duration> keep() {
        Map<String, Duration> out = new HashMap<>();
        for (String one : listed(keep, "SEMEL_KEEP")) {
            int equals = one.indexOf('=');
            String word = one.substring(0, Math.max(0, equals));
            if (!one.isEmpty() && !ServerOptions.RETENTION_NAMES.contains(word)) {
                throw new IllegalArgumentException("--keep must be NAME=TIME, such as runs=30d. NAME is one of "
                        + String.join(", ", ServerOptions.RETENTION_NAMES));
            }
            if (!one.isEmpty()) {
                out.put(word, CliDurationFormatter.parse(one.substring(equals + 1)));
            }
        }
        return out;
    }

    /** The values of a repeatable option, or those of its environment variable. */
    private List<String> listed(@Nullable List<String> option, String variable) {
        return option != null
                ? option
                : Stream.of(or(variable, "").split(","))
                        .map(String::strip)
                        .filter(one -> !one.isEmpty())
                        .toList();
    }

    private String store(Path dataFolder) {
        if (store == null) {
            return or("SEMEL_STORE", "sqlite:" + dataFolder.resolve("semel.db"));
        }
        if (store.matches("(?is).*[?&](ssl)?password=.*|.*//[^/]*:[^/]*@.*")) {
            throw usage("A password is never an argument: the process list would show it. Nothing was started."
                    + " Put the whole URL into SEMEL_STORE instead of --store.");
        }
        return store;
    }

    private String or(String variable, String otherwise) {
        return environment().variable(variable, otherwise);
    }
}
