package dev.semel.trials.architecture;

import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static dev.semel.trials.architecture.Touch.calls;
import static dev.semel.trials.architecture.Touch.packages;
import static dev.semel.trials.architecture.Touch.type;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.lang.ArchRule;
import com.tngtech.archunit.library.dependencies.SliceAssignment;
import com.tngtech.archunit.library.dependencies.SliceIdentifier;
import java.util.List;
import java.util.function.Predicate;
import java.util.stream.Stream;

/** Who may touch whom. Data walks one way: doors, decide, run, act, remember. */
record Walls(Rooms rooms) {

    List<Wall> all() {
        return Stream.of(core(), stores(), ambient(), server(), masks(), files(), libraries())
                .flatMap(List::stream)
                .toList();
    }

    private List<Wall> core() {
        return List.of(
                new Wall(
                        "pure",
                        rooms.in(Rooms.PURE).and(rooms.in("definition", "workflow").negate()),
                        Ambience.ACTS,
                        "a pure room decides and does not act. Take time, ids and chance as arguments, return a"
                                + " decision, and let the engine do the deed"),
                new Wall(
                        "workflow",
                        rooms.in("definition", "workflow"),
                        Ambience.ACTS.and(Ambience.HANDED_THROUGH.negate()),
                        "what users write with does not act. It hands their code and a connection on, binds the step"
                                + " that is being done, and lets the engine do the rest"),
                new Wall(
                        "pure_among_themselves",
                        rooms.in(Rooms.PURE),
                        type(rooms.ours()).and(type(rooms.in(Rooms.PURE)).negate()),
                        "a pure room knows pure rooms only. Move the type they share into the pure room that owns it"),
                new Wall(
                        "engine",
                        rooms.in("engine"),
                        Ambience.SQL
                                .and(Ambience.HANDED_THROUGH.negate())
                                .or(type(rooms.in("store.jdbc", "store.sqlite", "store.postgres"))),
                        "the engine writes through the port. Add a named write or read to the store room"),
                new Wall(
                        "top",
                        rooms.core()
                                .and(rooms.exactly("").negate())
                                .and(rooms.in("runtime", "testing").negate()),
                        type(rooms.exactly("")).or(type(rooms.in("runtime"))),
                        "the top joins the rooms, and of the rooms only the lab stands above it. Take what you need as"
                                + " an argument"),
                new Wall(
                        "testing",
                        rooms.ours().and(rooms.in("testing").negate()),
                        type(rooms.in("testing")),
                        "the lab is for tests. Move what production needs into the room that owns it"));
    }

    private List<Wall> stores() {
        return List.of(
                new Wall(
                        "port",
                        rooms.exactly("store"),
                        Ambience.SQL
                                .and(Ambience.HANDED_THROUGH.negate())
                                .or(type(
                                        rooms.in("engine", "testing", "store.jdbc", "store.sqlite", "store.postgres"))),
                        "the port has no SQL in it. Put the statement beside the method that runs it, in each dialect"),
                new Wall(
                        "sqlite",
                        rooms.in("store.sqlite"),
                        type(rooms.in("engine", "store.postgres")).or(packages("org.postgresql", "com.zaxxer.hikari")),
                        "a dialect knows the port and its own database. Share JDBC code in store.jdbc"),
                new Wall(
                        "postgres",
                        rooms.in("store.postgres"),
                        type(rooms.in("engine", "store.sqlite")).or(packages("org.sqlite")),
                        "a dialect knows the port and its own database. Share JDBC code in store.jdbc"),
                new Wall(
                        "jdbc",
                        rooms.in("store.jdbc"),
                        type(rooms.in("engine", "store.sqlite", "store.postgres")),
                        "what both dialects share knows neither. Take the difference as an argument"));
    }

