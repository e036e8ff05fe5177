package dev.semel.trials.architecture;

import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static dev.semel.trials.architecture.Dependency.calls;
import static dev.semel.trials.architecture.Dependency.packages;
import static dev.semel.trials.architecture.Dependency.type;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.lang.ArchRule;
import com.tngtech.archunit.library.dependencies.SliceAssignment;
import com.tngtech.archunit.library.dependencies.SliceIdentifier;
import java.util.List;
import java.util.function.Predicate;
import java.util.stream.Stream;

/** The dependency rules: which packages may use which packages and APIs. */
record DependencyRules(PackageLayout layout) {
    /** What a workflow declares, without its execution. */
    private static final String[] DECLARATIONS = {
        "idempotency", "definition", "policy", "workflow", "effect", "json", "error"
    };

    List<DependencyRule> all() {
        return Stream.of(core(), stores(), environment(), server(), masks(), files(), libraries())
                .flatMap(List::stream)
                .toList();
    }

    private List<DependencyRule> core() {
        return List.of(
                new DependencyRule(
                        "pure",
                        layout.in(PackageLayout.PURE)
                                .and(layout.in("definition", "workflow").negate()),
                        RestrictedApis.SIDE_EFFECTS,
                        "a pure package decides and has no side effects. Take time, ids and randomness as arguments,"
                                + " return a decision, and let the engine act"),
                new DependencyRule(
                        "workflow",
                        layout.in("definition", "workflow"),
                        RestrictedApis.SIDE_EFFECTS.and(RestrictedApis.PASSED_THROUGH.negate()),
                        "the API for workflow authors has no side effects. It passes their code and a connection on,"
                                + " binds the running step, and leaves the rest to the engine"),
                new DependencyRule(
                        "pure_among_themselves",
                        layout.in(PackageLayout.PURE),
                        type(layout.ours())
                                .and(type(layout.in(PackageLayout.PURE)).negate()),
                        "a pure package uses pure packages only. Move the shared type into the pure package that owns"
                                + " it"),
                new DependencyRule(
                        "engine",
                        layout.in("engine"),
                        RestrictedApis.SQL
                                .and(RestrictedApis.PASSED_THROUGH.negate())
                                .or(type(layout.in("store.jdbc", "store.sqlite", "store.postgres"))),
                        "the engine uses the store port. Add a named write or query to the store package"),
                new DependencyRule(
                        "root_package",
                        layout.core()
                                .and(layout.exactly("").negate())
                                .and(layout.in("runtime", "testing").negate()),
                        type(layout.exactly("")).or(type(layout.in("runtime"))),
                        "the root package and runtime wire the others, and only the test kit may use them. Take what"
                                + " you need as an argument"),
                new DependencyRule(
                        "testing",
                        layout.ours().and(layout.in("testing").negate()),
                        type(layout.in("testing")),
                        "the test kit is for tests. Move what production needs into the package that owns it"));
    }

    private List<DependencyRule> stores() {
        return List.of(
                new DependencyRule(
                        "port",
                        layout.exactly("store"),
                        RestrictedApis.SQL
                                .and(RestrictedApis.PASSED_THROUGH.negate())
                                .or(type(layout.in(
                                        "engine", "testing", "store.jdbc", "store.sqlite", "store.postgres"))),
                        "the port contains no SQL. Put the statement beside the method that runs it, in each dialect"),
                new DependencyRule(
                        "sqlite",
                        layout.in("store.sqlite"),
                        type(layout.in("engine", "store.postgres")).or(packages("org.postgresql", "com.zaxxer.hikari")),
                        "a dialect uses the port and its own database. Share JDBC code in store.jdbc"),
                new DependencyRule(
                        "postgres",
                        layout.in("store.postgres"),
                        type(layout.in("engine", "store.sqlite")).or(packages("org.sqlite")),
                        "a dialect uses the port and its own database. Share JDBC code in store.jdbc"),
                new DependencyRule(
                        "jdbc",
                        layout.in("store.jdbc"),
                        type(layout.in("engine", "store.sqlite", "store.postgres")),
                        "code that both dialects share uses neither. Take the difference as an argument"));
    }

