package dev.semel.trials.architecture;

import static dev.semel.trials.architecture.Dependency.calls;
import static dev.semel.trials.architecture.Dependency.member;
import static dev.semel.trials.architecture.Dependency.packages;
import static dev.semel.trials.architecture.Dependency.types;

import java.util.function.Predicate;

/** APIs that the dependency rules restrict: time, randomness, threads, SQL, network, files, logs. */
final class RestrictedApis {
    /** Without {@code now(clock)}: a clock that is passed in is the replacement. */
    static final Predicate<Dependency> TIME = packages("java.time")
            .and(member("now"))
            .and(dependency -> !dependency.takes("java.time.Clock"))
            .or(packages("java.time").and(member("system", "systemUTC", "systemDefaultZone", "systemDefault")))
            .or(packages("java.time").and(member("tickMillis", "tickSeconds", "tickMinutes")))
            .or(calls("java.lang.System.currentTimeMillis", "java.lang.System.nanoTime"))
            .or(calls("java.util.Calendar.getInstance"))
            .or(calls("java.util.Date.<init>")
                    .and(dependency -> dependency.parameters().isEmpty()));

    static final Predicate<Dependency> RANDOMNESS = calls("java.util.UUID.randomUUID", "java.lang.Math.random")
            .or(calls("java.util.Random.<init>", "java.security.SecureRandom.<init>"))
            .or(calls("java.util.SplittableRandom.<init>", "java.util.concurrent.ThreadLocalRandom.current"))
            .or(calls("java.security.SecureRandom.getInstanceStrong", "java.security.SecureRandom.getInstance"))
            .or(types("java.util.random.RandomGenerator").and(member("getDefault", "of")))
            .or(calls("java.util.Collections.shuffle")
                    .and(dependency -> dependency.parameters().size() == 1));

    /** Without platform threads: the stores need them, because native calls pin a carrier thread. */
    static final Predicate<Dependency> VIRTUAL_THREADS = calls(
                    "java.lang.Thread.ofVirtual", "java.lang.Thread.startVirtualThread")
            .or(packages("java.util.concurrent")
                    .and(member("newVirtualThreadPerTaskExecutor", "newThreadPerTaskExecutor")))
            .or(calls("java.lang.Thread.sleep", "java.util.concurrent.TimeUnit.sleep"));

    /** Banned everywhere, also in the engine environment. */
    static final Predicate<Dependency> HIDDEN_THREADS = types(
                    "java.lang.ThreadLocal", "java.lang.InheritableThreadLocal")
            .or(types("java.util.concurrent.ForkJoinPool"))
            .or(member("parallelStream"))
            .or(packages("java.util.stream").and(member("parallel")))
            .or(calls("java.util.Arrays.parallelSort", "java.util.Arrays.parallelSetAll"))
            .or(types("java.util.concurrent.CompletableFuture")
                    .and(dependency -> dependency.member().endsWith("Async"))
                    .and(dependency -> !dependency.takes("java.util.concurrent.Executor")));

    static final Predicate<Dependency> THREADS_AND_LOCKS = types("java.lang.Thread", "java.lang.ScopedValue")
            .or(types("java.lang.ThreadLocal", "java.lang.InheritableThreadLocal"))
            .or(packages("java.util.concurrent")
                    .and(types("java.util.concurrent.TimeUnit").negate()))
            .or(member("synchronized"))
            .or(calls("java.lang.Object.wait", "java.lang.Object.notify", "java.lang.Object.notifyAll"))
            .or(VIRTUAL_THREADS)
            .or(HIDDEN_THREADS);

    static final Predicate<Dependency> SQL = packages("java.sql", "javax.sql");

    /** Without names and encodings, which are values. */
    static final Predicate<Dependency> NETWORK = packages("java.net")
            .and(types("java.net.URI", "java.net.URISyntaxException", "java.net.URLEncoder", "java.net.URLDecoder")
                    .negate());

    /** Without streams over memory; with {@code System.out}, which is a {@code PrintStream}. */
    static final Predicate<Dependency> FILES = packages("java.io")
            .and(types("java.io.Serializable", "java.io.IOException", "java.io.UncheckedIOException")
                    .negate())
            .and(types("java.io.ByteArrayInputStream", "java.io.ByteArrayOutputStream")
                    .negate())
            .and(types("java.io.StringReader", "java.io.StringWriter", "java.io.Closeable")
                    .negate())
            .and(types("java.io.InputStream", "java.io.OutputStream", "java.io.Reader", "java.io.Writer")
                    .negate())
            .or(packages("java.nio.file", "java.nio.channels"));

    static final Predicate<Dependency> LOGS =
            packages("org.slf4j", "java.util.logging").or(types("java.lang.System$Logger"));

    static final Predicate<Dependency> PROCESS = types(
                    "java.lang.Runtime", "java.lang.Process", "java.lang.ProcessBuilder")
            .or(calls("java.lang.System.getenv", "java.lang.System.getProperty", "java.lang.System.exit"));

    /** Everything by which code reaches beyond its arguments. */
    static final Predicate<Dependency> SIDE_EFFECTS = SQL.or(NETWORK)
            .or(FILES)
            .or(TIME)
            .or(RANDOMNESS)
            .or(THREADS_AND_LOCKS)
            .or(LOGS)
            .or(PROCESS);

    /**
     * A connection that is passed on and not used, the exception that user code of a `tx` step throws, a scoped binding,
     * and the stream that reveals the name of a method reference.
     */
    static final Predicate<Dependency> PASSED_THROUGH = types("java.sql.Connection")
            .and(member(""))
            .or(types("java.sql.SQLException"))
            .or(types("java.lang.ScopedValue", "java.util.concurrent.Callable", "java.io.ObjectOutputStream"));

    private RestrictedApis() {}
}
