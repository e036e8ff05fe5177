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

/** Who may touch whom. Data walks one way: doors, decide, run, act, remember. */
record DependencyRules(PackageLayout layout) {

    List<DependencyRule> all() {
        return Stream.of(core(), stores(), ambient(), server(), masks(), files(), libraries())
                .flatMap(List::stream)
                .toList();
    }

    private List<DependencyRule> core() {
        return List.of(
                new DependencyRule(
                        "pure",
                        layout.in(PackageLayout.PURE).and(layout.in("workflow").negate()),
                        RestrictedApis.SIDE_EFFECTS,
                        "a pure room decides and does not act. Take time, ids and chance as arguments, return a"
                                + " decision, and let the engine do the deed"),
                new DependencyRule(
                        "workflow",
                        layout.in("workflow"),
                        RestrictedApis.SIDE_EFFECTS.and(RestrictedApis.PASSED_THROUGH.negate()),
                        "what users write with does not act. It hands their code and a connection on, binds the step"
                                + " that is being done, and lets the engine do the rest"),
                new DependencyRule(
                        "pure_among_themselves",
                        layout.in(PackageLayout.PURE),
                        type(layout.ours()).and(type(layout.in(PackageLayout.PURE)).negate()),
                        "a pure room knows pure rooms only. Move the type they share into the pure room that owns it"),
                new DependencyRule(
                        "engine",
                        layout.in("engine"),
                        RestrictedApis.SQL
                                .and(RestrictedApis.PASSED_THROUGH.negate())
                                .or(type(layout.in("store.jdbc", "store.sqlite", "store.postgres"))),
                        "the engine writes through the port. Add a named write or read to the store room"),
                new DependencyRule(
                        "top",
                        layout.core()
                                .and(layout.exactly("").negate())
                                .and(layout.in("testing").negate()),
                        type(layout.exactly("")),
                        "the top joins the rooms, and of the rooms only the lab stands above it. Take what you need as"
                                + " an argument"),
                new DependencyRule(
                        "testing",
                        layout.ours().and(layout.in("testing").negate()),
                        type(layout.in("testing")),
                        "the lab is for tests. Move what production needs into the room that owns it"));
    }

    private List<DependencyRule> stores() {
        return List.of(
                new DependencyRule(
                        "port",
                        layout.exactly("store"),
                        RestrictedApis.SQL
                                .and(RestrictedApis.PASSED_THROUGH.negate())
                                .or(type(
                                        layout.in("engine", "testing", "store.jdbc", "store.sqlite", "store.postgres"))),
                        "the port has no SQL in it. Put the statement beside the method that runs it, in each dialect"),
                new DependencyRule(
                        "sqlite",
                        layout.in("store.sqlite"),
                        type(layout.in("engine", "store.postgres")).or(packages("org.postgresql", "com.zaxxer.hikari")),
                        "a dialect knows the port and its own database. Share JDBC code in store.jdbc"),
                new DependencyRule(
                        "postgres",
                        layout.in("store.postgres"),
                        type(layout.in("engine", "store.sqlite")).or(packages("org.sqlite")),
                        "a dialect knows the port and its own database. Share JDBC code in store.jdbc"),
                new DependencyRule(
                        "jdbc",
                        layout.in("store.jdbc"),
                        type(layout.in("engine", "store.sqlite", "store.postgres")),
                        "what both dialects share knows neither. Take the difference as an argument"));
    }

