package dev.semel.server.cli;

import dev.semel.server.auth.oidc.Registration;
import dev.semel.server.http.Proxies;
import dev.semel.server.outbound.Guard;
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
 * @param grace how long runs may continue after SIGTERM before the server hands them over
 * @param keep retention by the names in {@link #KEPT}; others have their default
 * @param bounds limits on runs and schedules
 * @param logIn OpenID Connect provider for dashboard users; null if there is none
 * @param front trusted proxies and public URL
 * @param workflows folder of workflow files; null if none was given (and, in dev, there is no ./workflows)
 */
public record ServeOptions(
        boolean dev,
        boolean demo,
        String host,
        int port,
        Path data,
        String store,
        @Nullable Path workflows,
        String name,
        Duration grace,
        Trust trust,
        Map<String, Duration> keep,
        Bounds bounds,
        @Nullable Registration logIn,
        Front front) {
    /** Names that `--keep` accepts. */
    public static final List<String> KEPT =
            List.of("runs", "tombstones", "payloads", "requests", "ticks", "events", "audit");

    private static final Duration USUAL_GRACE = Duration.ofSeconds(10);

    /** A text that toString() never prints. */
    public record Hidden(String text) {
        public static final Hidden NOTHING = new Hidden("");

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
     * @param standIn local port that answers all calls of steps; 0 for real calls
     */
    public record Trust(Hidden secretKey, List<String> allowHosts, boolean allowSql, int standIn) {
        public Trust {
            allowHosts = List.copyOf(allowHosts);
        }

        public Trust(Hidden secretKey, List<String> allowHosts, boolean allowSql) {
            this(secretKey, allowHosts, allowSql, 0);
        }

        static Trust of(boolean dev) {
            return new Trust(Hidden.NOTHING, List.of(), dev);
        }
    }

    /**
     * Limits of the server.
     *
     * @param depth longest chain of runs that start each other
     * @param schedules maximum number of schedules per workspace
     */
    public record Bounds(int depth, int schedules) {
        public static final Bounds USUAL = new Bounds(16, 1_000);
    }

    /**
     * Reverse proxies in front of the server, and its public URL.
     *
     * @param proxies proxies whose X-Forwarded-For is trusted
     * @param home public URL such as `https://semel.example.com`; empty if it is not set
     */
    public record Front(Proxies proxies, String home) {
        public static final Front NOTHING = new Front(Proxies.NONE, "");

        public Front {
            home = home.isEmpty() ? "" : Registration.home(home);
        }
    }

    /** With default limits. */
    public ServeOptions(
            boolean dev,
            boolean demo,
            String host,
            int port,
            Path data,
            String store,
            @Nullable Path workflows,
            String name,
            Duration grace,
            Trust trust,
            Map<String, Duration> keep) {
        this(
                dev,
                demo,
                host,
                port,
                data,
                store,
                workflows,
                name,
                grace,
                trust,
                keep,
                Bounds.USUAL,
                null,
                Front.NOTHING);
    }

    public ServeOptions within(Bounds other) {
        return new ServeOptions(
                dev, demo, host, port, data, store, workflows, name, grace, trust, keep, other, logIn, front);
    }

    /** With an identity provider; null for none. */
    public ServeOptions loggingInWith(@Nullable Registration provider) {
        return new ServeOptions(
                dev, demo, host, port, data, store, workflows, name, grace, trust, keep, bounds, provider, front);
    }

    public ServeOptions behind(Front other) {
        return new ServeOptions(
                dev, demo, host, port, data, store, workflows, name, grace, trust, keep, bounds, logIn, other);
    }

    /** With default name, grace and limits, and without a key for secrets. */
    public ServeOptions(
            boolean dev, boolean demo, String host, int port, Path data, String store, @Nullable Path workflows) {
        this(dev, demo, host, port, data, store, workflows, "", USUAL_GRACE, Trust.of(dev), Map.of());
    }

    public ServeOptions withSecretKey(String text) {
        Trust with = new Trust(new Hidden(text), trust.allowHosts(), trust.allowSql(), trust.standIn());
        return new ServeOptions(
                dev, demo, host, port, data, store, workflows, name, grace, with, keep, bounds, logIn, front);
    }

    public ServeOptions allowing(List<String> hosts, boolean sql) {
        Trust with = new Trust(trust.secretKey(), hosts, sql, trust.standIn());
        return new ServeOptions(
                dev, demo, host, port, data, store, workflows, name, grace, with, keep, bounds, logIn, front);
    }

    /** Key that encrypts stored secrets. */
    public Hidden secretKey() {
        return trust.secretKey();
    }

    public List<String> allowHosts() {
        return trust.allowHosts();
    }

    public ServeOptions {
        keep = Map.copyOf(keep);
        Guard.of(dev, trust.allowHosts()); // rejects invalid hosts
        if (trust.standIn() != 0 && !dev) {
            throw new IllegalArgumentException("only dev may redirect the calls of steps to a stub");
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
        if (bounds.depth() < 1 || bounds.depth() > 1_000) {
            throw new IllegalArgumentException("--max-depth must be 1 to 1000, not " + bounds.depth());
        }
        if (bounds.schedules() < 0 || bounds.schedules() > 1_000_000) {
            throw new IllegalArgumentException("--max-schedules must be 0 to 1000000, not " + bounds.schedules());
        }
        if (grace.isNegative() || grace.compareTo(Duration.ofHours(1)) > 0) {
            throw new IllegalArgumentException("--grace must be at most 1h");
        }
        if (!store.startsWith("sqlite:") && !store.startsWith("jdbc:postgresql:")) {
            throw new IllegalArgumentException("store must begin with sqlite: or jdbc:postgresql:");
        }
    }
}
