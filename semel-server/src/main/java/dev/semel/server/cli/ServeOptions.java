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
 * What `semel dev` and `semel serve` were asked to do, already checked.
 *
 * @param dev loopback only, bearer token `dev`, workspace `default`
 * @param demo add the example workflow; in dev also those that call others, and a playground of those others
 * @param port 0 lets the system choose a free one
 * @param data folder for what the server keeps; it may not exist yet
 * @param store `sqlite:FILE` or `jdbc:postgresql://…`
 * @param name what `semel workers` shows; empty: process, machine and port
 * @param grace how long runs may go on after SIGTERM before they are handed over
 * @param keep how long things are kept, by the words of {@link #KEPT}; what is not named is kept as usual
 * @param bounds what nobody may go beyond
 * @param logIn the identity provider that people log in with; null where there is none
 * @param front where browsers find it, and what stands between
 * @param workflows folder of workflow files; null where none was named (and, in dev, there is no ./workflows)
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
    /** What `--keep` knows. */
    public static final List<String> KEPT =
            List.of("runs", "tombstones", "payloads", "requests", "ticks", "events", "audit");

    private static final Duration USUAL_GRACE = Duration.ofSeconds(10);

    /** A text that is never printed. */
    public record Hidden(String text) {
        public static final Hidden NOTHING = new Hidden("");

        @Override
        public String toString() {
            return "•••";
        }
    }

    /**
     * What steps may do and see.
     *
     * @param secretKey what SEMEL_SECRET_KEY says; empty where it says nothing
     * @param allowHosts hosts that steps may call wherever their names lead, as `NAME` or `NAME:PORT`
     * @param allowSql whether files may run SQL in the store's database
     * @param standIn a port of this machine that answers in the place of everybody whom steps call; 0 for a real server
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
     * What nobody may go beyond.
     *
     * @param depth so many runs may have started each other
     * @param schedules so many a workspace may have
     */
    public record Bounds(int depth, int schedules) {
        public static final Bounds USUAL = new Bounds(16, 1_000);
    }

    /**
     * What stands between browsers and this server.
     *
     * @param proxies whose word is taken about where a request comes from
     * @param home where browsers find it, such as `https://semel.example.com`; empty where nobody said
     */
    public record Front(Proxies proxies, String home) {
        public static final Front NOTHING = new Front(Proxies.NONE, "");

        public Front {
            home = home.isEmpty() ? "" : Registration.home(home);
        }
    }

    /** With the usual bounds. */
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

    /** With a name of its own, the usual grace, and no key for secrets. */
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

    /** The key for secrets. */
    public Hidden secretKey() {
        return trust.secretKey();
    }

    public List<String> allowHosts() {
        return trust.allowHosts();
    }

    public ServeOptions {
        keep = Map.copyOf(keep);
        Guard.of(dev, trust.allowHosts()); // refuses what is no host
        if (trust.standIn() != 0 && !dev) {
            throw new IllegalArgumentException("only dev may have a stand-in for those whom steps call");
        }
        if (host.isBlank()) {
            throw new IllegalArgumentException("host must not be empty");
        }
        if (port < 0 || port > 65_535) {
            throw new IllegalArgumentException("port must be between 0 and 65535, not " + port);
        }
        if (name.length() > 100 || name.chars().anyMatch(Character::isISOControl)) {
            throw new IllegalArgumentException("a name has at most 100 characters, all of them printable");
        }
        if (bounds.depth() < 1 || bounds.depth() > 1_000) {
            throw new IllegalArgumentException("--max-depth is 1 to 1000, not " + bounds.depth());
        }
        if (bounds.schedules() < 0 || bounds.schedules() > 1_000_000) {
            throw new IllegalArgumentException("--max-schedules is 0 to 1000000, not " + bounds.schedules());
        }
        if (grace.isNegative() || grace.compareTo(Duration.ofHours(1)) > 0) {
            throw new IllegalArgumentException("the grace is at most 1h");
        }
        if (!store.startsWith("sqlite:") && !store.startsWith("jdbc:postgresql:")) {
            throw new IllegalArgumentException("store must begin with sqlite: or jdbc:postgresql:");
        }
    }
}