    private List<DependencyRule> ambient() {
        Predicate<JavaClass> outside =
                layout.core().and(layout.file(PackageLayout.ENVIRONMENT).negate());
        return List.of(
                new DependencyRule(
                        "ambient",
                        outside,
                        RestrictedApis.TIME.or(RestrictedApis.RANDOMNESS),
                        "the real clock, new ids and randomness live in engine.Ambient. Take an InstantSource, an id"
                                + " or a RandomGenerator as an argument"),
                new DependencyRule(
                        "virtual_threads",
                        outside.and(layout.in("testing").negate()),
                        RestrictedApis.VIRTUAL_THREADS,
                        "virtual threads start, and sleep, in engine.Ambient only. Take an Executor as an argument;"
                                + " wait on a signal or a timer of the engine"),
                new DependencyRule(
                        "hidden_threads",
                        layout.core(),
                        RestrictedApis.HIDDEN_THREADS,
                        "no ThreadLocal (bind a ScopedValue), no parallel streams and no common pool (use a plain"
                                + " loop, or hand an executor in)"));
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
                        "server.http knows the JDK, Helidon, Jackson and our errors, and nothing of runs. Pass a"
                                + " handler in"),
                new DependencyRule(
                        "api",
                        layout.in("server.api"),
                        RestrictedApis.SQL
                                .or(core.and(type(layout.exactly("")).negate())
                                        .and(type(layout.exactly("store")).negate())
                                        .and(type(layout.in(PackageLayout.PURE)).negate()))
                                .or(type(layout.in("server.cli", "server.pages", "server.demo"))),
                        "the API acts through the top and reads views; stores and engine stay behind it. Add what is"
                                + " missing to the top"),
                new DependencyRule(
                        "hooks",
                        layout.in("server.hooks"),
                        RestrictedApis.SQL
                                .or(core.and(type(layout.exactly("")).negate())
                                        .and(type(layout.exactly("store")).negate())
                                        .and(type(layout.in(PackageLayout.PURE)).negate()))
                                .or(type(layout.in("server")
                                        .and(layout.in(
                                                        "server.hooks",
                                                        "server.doors",
                                                        "server.settings",
                                                        "server.language")
                                                .negate()))),
                        "hooks prove deliveries and hand events to the door for events. Let the API speak HTTP"),
                new DependencyRule(
                        "pages",
                        layout.in("server.pages"),
                        RestrictedApis.SQL
                                .or(core.and(type(layout.in("error", "json")).negate()))
                                .or(type(layout.in("server")
                                        .and(layout.in("server.pages", "server.http", "server.auth")
                                                .negate()))),
                        "a page asks the API of its own process, as any client does. Add what is missing to the API"),
                new DependencyRule(
                        "cli",
                        layout.in("server.cli"),
                        RestrictedApis.SQL.or(core.and(type(layout.in("error", "json")).negate())),
                        "a command speaks HTTP with the server, as any client does. Add what is missing to the API"));
    }

    /** What names a person is masked where answers are made; whoever makes answers gets hold of nothing else. */
    private List<DependencyRule> masks() {
        return List.of(
                new DependencyRule(
                        "payloads",
                        behind(PayloadAccess.READERS),
                        calls(PayloadAccess.COLUMNS.stream()
                                .map(column -> layout.base() + "." + column)
                                .toArray(String[]::new)),
                        "what came with a run is read by server.api.Bare, which only a mask makes JSON of. Ask Bare for"
                                + " it"),
                new DependencyRule(
                        "lifted",
                        behind(PayloadAccess.UNMASKERS),
                        calls(layout.base() + ".server.api.Masks.lifted"),
                        "a mask is lifted for whoever said why, and for the sender of the trigger. Ask Masks for the"
                                + " mask of the run"));
    }

    private Predicate<JavaClass> behind(List<String> trusted) {
        return trusted.stream()
                .map(name -> layout.file("server.api." + name).negate())
                .reduce(layout.in("server.api"), Predicate::and);
    }

    /** What files are made of, from their text to what leaves. */
    private List<DependencyRule> files() {
        Predicate<Dependency> core = type(layout.core());
        return List.of(
                new DependencyRule(
                        "definition",
                        layout.in("server.definition", "server.language"),
                        RestrictedApis.SQL.or(
                                core.and(type(layout.in("key", "workflow", "schedule", "effect", "json", "error"))
                                        .negate())),
                        "a definition becomes a Published workflow and knows key, workflow, schedule, effect, json and"
                                + " error only. Let the wiring hand in the rest"),
                new DependencyRule(
                        "settings",
                        layout.in("server.settings"),
                        RestrictedApis.SQL
                                .or(core.and(type(layout.exactly("")).negate())
                                        .and(type(layout.exactly("store")).negate())
                                        .and(type(layout.in(PackageLayout.PURE)).negate()))
                                .or(type(layout.in("server")
                                        .and(layout.in("server.settings", "server.language")
                                                .negate()))),
                        "settings are documents in the store and know nobody who uses them. Let the wiring hand in a"
                                + " check"),
                new DependencyRule(
                        "doors",
                        layout.in("server.doors"),
                        RestrictedApis.SQL
                                .or(core.and(type(layout.exactly("")).negate())
                                        .and(type(layout.exactly("store")).negate())
                                        .and(type(layout.in(PackageLayout.PURE)).negate()))
                                .or(type(layout.in("server")
                                        .and(layout.in("server.doors").negate()))),
                        "a door matches and admits what came by itself, and knows neither files nor HTTP. Let the"
                                + " wiring hand in a check"),
                new DependencyRule(
                        "outbound",
                        layout.in("server.outbound"),
                        packages("java", "javax", "tools.jackson", "org.jspecify")
                                .and(RestrictedApis.SQL.negate())
                                .or(type(layout.in("server.outbound", "workflow", "http", "error")))
                                .negate(),
                        "server.outbound sends what it is handed and knows the JDK, JSON and how a send can fail. Hand"
                                + " it a Request"),
                new DependencyRule(
                        "steps",
                        layout.in("server.steps")
                                .and(layout.file("server.steps.TxKind").negate()),
                        RestrictedApis.SQL
                                .or(core.and(type(layout.in("key", "workflow", "effect", "json", "error"))
                                        .negate()))
                                .or(type(layout.in("server.api", "server.cli", "server.definition"))),
                        "a step runs on what the engine offers to every workflow, and SQL is the business of tx alone."
                                + " Ask the Outside for the rest"));
    }

    private List<DependencyRule> libraries() {
        return List.of(
                new DependencyRule(
                        "junit",
                        layout.ours().and(layout.in("testing.junit").negate()),
                        packages("org.junit", "org.opentest4j"),
                        "JUnit belongs to testing.junit, so that those who do not test have no need of it. Throw an"
                                + " AssertionError"),
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
                        layout.ours().and(layout.in("server.pages").negate()),
                        packages("gg.jte"),
                        "templates belong to server.pages. Answer JSON, and let a page show it"),
                new DependencyRule(
                        "expressions",
                        layout.ours()
                                .and(layout.in("server.definition", "server.language", "server.steps")
                                        .negate()),
                        packages("dev.cel", "org.snakeyaml", "com.networknt", "com.google"),
                        "expressions, YAML and schemas belong to server.language and the rooms of files. Ask a compiled"
                                + " Definition"));
    }

    /** A room is a package; what joins rooms stands in a room above them, so no two ever need each other. */
    ArchRule noCycles() {
        SliceAssignment assignment = new SliceAssignment() {
            @Override
            public SliceIdentifier getIdentifierOf(JavaClass type) {
                return layout.ours().test(type) ? SliceIdentifier.of(type.getPackageName()) : SliceIdentifier.ignore();
            }

            @Override
            public String getDescription() {
                return "rooms";
            }
        };
        return slices().assignedFrom(assignment).should().beFreeOfCycles().allowEmptyShould(true);
    }
}
