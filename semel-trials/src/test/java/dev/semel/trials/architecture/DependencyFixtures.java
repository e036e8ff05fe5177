package dev.semel.trials.architecture;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import java.io.StringWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.tools.ToolProvider;

/**
 * A small codebase per dependency rule. The rule must report every class named {@code Bad…} and no other.
 *
 * <p>A line is a class of the package before its name: an empty one, one that {@code uses} types, or one with members.
 * {@code ~} stands for the base package of the fixture. A used type that has no line of its own is an empty class.
 */
final class DependencyFixtures {
    private static final String BASE = "fixture.";
    private static final Pattern RELATIVE = Pattern.compile("~((?:[a-z]\\w*\\.)*[A-Z]\\w*)");

    private static final String CLASSES = """
        rule api
        server.operations.BadCommand uses ~server.cli.Send
        server.operations.BadEngine uses ~engine.Loop
        server.operations.BadNeighbour uses ~server.dashboard.Page
        server.operations.BadSql { String state(SQLException failure) { return failure.getSQLState(); } }
        server.operations.BadStore uses ~store.sqlite.Dialect
        server.operations.Compliant uses ~admission.Policy ~runtime.Runtime ~server.files.definition.Definition
            ~server.http.Router
        server.operations.Reads uses ~store.Port

        rule checkers
        BadChecker { static String name(dev.semel.run.RunId run) { return run.text(); } }
        Compliant { static String name(byte[] run) { return HexFormat.of().formatHex(run); } }

        rule cli
        server.cli.BadEngine uses ~engine.Loop
        server.cli.BadKey uses ~idempotency.Policy
        server.cli.BadSql { String state(SQLException failure) { return failure.getSQLState(); } }
        server.cli.BadTop uses ~Top
        server.cli.Compliant uses ~error.Code ~json.Text ~server.files.definition.Definition

        rule cycles
        engine.BadLoop uses ~admission.Compliant ~store.BadPort
        store.BadPort uses ~engine.BadLoop

        rule dashboard
        server.dashboard.BadCommand uses ~server.cli.Send
        server.dashboard.BadEngine uses ~engine.Loop
        server.dashboard.BadNeighbour uses ~server.operations.Page
        server.dashboard.BadPort uses ~store.Port
        server.dashboard.BadSql { String state(SQLException failure) { return failure.getSQLState(); } }
        server.dashboard.BadStore uses ~store.sqlite.Dialect
        server.dashboard.BadTop uses ~Top
        server.dashboard.Compliant uses ~json.Json ~server.access.Users ~server.http.Router

        rule definition
        server.files.definition.BadEngine uses ~engine.Loop
        server.files.definition.BadRun uses ~run.Name
        server.files.definition.BadTop uses ~Top
        server.files.definition.Compliant uses ~idempotency.Policy ~effect.Protection ~error.Code ~json.Text
            ~workflow.Body
        server.files.definition.step.BadStore uses ~store.Port

        rule engine
        engine.BadPool uses javax.sql.DataSource
        engine.BadPostgres uses ~store.postgres.Dialect
        engine.BadSql { void close(Connection connection) throws SQLException { connection.close(); } }
        engine.BadSqlite uses ~store.sqlite.Dialect
        engine.Compliant uses ~store.Port
        store.sqlite.Dialect {
            int size() { return 1; } void close(Connection connection) throws SQLException { connection.close();
            } }

        rule expressions
        admission.BadCollections { List<String> none() { return com.google.common.collect.ImmutableList.of(); } }
        server.BadSchema uses com.networknt.schema.Schema
        server.cli.BadExpression uses dev.cel.runtime.CelRuntime
        server.files.definition.Reader {
            org.snakeyaml.engine.v2.api.LoadSettings settings() { return
            org.snakeyaml.engine.v2.api.LoadSettings.builder().build(); } }
        server.operations.BadYaml {
            org.snakeyaml.engine.v2.api.LoadSettings settings() { return
            org.snakeyaml.engine.v2.api.LoadSettings.builder().build(); } }
        server.operations.Compliant

        rule helidon
        server.http.Router {
            String look(io.helidon.webserver.http.ServerRequest request) { return request.path().path(); } }
        server.operations.BadHelidon {
            String look(io.helidon.webserver.http.ServerRequest request) { return request.path().path(); } }
        server.operations.Compliant

        rule hidden_threads
        engine.BadAsync { CompletableFuture<Void> run(Runnable work) { return CompletableFuture.runAsync(work); } }
        engine.BadLocal { static final ThreadLocal<String> RUN = new ThreadLocal<>(); }
        engine.BadParallel {
            int sum(List<Integer> numbers) { return
            numbers.stream().parallel().mapToInt(Integer::intValue).sum(); } }
        engine.ClockAndRandomSource { Thread start(Runnable work) { return Thread.startVirtualThread(work); } }
        engine.Compliant {
            static final ScopedValue<String> RUN = ScopedValue.newInstance(); CompletableFuture<Void>
            run(Runnable work, Executor executor) { return CompletableFuture.runAsync(work, executor); } }
        testing.BadParallelList { long count(List<Integer> numbers) { return numbers.parallelStream().count(); } }

        rule http
        server.http.BadDefinition uses ~server.files.definition.Model
        server.http.BadLibrary { picocli.CommandLine line() { return new picocli.CommandLine(this); } }
        server.http.BadRun uses ~run.Name
        server.http.BadSql { String state(SQLException failure) { return failure.getSQLState(); } }
        server.http.BadTop uses ~Top
        server.http.Compliant uses ~error.Code io.helidon.webserver.http.ServerRequest
            org.jspecify.annotations.Nullable tools.jackson.databind.JsonNode

        rule ingress
        server.connectors.ingress.BadEngine uses ~engine.Loop
        server.connectors.ingress.BadRoute uses ~server.operations.Routes
        server.connectors.ingress.Compliant uses ~store.Write

        rule jdbc
        store.jdbc.BadEngine uses ~engine.Loop
        store.jdbc.BadPostgres uses ~store.postgres.Dialect
        store.jdbc.BadSqlite uses ~store.sqlite.Dialect
        store.jdbc.Compliant

        rule junit
        engine.BadLoop { void fail() { throw new org.opentest4j.AssertionFailedError("no"); } }
        testing.BadTestKit { void fail() { org.junit.jupiter.api.Assertions.fail(); } }
        testing.Compliant { void fail() { throw new AssertionError(); } }
        testing.junit.Extension { void fail() { org.junit.jupiter.api.Assertions.fail(); } }

        rule outbound
        server.connectors.outbound.BadStep uses ~server.files.steps.StepContext
        server.connectors.outbound.BadStore uses ~store.Rows
        server.connectors.outbound.Compliant uses ~workflow.Failures

        rule payloads
        server.query.BadPattern {
            public String view(Object row) { return row instanceof ~store.DatabaseRows.RunRow(String id, String
            input) ? id + input : ""; } }
        server.query.BadReference {
            List<String> view(List<~store.DatabaseRows.RunRow> runs) { return
            runs.stream().map(~store.DatabaseRows.RunRow::input).toList(); } }
        server.query.BadView { String view(~store.DatabaseRows.RunRow run) { return run.id() + run.input(); } }
        server.query.Compliant {
            String view(~store.DatabaseRows.RunRow run) { return run.id() +
            ~server.query.UnmaskedPiiValue.length(run); } }
        server.query.UnmaskedPiiValue {
            static int length(~store.DatabaseRows.RunRow run) { return run.input().length(); } }
        store.DatabaseRows { public record RunRow(String id, String input) {} }

        rule picocli
        engine.BadOptions { picocli.CommandLine line() { return new picocli.CommandLine(this); } }
        server.BadConfig { picocli.CommandLine line() { return new picocli.CommandLine(this); } }
        server.Compliant
        server.Main { picocli.CommandLine line() { return new picocli.CommandLine(this); } }
        server.cli.Send { picocli.CommandLine line() { return new picocli.CommandLine(this); } }

        rule port
        store.BadChoice uses ~store.sqlite.Dialect
        store.BadEngine uses ~engine.Loop
        store.BadPort { void write(Connection connection) throws SQLException { connection.commit(); } }
        store.Compliant
        store.sqlite.Dialect {
            int size() { return 1; } void close(Connection connection) throws SQLException { connection.close();
            } }

        rule postgres
        store.postgres.BadDriver {
            String state(org.sqlite.SQLiteException failure) { return failure.getMessage(); } }
        store.postgres.BadEngine uses ~engine.Loop
        store.postgres.BadSibling uses ~store.sqlite.Dialect
        store.postgres.Compliant uses ~store.Port ~store.jdbc.Shared

        rule pure
        admission.BadClock { Instant at() { return Instant.now(); } }
        admission.BadEnvironment { boolean strict() { return Boolean.parseBoolean(System.getProperty("strict")); } }
        admission.BadStopwatch { long nanos() { return System.nanoTime(); } }
        admission.BadZone { ZoneId zone() { return ZoneId.systemDefault(); } }
        admission.Compliant {
            String write(Clock clock, Instant at, java.net.URI name) { StringWriter out = new StringWriter();
            out.append(LocalDate.now(clock).toString()).append(at.toString()).append(name.toString()); return
            out.toString(); } }
        effect.BadChance { String id() { return UUID.randomUUID().toString(); } }
        engine.Shell { Instant at() { return Instant.now(); } }
        error.BadSql { String state(SQLException failure) { return failure.getSQLState(); } }
        journal.BadFile {
            String text(java.nio.file.Path path) throws IOException { return
            java.nio.file.Files.readString(path); } }
        journal.BadPrint { void say() { System.out.println("said"); } }
        json.BadLog { void say() { System.getLogger("json").log(System.Logger.Level.INFO, "said"); } }
        json.BadLogger { void say() { org.slf4j.LoggerFactory.getLogger("json").info("said"); } }
        run.BadLock { private int count; synchronized int next() { return ++count; } }
        run.BadMap { Map<String, String> seen() { return new ConcurrentHashMap<>(); } }
        run.BadThread { Thread start(Runnable work) { return Thread.ofPlatform().start(work); } }

        rule pure_among_themselves
        admission.BadStore uses ~store.Port
        admission.Compliant uses ~run.Name
        error.BadServer uses ~server.operations.Triggers
        journal.BadEngine uses ~engine.Loop
        run.BadTop uses ~Top

        rule root_package
        OwnNeighbour uses ~Top
        Top uses ~engine.Loop
        engine.BadCaller uses ~Top
        server.Wiring uses ~Top
        testing.TestKit uses ~Top
        testing.junit.Extension uses ~Top

        rule settings
        server.settings.BadEngine uses ~engine.Loop
        server.settings.BadSender uses ~server.connectors.channel.Mail
        server.settings.Compliant uses ~store.Edit

        rule sqlite
        store.sqlite.BadDriver {
            String state(org.postgresql.util.PSQLException failure) { return failure.getMessage(); } }
        store.sqlite.BadEngine uses ~engine.Loop
        store.sqlite.BadSibling uses ~store.postgres.Dialect
        store.sqlite.Compliant uses ~store.Port ~store.jdbc.Shared

        rule steps
        server.files.steps.BadEngine uses ~engine.Loop
        server.files.steps.BadSql uses Connection
        server.files.steps.BadView uses ~server.operations.Views
        server.files.steps.Compliant uses ~workflow.Durable
        server.files.steps.effects.TxStepAction uses Connection

        rule templates
        server.dashboard.Page { gg.jte.ContentType type() { return gg.jte.ContentType.Html; } }
        server.operations.BadView { gg.jte.ContentType type() { return gg.jte.ContentType.Html; } }
        server.operations.Compliant

        rule testing
        engine.BadTestKit uses ~testing.TestKit
        engine.Compliant
        server.demo.BadDemo uses ~testing.TestKit
        testing.OwnNeighbour uses ~testing.TestKit

        rule time_and_randomness
        BadSecret {
            byte[] secret() { byte[] bytes = new byte[32]; new java.security.SecureRandom().nextBytes(bytes);
            return bytes; } }
        engine.BadClock { long at() { return System.currentTimeMillis(); } }
        engine.BadLambda { Supplier<Instant> clock() { return () -> Instant.now().plusSeconds(1); } }
        engine.BadReference { Supplier<Instant> clock() { return Instant::now; } }
        engine.BadSource { InstantSource clock() { return InstantSource.system(); } }
        engine.BadSystemClock { Clock clock() { return Clock.systemUTC(); } }
        engine.ClockAndRandomSource {
            Instant now() { return Instant.now(); } static final class Ids { String next() { return
            UUID.randomUUID().toString(); } } }
        engine.Compliant {
            Instant later(InstantSource clock, java.util.random.RandomGenerator chance) { return
            clock.instant().plusMillis(chance.nextInt(100)); } }
        server.Main { Instant at() { return Instant.now(); } }
        store.sqlite.BadJitter { double jitter() { return Math.random(); } }
        testing.BadId { String id() { return UUID.randomUUID().toString(); } }

        rule unmasked
        server.operations.run.BadView { public String view() { return ~server.query.RunPiiMaskFactory.noMask(); } }
        server.operations.run.RunPiiRevealRoutes {
            public String reveal() { return ~server.query.RunPiiMaskFactory.noMask(); } }
        server.query.Compliant { String view(String run) { return ~server.query.RunPiiMaskFactory.of(run); } }
        server.query.RunPiiMaskFactory {
            public static String noMask() { return ""; } public static String of(String run) { return run; } }

        rule virtual_threads
        engine.BadExecutor { ExecutorService executor() { return Executors.newVirtualThreadPerTaskExecutor(); } }
        engine.BadStart { Thread start(Runnable work) { return Thread.startVirtualThread(work); } }
        engine.BadThread { Thread start(Runnable work) { return Thread.ofVirtual().start(work); } }
        engine.ClockAndRandomSource { Thread start(Runnable work) { return Thread.startVirtualThread(work); } }
        store.BadNap { void pause() throws InterruptedException { TimeUnit.SECONDS.sleep(1); } }
        store.BadSleep { void pause() throws InterruptedException { Thread.sleep(1); } }
        store.sqlite.Compliant {
            Thread writer(Runnable work) { return Thread.ofPlatform().name("writer").start(work); } }
        testing.TestKit { Thread start(Runnable work) { return Thread.startVirtualThread(work); } }

        rule webhooks
        server.connectors.webhooks.BadEngine uses ~engine.Loop
        server.connectors.webhooks.BadView uses ~server.operations.Views
        server.connectors.webhooks.Compliant uses ~server.connectors.ingress.Event

        rule workflow
        workflow.BadClock { Instant look() { return Instant.now(); } }
        workflow.BadSocket { java.net.Socket open() throws IOException { return new java.net.Socket(); } }
        workflow.BadSql { void commit(Connection sql) throws SQLException { sql.commit(); } }
        workflow.BadThread { Thread start(Runnable work) { return Thread.ofPlatform().start(work); } }
        workflow.Compliant {
            private static final ScopedValue<String> CURRENT = ScopedValue.newInstance(); interface Work<T> { T
            run(Connection sql) throws Exception; } <T> T during(String step, Callable<T> work) throws Exception
            { return ScopedValue.where(CURRENT, step).call(work::call); } <T> T handed(Connection sql, Work<T>
            work) throws Exception { return work.run(sql); } }
        """;