    private List<Wall> ambient() {
        Predicate<JavaClass> outside =
                rooms.core().and(rooms.file(Rooms.AMBIENT).negate());
        return List.of(
                new Wall(
                        "ambient",
                        outside,
                        Ambience.TIME.or(Ambience.CHANCE),
                        "the real clock, new ids and randomness live in engine.Ambient. Take an InstantSource, an id"
                                + " or a RandomGenerator as an argument"),
                new Wall(
                        "virtual_threads",
                        outside.and(rooms.in("testing").negate()),
                        Ambience.VIRTUAL_THREADS,
                        "virtual threads start, and sleep, in engine.Ambient only. Take an Executor as an argument;"
                                + " wait on a signal or a timer of the engine"),
                new Wall(
                        "hidden_threads",
                        rooms.core(),
                        Ambience.HIDDEN_THREADS,
                        "no ThreadLocal (bind a ScopedValue), no parallel streams and no common pool (use a plain"
                                + " loop, or hand an executor in)"));
    }

    private List<Wall> server() {
        Predicate<Touch> core = type(rooms.core());
        return List.of(
                new Wall(
                        "http",
                        rooms.in("server.http"),
                        packages("java", "javax", "jdk", "io.helidon", "tools.jackson", "com.fasterxml.jackson")
                                .and(Ambience.SQL.negate())
                                .or(packages("org.jspecify"))
                                .or(type(rooms.in("server.http", "error")))
                                .negate(),
                        "server.http knows the JDK, Helidon, Jackson and our errors, and nothing of runs. Pass a"
                                + " handler in"),
                new Wall(
                        "api",
                        rooms.in("server.api"),
                        Ambience.SQL
                                .or(core.and(type(rooms.in("runtime")).negate())
                                        .and(type(rooms.exactly("store")).negate())
                                        .and(type(rooms.in(Rooms.PURE)).negate()))
                                .or(type(rooms.in("server.cli", "server.pages", "server.demo"))),
                        "the API acts through the top and reads views; stores and engine stay behind it. Add what is"
                                + " missing to the top"),
                new Wall(
                        "hooks",
                        rooms.in("server.hooks"),
                        Ambience.SQL
                                .or(core.and(type(rooms.in("runtime")).negate())
                                        .and(type(rooms.exactly("store")).negate())
                                        .and(type(rooms.in(Rooms.PURE)).negate()))
                                .or(type(rooms.in("server")
                                        .and(rooms.in(
                                                        "server.hooks",
                                                        "server.doors",
                                                        "server.settings",
                                                        "server.language")
                                                .negate()))),
                        "hooks prove deliveries and hand events to the door for events. Let the API speak HTTP"),
                new Wall(
                        "pages",
                        rooms.in("server.pages"),
                        Ambience.SQL
                                .or(core.and(type(rooms.in("error", "json")).negate()))
                                .or(type(rooms.in("server")
                                        .and(rooms.in("server.pages", "server.http", "server.auth")
                                                .negate()))),
                        "a page asks the API of its own process, as any client does. Add what is missing to the API"),
                new Wall(
                        "cli",
                        rooms.in("server.cli"),
                        Ambience.SQL.or(core.and(type(rooms.in("error", "json")).negate())),
                        "a command speaks HTTP with the server, as any client does. Add what is missing to the API"));
    }

    /** What names a person is masked where answers are made; whoever makes answers gets hold of nothing else. */
    private List<Wall> masks() {
        return List.of(
                new Wall(
                        "payloads",
                        behind(Payloads.READERS),
                        calls(Payloads.COLUMNS.stream()
                                .map(column -> rooms.base() + "." + column)
                                .toArray(String[]::new)),
                        "what came with a run is read by server.api.Bare, which only a mask makes JSON of. Ask Bare for"
                                + " it"),
                new Wall(
                        "lifted",
                        behind(Payloads.LIFTERS),
                        calls(rooms.base() + ".server.api.Masks.lifted"),
                        "a mask is lifted for whoever said why, and for the sender of the trigger. Ask Masks for the"
                                + " mask of the run"));
    }

    private Predicate<JavaClass> behind(List<String> trusted) {
        return trusted.stream()
                .map(name -> rooms.file("server.api." + name).negate())
                .reduce(rooms.in("server.api"), Predicate::and);
    }

