package dev.semel.server.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Runs the real launcher in real shells, with JDKs that only print what they were called with. */
class LauncherTest {
    private static final Path LAUNCHER =
            Path.of(System.getProperty("basedir", ".")).toAbsolutePath().resolveSibling("semel");

    @TempDir
    Path temp;

    private Path home;
    private final Map<String, String> environment = new HashMap<>();

    @BeforeEach
    void layDistribution() throws IOException {
        Path launcher =
                Files.exists(LAUNCHER) ? LAUNCHER : Path.of("..", "semel").toAbsolutePath();
        home = Files.createDirectories(temp.resolve("a home"));
        Files.copy(launcher, home.resolve("semel"));
        Files.writeString(home.resolve("semel-server.jar"), "");
        environment.put("HOME", Files.createDirectories(temp.resolve("user")).toString());
        environment.put(
                "SEMEL_SEARCH_ROOT",
                Files.createDirectories(temp.resolve("root")).toString());
        environment.put("PATH", tools().toString());
        environment.put("LANG", "C.UTF-8");
    }

    @Test
    void a_recent_jdk_gets_the_flags_and_the_arguments_unchanged() throws Exception {
        environment.put("JAVA_HOME", jdk("jdk 25", "25.0.3").toString());
        ProcessResult result = run(home.resolve("semel"), "send", "pay", "--data", "{\"a\": \"b  c\"}", "", "$HOME *");
        assertEquals(0, result.exit, result.err);
        List<String> words = result.out.lines().toList();
        assertEquals(temp.resolve("jdk 25").toString(), words.getFirst());
        assertTrue(words.containsAll(List.of(
                "[--enable-native-access=ALL-UNNAMED]",
                "[--sun-misc-unsafe-memory-access=allow]",
                "[-Djdk.httpclient.redirects.retrylimit=1]",
                "[-XX:TieredStopAtLevel=1]",
                "[-Dsemel.terminal=false]")));
        assertEquals(
                List.of(
                        "[-jar]",
                        "[" + home.resolve("semel-server.jar") + "]",
                        "[send]",
                        "[pay]",
                        "[--data]",
                        "[{\"a\": \"b  c\"}]",
                        "[]",
                        "[$HOME *]"),
                words.subList(words.indexOf("[-jar]"), words.size()));
        assertEquals("", result.err);
    }

    @Test
    void a_server_gets_its_heap_and_the_full_compiler() throws Exception {
        environment.put("JAVA_HOME", jdk("jdk", "25").toString());
        assertTrue(run(home.resolve("semel"), "dev", "--demo").out.contains("[-Xmx512m]"));
        environment.put("SEMEL_HEAP", "2g");
        ProcessResult result = run(home.resolve("semel"), "serve");
        assertTrue(result.out.contains("[-Xmx2g]"));
        assertFalse(result.out.contains("TieredStopAtLevel"));
    }

    @Test
    void a_server_exits_when_its_memory_is_used_up() throws Exception {
        environment.put("JAVA_HOME", jdk("jdk", "25").toString());
        String exits = "[-XX:+ExitOnOutOfMemoryError]";
        assertTrue(run(home.resolve("semel"), "dev").out.contains(exits));
        assertTrue(run(home.resolve("semel"), "serve", "--port", "1").out.contains(exits));
        assertFalse(run(home.resolve("semel"), "runs").out.contains(exits));
    }

    @Test
    void a_java_home_that_is_too_old_is_skipped() throws Exception {
        environment.put("JAVA_HOME", jdk("old", "17.0.15").toString());
        jdk("root/usr/lib/jvm/java-8", "1.8.0_452");
        jdk("root/usr/lib/jvm/temurin-26", "26-ea");
        ProcessResult result = run(home.resolve("semel"));
        assertEquals(0, result.exit, result.err);
        assertEquals(
                temp.resolve("root/usr/lib/jvm/temurin-26").toString(),
                result.out.lines().findFirst().orElseThrow());
    }