    private final Path folder;

    private DependencyFixtures(Path folder) {
        this.folder = folder;
    }

    /** The fixture of this rule. */
    static PackageLayout layout(String rule) {
        return new PackageLayout(BASE + rule);
    }

    /** Compiles all fixtures into the folder. */
    static DependencyFixtures compile(Path folder) {
        List<SourceFile> files = new ArrayList<>();
        for (String rule : CLASSES.split("\n\n")) {
            int end = rule.indexOf('\n');
            String base = BASE + rule.substring("rule ".length(), end);
            sources(base, rule.substring(end + 1)).forEach((name, text) -> files.add(file(name, text)));
        }
        var compiler = Objects.requireNonNull(ToolProvider.getSystemJavaCompiler(), "Tests need a JDK, not a JRE.");
        String classPath = System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
        List<String> options = List.of("-proc:none", "-d", folder.toString(), "-cp", classPath);
        StringWriter errors = new StringWriter();
        var units = files.stream().map(ParsedJava::inMemory).toList();
        if (!compiler.getTask(errors, null, null, options, null, units).call()) {
            throw new IllegalStateException("A fixture does not compile:\n" + errors);
        }
        return new DependencyFixtures(folder);
    }

    JavaClasses classes(String rule) {
        return new ClassFileImporter()
                .importPath(folder.resolve(layout(rule).base().replace('.', '/')));
    }

    /** Class name to source. */
    private static Map<String, String> sources(String base, String lines) {
        Map<String, String> sources = new LinkedHashMap<>();
        for (String line : lines.split("\n(?! )")) {
            String[] words = line.strip().split("\\s+", 3);
            String members = switch (words.length == 1 ? "" : words[1]) {
                case "" -> "}";
                case "uses" -> "static final Class<?>[] USED = {" + words[2].replaceAll("\\s+|$", ".class, ") + "};}";
                default -> words[2];
            };
            sources.put(base + "." + words[0], RELATIVE.matcher(members).replaceAll(base + ".$1"));
        }
        Matcher used = RELATIVE.matcher(lines);
        while (used.find()) {
            sources.putIfAbsent(base + "." + used.group(1), "}");
        }
        return sources;
    }

    private static SourceFile file(String name, String members) {
        int dot = name.lastIndexOf('.');
        String text = "package " + name.substring(0, dot) + ";"
                + "import java.io.*; import java.sql.*; import java.time.*; import java.util.*;"
                + "import java.util.concurrent.*; import java.util.function.*;"
                + "public class " + name.substring(dot + 1) + " {" + members;
        return new SourceFile(name.replace('.', '/') + ".java", text);
    }
}