    private List<DependencyRule> environment() {
        Predicate<JavaClass> outside =
                layout.core().and(layout.file(PackageLayout.ENVIRONMENT).negate());
        return List.of(
                new DependencyRule(
                        "time_and_randomness",
                        outside,
                        RestrictedApis.TIME.or(RestrictedApis.RANDOMNESS),
                        "only engine.ClockAndRandomSource reads the clock and creates ids and random numbers. Take an"
                                + " InstantSource, an id or a RandomGenerator as an argument"),
                new DependencyRule(
                        "virtual_threads",
                        outside.and(layout.in("testing").negate()),
                        RestrictedApis.VIRTUAL_THREADS,
                        "only engine.ClockAndRandomSource starts virtual threads and sleeps. Take an Executor as an"
                                + " argument; wait on a signal or a timer of the engine"),
                new DependencyRule(
                        "hidden_threads",
                        layout.core(),
                        RestrictedApis.HIDDEN_THREADS,
                        "no ThreadLocal (bind a ScopedValue), no parallel streams and no common pool (use a plain"
                                + " loop, or pass an executor in)"));
    }

    private List<DependencyRule> server() {
        Predicate<Dependency> core = type(layout.core());
        return List.of(
                new DependencyRule(
                        "http",
                        layout.in("server.http"),
                        packages("java", "javax", "jdk", "io.helidon", "tools.jackson", "com.fasterxml.jackson")
                                .and(RestrictedApis.SQL.negate())
                                .or(packages("org.jspecify"))
                                .or(type(layout.in("server.http", "error")))
                                .negate(),
                        "server.http uses the JDK, Helidon, Jackson and Semel's errors, and nothing about runs. Pass a"
                                + " handler in"),
                new DependencyRule(
                        "api",
                        layout.in("server.operations", "server.query").or(layout.file("server.ApiRoutes")),
                        RestrictedApis.SQL
                                .or(engineInternals())
                                .or(type(layout.in("server.cli", "server.dashboard", "server.demo"))),
                        "the API acts through runtime, not through the engine or a dialect. Add what is missing to"
                                + " runtime"),
                new DependencyRule(
                        "webhooks",
                        layout.in("server.connectors.webhooks"),
                        RestrictedApis.SQL
                                .or(engineInternals())
                                .or(type(layout.in("server")
                                        .and(layout.in(
                                                        "server.connectors.webhooks",
                                                        "server.connectors.ingress",
                                                        "server.settings")
                                                .negate()))),
                        "connectors.webhooks verifies deliveries and passes events to connectors.ingress. Let the API"
                                + " handle HTTP"),
                new DependencyRule(
                        "dashboard",
                        layout.in("server.dashboard"),
                        RestrictedApis.SQL
                                .or(core.and(type(layout.in("error", "json")).negate()))
                                .or(type(layout.in("server")
                                        .and(layout.in("server.dashboard", "server.http", "server.access")
                                                .negate()))),
                        "the dashboard calls the API of its own process, like any client. Add what is missing to the"
                                + " API"),
                new DependencyRule(
                        "cli",
                        layout.in("server.cli"),
                        RestrictedApis.SQL.or(
                                core.and(type(layout.in("error", "json")).negate())),
                        "a command calls the server over HTTP, like any client. Add what is missing to the API"));
    }

    /** The API masks personal data; its views read payloads only through the classes that apply a mask. */
    private List<DependencyRule> masks() {
        return List.of(
                new DependencyRule(
                        "payloads",
                        apiExcept(PayloadAccess.READERS),
                        calls(PayloadAccess.COLUMNS.stream()
                                .map(column -> layout.base() + "." + column)
                                .toArray(String[]::new)),
                        "payloads are read through server.query.UnmaskedPiiValue, which becomes JSON only under a mask."
                                + " Use UnmaskedPiiValue"),
                new DependencyRule(
                        "unmasked",
                        apiExcept(PayloadAccess.UNMASKERS),
                        calls(layout.base() + ".server.query.RunPiiMaskFactory.noMask"),
                        "only a reveal with a reason and the response to the trigger's sender are unmasked. Get the"
                                + " mask of the run from RunPiiMaskFactory"));
    }

    private Predicate<JavaClass> apiExcept(List<String> trusted) {
        return trusted.stream()
                .map(name -> layout.file("server." + name).negate())
                .reduce(layout.in("server.operations", "server.query"), Predicate::and);
    }

    /** The core packages behind runtime and the store's port. */
    private Predicate<Dependency> engineInternals() {
        return type(layout.core())
                .and(type(layout.in("runtime")).negate())
                .and(type(layout.exactly("store")).negate())
                .and(type(layout.in(PackageLayout.PURE)).negate());
    }