    @Test
    void the_named_jdk_wins_and_one_that_is_too_old_is_named() throws Exception {
        environment.put("JAVA_HOME", jdk("other", "25").toString());
        environment.put("SEMEL_JAVA_HOME", jdk("mine", "27").toString());
        assertEquals(
                temp.resolve("mine").toString(),
                run(home.resolve("semel")).out.lines().findFirst().orElseThrow());
        environment.put("SEMEL_JAVA_HOME", jdk("mine8", "1.8.0").toString());
        ProcessResult result = run(home.resolve("semel"));
        assertEquals(0, result.exit);
        assertTrue(result.err.contains("SEMEL_JAVA_HOME is not a JDK 25"), result.err);
    }

    @Test
    void the_java_on_the_path_is_found_through_its_symlinks() throws Exception {
        Path jdk = jdk("opt jdk", "25.0.1");
        Path alternatives = Files.createDirectories(temp.resolve("etc")).resolve("java");
        Files.createSymbolicLink(alternatives, jdk.resolve("bin/java"));
        Files.createSymbolicLink(tools().resolve("java"), alternatives);
        assertEquals(
                jdk.toString(),
                run(home.resolve("semel")).out.lines().findFirst().orElseThrow());
    }

    @Test
    void sdkman_jdks_are_found() throws Exception {
        Path jdk = jdk("user/.sdkman/candidates/java/25.0.1-tem", "25.0.1");
        assertEquals(
                jdk.toString(),
                run(home.resolve("semel")).out.lines().findFirst().orElseThrow());
    }

    @Test
    void without_a_jdk_one_line_says_what_to_install() throws Exception {
        environment.put("JAVA_HOME", jdk("old", "21.0.2").toString());
        ProcessResult result = run(home.resolve("semel"), "runs");
        assertEquals(1, result.exit);
        assertEquals("", result.out);
        assertEquals(1, result.err.lines().count(), result.err);
        assertTrue(result.err.contains("too old: Java 21 in " + temp.resolve("old")), result.err);
        assertTrue(result.err.contains("Install one"), result.err);
    }

    @Test
    void it_works_through_a_chain_of_symlinks_and_from_any_folder() throws Exception {
        environment.put("JAVA_HOME", jdk("jdk", "25").toString());
        Path bin = Files.createDirectories(temp.resolve("user bin"));
        Files.createSymbolicLink(bin.resolve("one"), Path.of("../a home/semel"));
        Files.createSymbolicLink(bin.resolve("two"), bin.resolve("one"));
        ProcessResult result = run(bin.resolve("two"), "runs");
        assertEquals(0, result.exit, result.err);
        assertTrue(result.out.contains("[" + home.resolve("semel-server.jar") + "]"), result.out);
    }

    @Test
    void the_exit_code_of_java_is_the_exit_code() throws Exception {
        environment.put("JAVA_HOME", jdk("jdk", "25").toString());
        environment.put("FAKE_EXIT", "3");
        assertEquals(3, run(home.resolve("semel"), "runs").exit);
    }

    @Test
    void a_fresh_checkout_builds_itself_once() throws Exception {
        Path checkout = checkout();
        fakeMaven("mkdir -p semel-server/target/lib; : > semel-server/target/semel-server-0.1.0.jar; echo built >>"
                + " builds");
        ProcessResult first = run(checkout.resolve("semel"), "runs");
        assertEquals(0, first.exit, first.err);
        assertTrue(first.err.contains("building Semel, first use only"), first.err);
        ProcessResult second = run(checkout.resolve("semel"), "runs");
        assertEquals("", second.err);
        assertEquals("built\n", Files.readString(checkout.resolve("builds")));
        Path lock = checkout.resolve("semel-server/target/.build.lock");
        assertFalse(Files.exists(lock, LinkOption.NOFOLLOW_LINKS));
    }

