package dev.semel.server.cli.server;

import dev.semel.server.access.oidc.OidcClientSettings;
import dev.semel.server.connectors.outbound.OutboundAddressGuard;
import dev.semel.server.http.TrustedProxies;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Validated options of `semel dev` and `semel serve`.
 *
 * @param dev loopback only, bearer token `dev`, workspace `default`
 * @param demo add the example workflow; in dev also examples that call other services, and a playground of fake
 *     services
 * @param port 0 selects a free port
 * @param data data folder of the server; it may not exist yet
 * @param store `sqlite:FILE` or `jdbc:postgresql://…`
 * @param name worker name in `semel workers`; empty: process, machine and port
 * @param shutdownGrace how long runs may continue after SIGTERM before the server hands them over
 * @param retention retention by the names in {@link #RETENTION_NAMES}; others have their default
 * @param limits limits on runs and schedules
 * @param identityProvider OpenID Connect provider for dashboard users; null if there is none
 * @param proxySettings trusted proxies and public URL
 * @param workflows folder of workflow files; null if none was given (and, in dev, there is no ./workflows)
 */
public record ServerOptions(
        boolean dev,
        boolean demo,
        String host,
        int port,
        Path data,
        String store,
        @Nullable Path workflows,
        String name,
        Duration shutdownGrace,
        StepPermissions stepPermissions,
        Map<String, Duration> retention,
        ServerLimits limits,
        @Nullable OidcClientSettings identityProvider,
        ProxySettings proxySettings) {
    /** Names that `--keep` accepts. */
    public static final List<String> RETENTION_NAMES =
            List.of("runs", "tombstones", "payloads", "requests", "ticks", "events", "audit");

    private static final Duration USUAL_GRACE = Duration.ofSeconds(10);

    /** A text that toString() never prints. */
    public record HiddenText(String text) {
        public static final HiddenText EMPTY = new HiddenText("");

        @Override
        public String toString() {
            return "•••";
        }
    }

    /**
     * Permissions and secrets of workflow steps.
     *
     * @param secretKey value of SEMEL_SECRET_KEY; empty if it is not set
     * @param allowHosts hosts that steps may call even at private addresses, as `NAME` or `NAME:PORT`
     * @param allowSql whether workflow files may run SQL in the store's database
     * @param stubPort local port that answers all calls of steps; 0 for real calls
     */
    public record StepPermissions(HiddenText secretKey, List<String> allowHosts, boolean allowSql, int stubPort) {
        public StepPermissions {
            allowHosts = List.copyOf(allowHosts);
        }
    }

    /**
     * @param maxDepth longest chain of runs that start each other
     * @param maxSchedules maximum number of schedules per workspace
     * @param maxRunSteps recorded steps of one run
     * @param maxRunJournal journal of one run, in MiB
     */
    public record ServerLimits(int maxDepth, int maxSchedules, int maxRunSteps, int maxRunJournal) {
        public static final ServerLimits DEFAULT = new ServerLimits(16, 1_000);

        public ServerLimits {
            if (maxRunSteps < 1 || maxRunJournal < 1) {
                throw new IllegalArgumentException("--max-run-steps and --max-run-journal must be at least 1");
            }
        }

        /** With the default limits of a run. */
        public ServerLimits(int maxDepth, int maxSchedules) {
            this(maxDepth, maxSchedules, 100_000, 64);
        }
    }

    /**
     * Reverse proxies in front of the server, and its public URL.
     *
     * @param trustedProxies proxies whose X-Forwarded-For is trusted
     * @param publicUrl public URL such as `https://semel.example.com`; empty if it is not set
     */
    public record ProxySettings(TrustedProxies trustedProxies, String publicUrl) {
        public static final ProxySettings NONE = new ProxySettings(TrustedProxies.NONE, "");

        public ProxySettings {
            publicUrl = publicUrl.isEmpty() ? "" : OidcClientSettings.publicUrl(publicUrl);
        }
    }

    /** With default name, grace and limits, and without a key for secrets. */
    public ServerOptions(
            boolean dev, boolean demo, String host, int port, Path data, String store, @Nullable Path workflows) {
        this(
                dev,
                demo,
                host,
                port,
                data,
                store,
                workflows,
                "",
                USUAL_GRACE,
                new StepPermissions(HiddenText.EMPTY, List.of(), dev, 0),
                Map.of(),
                ServerLimits.DEFAULT,
                null,
                ProxySettings.NONE);
    }

    public HiddenText secretKey() {
        return stepPermissions.secretKey();
    }

    public ServerOptions {
        retention = Map.copyOf(retention);
        OutboundAddressGuard.of(dev, stepPermissions.allowHosts()); // rejects invalid hosts
        if (stepPermissions.stubPort() != 0 && !dev) {
            throw new IllegalArgumentException("only `semel dev` can redirect the calls of steps to a stub");
        }
        if (host.isBlank()) {
            throw new IllegalArgumentException("host must not be empty");
        }
        if (port < 0 || port > 65_535) {
            throw new IllegalArgumentException("port must be between 0 and 65535, not " + port);
        }
        if (name.length() > 100 || name.chars().anyMatch(Character::isISOControl)) {
            throw new IllegalArgumentException("--name must have at most 100 characters, all of them printable");
        }
        if (limits.maxDepth() < 1 || limits.maxDepth() > 1_000) {
            throw new IllegalArgumentException("--max-depth must be 1 to 1000, not " + limits.maxDepth());
        }
        if (limits.maxSchedules() < 0 || limits.maxSchedules() > 1_000_000) {
            throw new IllegalArgumentException("--max-schedules must be 0 to 1000000, not " + limits.maxSchedules());
        }
        if (shutdownGrace.isNegative() || shutdownGrace.compareTo(Duration.ofHours(1)) > 0) {
            throw new IllegalArgumentException("--grace must be at most 1h");
        }
        if (!store.startsWith("sqlite:") && !store.startsWith("jdbc:postgresql:")) {
            throw new IllegalArgumentException("store must begin with sqlite: or jdbc:postgresql:");
        }
    }
}