    /** From the workflow file to the outbound request. */
    private List<DependencyRule> files() {
        Predicate<Dependency> core = type(layout.core());
        return List.of(
                new DependencyRule(
                        "definition",
                        layout.in("server.files.definition", "server.files.expressions", "server.files.yaml"),
                        RestrictedApis.SQL.or(
                                core.and(type(layout.in(DECLARATIONS).or(layout.in("schedule")))
                                        .negate())),
                        "server.files uses idempotency, workflow, schedule, effect, json and error only. Let the"
                                + " wiring pass in the rest"),
                new DependencyRule(
                        "settings",
                        layout.in("server.settings"),
                        RestrictedApis.SQL
                                .or(engineInternals())
                                .or(type(layout.in("server")
                                        .and(layout.in("server.settings", "server.files.yaml")
                                                .negate()))),
                        "settings are documents in the store and do not use the code that reads them. Let the wiring"
                                + " pass in a check"),
                new DependencyRule(
                        "ingress",
                        layout.in("server.connectors.ingress"),
                        RestrictedApis.SQL
                                .or(engineInternals())
                                .or(type(layout.in("server")
                                        .and(layout.in("server.connectors.ingress")
                                                .negate()))),
                        "connectors.ingress matches and admits events and ticks, without files or HTTP. Let the wiring"
                                + " pass in a check"),
                new DependencyRule(
                        "outbound",
                        layout.in("server.connectors.outbound"),
                        packages("java", "javax", "tools.jackson", "org.jspecify")
                                .and(RestrictedApis.SQL.negate())
                                .or(type(layout.in(
                                        "server.connectors.outbound", "definition", "workflow", "http", "error")))
                                .negate(),
                        "connectors.outbound sends requests and uses only the JDK, JSON and the failure types. Pass it"
                                + " a request"),
                new DependencyRule(
                        "steps",
                        layout.in("server.files.steps", "server.steps")
                                .and(layout.file("server.files.steps.effects.TxStepAction")
                                        .negate()),
                        RestrictedApis.SQL
                                .or(core.and(type(layout.in(DECLARATIONS)).negate()))
                                .or(type(layout.in(
                                        "server.operations", "server.query", "server.cli", "server.files.definition"))),
                        "a step kind uses what the engine offers to every workflow, and only tx steps use SQL. Get the"
                                + " rest from YamlStepDependencies"));
    }

    private List<DependencyRule> libraries() {
        return List.of(
                new DependencyRule(
                        "junit",
                        layout.ours().and(layout.in("testing.junit").negate()),
                        packages("org.junit", "org.opentest4j"),
                        "only testing.junit uses JUnit, so that production needs no JUnit. Throw an AssertionError"),
                new DependencyRule(
                        "helidon",
                        layout.ours().and(layout.in("server.http").negate()),
                        packages("io.helidon"),
                        "Helidon stays replaceable behind server.http. Use its Request and Response"),
                new DependencyRule(
                        "picocli",
                        layout.ours()
                                .and(layout.in("server.cli").negate())
                                .and(layout.file("server.Main").negate()),
                        packages("picocli"),
                        "picocli belongs to server.cli and server.Main. Take the parsed value as an argument"),
                new DependencyRule(
                        "templates",
                        layout.ours().and(layout.in("server.dashboard").negate()),
                        packages("gg.jte"),
                        "templates belong to server.dashboard. Return JSON, and let the dashboard render it"),
                new DependencyRule(
                        "expressions",
                        layout.ours().and(layout.in("server.files").negate()),
                        packages("dev.cel", "org.snakeyaml", "com.networknt", "com.google"),
                        "expressions, YAML and schemas belong to server.files. Use a compiled WorkflowDefinition"));
    }

    /**
     * No cycles between packages; code that wires two packages is in a package above both. A package for users and the
     * internal package that implements it count as one.
     */
    ArchRule noCycles() {
        SliceAssignment assignment = new SliceAssignment() {
            @Override
            public SliceIdentifier getIdentifierOf(JavaClass type) {
                return layout.ours().test(type)
                        ? SliceIdentifier.of(layout.implementedPackage(type))
                        : SliceIdentifier.ignore();
            }

            @Override
            public String getDescription() {
                return "packages";
            }
        };
        return slices().assignedFrom(assignment).should().beFreeOfCycles().allowEmptyShould(true);
    }
}