    /** What files are made of, from their text to what leaves. */
    private List<Wall> files() {
        Predicate<Touch> core = type(rooms.core());
        return List.of(
                new Wall(
                        "definition",
                        rooms.in("server.definition", "server.language"),
                        Ambience.SQL.or(
                                core.and(type(rooms.in("admission", "definition", "workflow", "schedule", "effect", "json", "error"))
                                        .negate())),
                        "a definition becomes a Published workflow and knows key, workflow, schedule, effect, json and"
                                + " error only. Let the wiring hand in the rest"),
                new Wall(
                        "settings",
                        rooms.in("server.settings"),
                        Ambience.SQL
                                .or(core.and(type(rooms.in("runtime")).negate())
                                        .and(type(rooms.exactly("store")).negate())
                                        .and(type(rooms.in(Rooms.PURE)).negate()))
                                .or(type(rooms.in("server")
                                        .and(rooms.in("server.settings", "server.language")
                                                .negate()))),
                        "settings are documents in the store and know nobody who uses them. Let the wiring hand in a"
                                + " check"),
                new Wall(
                        "doors",
                        rooms.in("server.doors"),
                        Ambience.SQL
                                .or(core.and(type(rooms.in("runtime")).negate())
                                        .and(type(rooms.exactly("store")).negate())
                                        .and(type(rooms.in(Rooms.PURE)).negate()))
                                .or(type(rooms.in("server")
                                        .and(rooms.in("server.doors").negate()))),
                        "a door matches and admits what came by itself, and knows neither files nor HTTP. Let the"
                                + " wiring hand in a check"),
                new Wall(
                        "outbound",
                        rooms.in("server.outbound"),
                        packages("java", "javax", "tools.jackson", "org.jspecify")
                                .and(Ambience.SQL.negate())
                                .or(type(rooms.in("server.outbound", "definition", "workflow", "http", "error")))
                                .negate(),
                        "server.outbound sends what it is handed and knows the JDK, JSON and how a send can fail. Hand"
                                + " it a Request"),
                new Wall(
                        "steps",
                        rooms.in("server.steps")
                                .and(rooms.file("server.steps.TxKind").negate()),
                        Ambience.SQL
                                .or(core.and(type(rooms.in("admission", "definition", "workflow", "effect", "json", "error"))
                                        .negate()))
                                .or(type(rooms.in("server.api", "server.cli", "server.definition"))),
                        "a step runs on what the engine offers to every workflow, and SQL is the business of tx alone."
                                + " Ask the Outside for the rest"));
    }

    private List<Wall> libraries() {
        return List.of(
                new Wall(
                        "junit",
                        rooms.ours().and(rooms.in("testing.junit").negate()),
                        packages("org.junit", "org.opentest4j"),
                        "JUnit belongs to testing.junit, so that those who do not test have no need of it. Throw an"
                                + " AssertionError"),
                new Wall(
                        "helidon",
                        rooms.ours().and(rooms.in("server.http").negate()),
                        packages("io.helidon"),
                        "Helidon stays replaceable behind server.http. Use its Request and Response"),
                new Wall(
                        "picocli",
                        rooms.ours()
                                .and(rooms.in("server.cli").negate())
                                .and(rooms.file("server.Main").negate()),
                        packages("picocli"),
                        "picocli belongs to server.cli and server.Main. Take the parsed value as an argument"),
                new Wall(
                        "templates",
                        rooms.ours().and(rooms.in("server.pages").negate()),
                        packages("gg.jte"),
                        "templates belong to server.pages. Answer JSON, and let a page show it"),
                new Wall(
                        "expressions",
                        rooms.ours()
                                .and(rooms.in("server.definition", "server.language", "server.steps")
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
                return rooms.ours().test(type) ? SliceIdentifier.of(type.getPackageName()) : SliceIdentifier.ignore();
            }

            @Override
            public String getDescription() {
                return "rooms";
            }
        };
        return slices().assignedFrom(assignment).should().beFreeOfCycles().allowEmptyShould(true);
    }
}