    @Test
    void a_cache_of_classes_is_made_with_the_build_and_used_until_the_jar_is_newer() throws Exception {
        Path checkout = checkout();
        fakeMaven("mkdir -p semel-server/target/lib; : > semel-server/target/semel-server-0.1.0.jar");
        Path cache = checkout.resolve("semel-server/target/aot/cli-25.aot");
        ProcessResult first = run(checkout.resolve("semel"), "runs");
        assertTrue(first.out.contains("[-XX:AOTCache=" + cache + "]"), first.out + first.err);
        assertFalse(run(checkout.resolve("semel"), "serve").out.contains("AOTCache"));
        Path jar = checkout.resolve("semel-server/target/semel-server-0.1.0.jar");
        Files.setLastModifiedTime(cache, FileTime.from(Instant.parse("2020-01-01T00:00:00Z")));
        assertTrue(Files.getLastModifiedTime(jar).compareTo(Files.getLastModifiedTime(cache)) > 0);
        assertFalse(run(checkout.resolve("semel"), "runs").out.contains("AOTCache"));
        try (var left = Files.list(cache.getParent())) {
            assertEquals(List.of(cache), left.toList());
        }
    }

    @Test
    void concurrent_first_uses_build_once() throws Exception {
        // They also meet the lock of a dead builder, and the first to finish is gone while others still look at its
        // lock.
        Path checkout = checkout();
        fakeMaven("echo built >> builds; mkdir -p semel-server/target/lib; : >"
                + " semel-server/target/semel-server-0.1.0.jar");
        Process dead = new ProcessBuilder("sh", "-c", "exit 0").start();
        dead.waitFor();
        Path target = Files.createDirectories(checkout.resolve("semel-server/target"));
        Files.createSymbolicLink(target.resolve(".build.lock"), Path.of(Long.toString(dead.pid())));
        List<Process> processes = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            processes.add(start(checkout.resolve("semel"), "runs"));
        }
        for (Process process : processes) {
            assertEquals(0, finish(process).exit);
        }
        assertEquals("built\n", Files.readString(checkout.resolve("builds")));
    }

    @Test
    void a_failed_build_shows_its_log_and_leaves_no_half_built_jar() throws Exception {
        Path checkout = checkout();
        fakeMaven("mkdir -p semel-server/target/lib; : > semel-server/target/semel-server-0.1.0.jar; echo no such"
                + " symbol; exit 1");
        ProcessResult result = run(checkout.resolve("semel"), "runs");
        assertEquals(1, result.exit);
        assertTrue(result.err.contains("no such symbol"), result.err);
        assertFalse(Files.exists(checkout.resolve("semel-server/target/semel-server-0.1.0.jar")));
    }

    @Test
    void the_lock_of_a_builder_that_died_is_taken_over() throws Exception {
        Path checkout = checkout();
        fakeMaven("mkdir -p semel-server/target/lib; : > semel-server/target/semel-server-0.1.0.jar");
        Process dead = new ProcessBuilder("sh", "-c", "exit 0").start();
        dead.waitFor();
        Path target = checkout.resolve("semel-server/target");
        Files.createDirectories(target.resolve("lib"));
        Files.writeString(target.resolve("semel-server-0.1.0.jar"), "half written");
        Path lock = Files.createSymbolicLink(target.resolve(".build.lock"), Path.of(Long.toString(dead.pid())));
        assertEquals(0, run(checkout.resolve("semel"), "runs").exit);
        assertFalse(Files.exists(lock, LinkOption.NOFOLLOW_LINKS));
        assertEquals("", Files.readString(target.resolve("semel-server-0.1.0.jar")));
    }

    @Test
    void building_without_maven_says_so() throws Exception {
        Path checkout = checkout();
        ProcessResult result = run(checkout.resolve("semel"), "runs");
        assertEquals(1, result.exit);
        assertTrue(result.err.contains("needs Maven"), result.err);
    }

    @Test
    void sources_newer_than_the_build_cause_a_hint_and_no_build() throws Exception {
        Path checkout = checkout();
        Path jar = checkout.resolve("semel-server/target/semel-server-0.1.0.jar");
        Files.createDirectories(jar.resolveSibling("lib"));
        Files.writeString(jar, "");
        Files.setLastModifiedTime(jar, FileTime.from(Instant.parse("2020-01-01T00:00:00Z")));
        ProcessResult result = run(checkout.resolve("semel"), "runs");
        assertEquals(0, result.exit, result.err);
        assertEquals(1, result.err.lines().count());
        assertTrue(result.err.contains("sources are newer than the build"), result.err);
        assertTrue(result.out.contains("[runs]"));
    }

    @Test
    void in_the_c_locale_java_reads_arguments_as_utf_8() throws Exception {
        environment.put("JAVA_HOME", jdk("jdk", "25").toString());
        environment.put("LANG", "C");
        assertTrue(run(home.resolve("semel")).out.contains("LC_ALL=C.UTF-8"));
        environment.put("LANG", "de_DE.ISO-8859-1");
        assertTrue(run(home.resolve("semel")).out.contains("LC_ALL=\n"));
    }

    private record ProcessResult(int exit, String out, String err) {}

    private ProcessResult run(Path launcher, String... arguments) throws Exception {
        return finish(start(launcher, arguments));
    }

    private Process start(Path launcher, String... arguments) throws IOException {
        List<String> command = new ArrayList<>(List.of("/bin/sh", launcher.toString()));
        command.addAll(List.of(arguments));
        ProcessBuilder builder = new ProcessBuilder(command).directory(temp.toFile());
        builder.environment().clear();
        builder.environment().putAll(environment);
        Process process = builder.start();
        process.getOutputStream().close();
        return process;
    }

    /** What the launcher says fits into a pipe's buffer, so that one stream can be read after the other. */
    private static ProcessResult finish(Process process) throws Exception {
        String out = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        String err = new String(process.getErrorStream().readAllBytes(), StandardCharsets.UTF_8);
        return new ProcessResult(process.waitFor(), out, err);
    }

    private Path checkout() throws IOException {
        environment.put("JAVA_HOME", jdk("jdk", "25").toString());
        Path checkout = Files.createDirectories(temp.resolve("check out"));
        Files.copy(home.resolve("semel"), checkout.resolve("semel"));
        for (String module : List.of("semel-core", "semel-server")) {
            Path source = Files.createDirectories(checkout.resolve(module + "/src/main"));
            Files.writeString(source.resolve("A.java"), "");
            Files.setLastModifiedTime(source.resolve("A.java"), FileTime.from(Instant.parse("2021-01-01T00:00:00Z")));
        }
        return checkout;
    }

    /** A folder with only the tools a small system has; no java and no mvn of this machine. */
    private Path tools() throws IOException {
        Path tools = temp.resolve("tools");
        if (Files.notExists(tools)) {
            Files.createDirectories(tools);
            for (String tool : List.of(
                    "cat",
                    "dirname",
                    "find",
                    "head",
                    "mkdir",
                    "ln",
                    "mv",
                    "readlink",
                    "rm",
                    "rmdir",
                    "sleep",
                    "tail",
                    "sh")) {
                Path real = Files.exists(Path.of("/bin", tool)) ? Path.of("/bin", tool) : Path.of("/usr/bin", tool);
                Files.createSymbolicLink(tools.resolve(tool), real);
            }
        }
        return tools;
    }

    private void fakeMaven(String script) throws IOException {
        program(tools().resolve("mvn"), script);
    }

    private Path jdk(String folder, String version) throws IOException {
        Path jdk = temp.resolve(folder);
        Files.createDirectories(jdk.resolve("bin"));
        Files.writeString(
                jdk.resolve("release"), "IMPLEMENTOR=\"X\"\nJAVA_VERSION=\"" + version + "\"\nOS_NAME=\"Linux\"");
        program(
                jdk.resolve("bin/java"),
                "for word in \"$@\"; do case $word in -XX:AOTConfiguration=*|-XX:AOTCache=*/new.*) : >"
                        + " \"${word#*=}\";; esac; done; echo '" + jdk
                        + "'; echo \"LC_ALL=${LC_ALL-}\"; for word in \"$@\"; do echo \"[$word]\"; done; exit"
                        + " ${FAKE_EXIT:-0}");
        program(jdk.resolve("bin/javac"), "exit 0");
        return jdk;
    }

    private static void program(Path file, String script) throws IOException {
        Files.writeString(file, "#!/bin/sh\n" + script + "\n");
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwxr-xr-x"));
    }
}
