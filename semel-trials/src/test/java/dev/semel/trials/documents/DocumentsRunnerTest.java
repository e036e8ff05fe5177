package dev.semel.trials.documents;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.trials.architecture.SourceFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.json.JsonMapper;

/** The runner of documents, on samples, with a server that only notes that it was asked. */
class DocumentsRunnerTest {
    private static final class NotingServer implements DocumentServer {
        private final List<String> calls = new ArrayList<>();

        @Override
        public void start() {
            calls.add("start");
        }

        @Override
        public String url() {
            return "http://127.0.0.1:1";
        }

        @Override
        public void stop() {
            calls.add("stop");
        }
    }

    private final NotingServer server = new NotingServer();

    @TempDir
    Path commands;

    @Test
    void a_session_with_the_shown_output_passes() throws Exception {
        DocumentRunner.Report report = check("""
            ```sh run
            echo one; echo two >&2
            ```

            It prints:

            ```text
            one
            two
            ```
            """);
        assertEquals(List.of(), report.problems());
        assertEquals(1, report.ran());
        assertEquals(List.of("start", "stop"), server.calls);
    }

    @Test
    void a_wrong_expectation_is_a_problem_that_names_its_line() throws Exception {
        String problem = onlyProblem("```sh run\necho one\n```\n```text\ntwo\n```\n");
        assertTrue(problem.startsWith("docs/a.md:4: expected this line: two"), problem);
        assertTrue(problem.contains("found: one"), problem);
        assertEquals(List.of("start", "stop"), server.calls);
    }

    @Test
    void a_failing_command_is_a_problem_at_any_position() throws Exception {
        String problem = onlyProblem("```sh run\n(exit 3)\necho fine\n```\n");
        assertTrue(problem.startsWith("docs/a.md:1: exit code 3, not 0"), problem);
    }

    @Test
    void an_expected_failure_must_be_declared() throws Exception {
        assertEquals(List.of(), check("```sh run exit=3\n(exit 3)\n```\n").problems());
        String problem = onlyProblem("```sh run exit=3\ntrue\n```\n");
        assertTrue(problem.startsWith("docs/a.md:1: exit code 0, not 3"), problem);
    }

    @Test
    void the_blocks_of_a_document_share_one_shell_in_an_empty_folder() throws Exception {
        assertEquals(List.of(), check("""
            ```sh run
            test -z "$(ls -A)"
            name=once; mkdir inner; cd inner
            ```
            ```sh run
            echo "$name $(basename "$PWD") $SEMEL_SERVER"
            ```
            ```text
            once inner http://127.0.0.1:8085
            ```
            """).problems());
    }

    @Test
    void the_default_address_is_replaced_by_the_documents_server() throws Exception {
        assertEquals(List.of(), check("""
            ```sh run
            test localhost:8085 = "${SEMEL_SERVER#http://}" && echo 127.0.0.1:1
            ```
            ```text
            127.0.0.1:8085
            ```
            """).problems());
    }

    @Test
    void an_id_in_a_document_maps_to_one_real_id() throws Exception {
        String bind = "```sh run\necho run_A1b2C3d4 run_B1b2C3d4\n```\n```text\nrun_first1 run_second2\n```\n";
        assertEquals(
                List.of(),
                check(bind + "```sh run\necho run_second2\n```\n```text\nrun_second2\n```\n")
                        .problems());
        assertTrue(onlyProblem(bind + "```sh run\necho run_second2\n```\n```text\nrun_first1\n```\n")
                .contains("found: run_B1b2C3d4"));
        assertTrue(onlyProblem("```sh run\necho run_A1b2C3d4\n```\n```text\nwf_first1\n```\n")
                .contains("found: run_A1b2C3d4"));
        assertFalse(fits("run_one11 run_two22", "run_A1b2C3d4 run_A1b2C3d4"), "Two ids stand for two things.");
        assertFalse(fits("run_one11 run_one11", "run_A1b2C3d4 run_B1b2C3d4"), "One id stands for one thing.");
        assertFalse(fits("run_again", "run_later"), "A word without a digit is no id.");
    }

    @Test
    void an_until_block_is_repeated_until_it_matches() throws Exception {
        String counting = "echo x >> tries; wc -l < tries | tr -d ' '\n```\n```text\n3\n```\n";
        assertEquals(List.of(), check("```sh run until\n" + counting).problems());
        assertTrue(onlyProblem("```sh run\n" + counting).contains("found: 1"));
    }

    @Test
    void a_server_shown_in_a_document_is_started_with_its_own_command() throws Exception {
        String page = """
            ```sh server
            bash -c 'echo "port $SEMEL_PORT on http://127.0.0.1:4711"; echo ready; sleep 600'
            ```
            ```text
            port 0 on http://127.0.0.1:8085
            ready
            ```
            ```sh run
            test localhost:8085 = 127.0.0.1:4711
            ```
            """;
        // The address is replaced on both sides of the test above, so both sides must have been the same.
        assertEquals(List.of(), check(page).problems());
        assertTrue(onlyProblem(page.replace("port 0 on", "harbour 0 on")).startsWith("docs/a.md:4: "));
        assertEquals(List.of(), server.calls, "The page brought its own server.");
    }

    @Test
    void the_commands_folder_comes_first_on_the_path() throws Exception {
        Path command = Files.writeString(commands.resolve("semel"), "#!/bin/sh\necho \"semel $1\"\n");
        assertTrue(command.toFile().setExecutable(true));
        assertEquals(
                List.of(),
                check("```sh run\nsemel dev\n```\n```text\nsemel dev\n```\n").problems());
    }

    @Test
    void a_command_that_reads_stdin_does_not_consume_the_session() throws Exception {
        assertEquals(
                List.of(),
                check("```sh run\ncat\necho after\n```\n```text\nafter\n```\n").problems());
    }

    @Test
    void output_without_a_final_line_break_is_compared_completely() throws Exception {
        assertEquals(
                List.of(),
                check("```sh run\nprintf '{\"a\":1}'\n```\n```text\n{\"a\":1}\n```\n")
                        .problems());
    }

    @Test
    void a_block_that_ends_the_shell_or_never_ends_is_a_problem() throws Exception {
        assertTrue(onlyProblem("```sh run\nexit 0\n```\n").contains("ended the shell"));
        DocumentRunner impatient = new DocumentRunner(commands, () -> server, Map.of(), Duration.ofMillis(200));
        // Waits for a writer that never comes; closing the shell ends it.
        SourceFile file = new SourceFile("docs/a.md", "```sh run\nmkfifo never; read -r _ < never\n```\n");
        assertEquals(1, impatient.check(file).problems().size());
    }

    @Test
    void background_processes_end_with_the_session() throws Exception {
        Path pid = commands.resolve("pid");
        assertEquals(
                List.of(),
                check("```sh run\ntail -f /dev/null & echo $! > '" + pid + "'\n```\n")
                        .problems());
        long id = Long.parseLong(Files.readString(pid).strip());
        assertFalse(ProcessHandle.of(id).map(ProcessHandle::isAlive).orElse(false));
    }

    @Test
    void a_block_that_is_not_run_says_norun_and_why() throws Exception {
        assertTrue(onlyProblem("```sh\nrm -rf x\n```\n").contains("say `norun` and why"));
        assertTrue(onlyProblem("```\nplain\n```\n").contains("say `norun` and why"));
        assertTrue(onlyProblem("```text\nnobody printed this\n```\n").contains("say `norun` and why"));
        assertTrue(onlyProblem("```sh norun\nx\n```\n").contains("norun needs a reason"));
        DocumentRunner.Report report = check("```sh norun needs a PostgreSQL\npsql\n```\n```text\nits output\n```\n");
        assertEquals(List.of(), report.problems());
        assertEquals(
                List.of("needs a PostgreSQL"),
                report.excused().stream().map(CodeBlock::reason).toList());
        assertEquals(List.of(), server.calls, "A document without a session needs no server.");
    }

    @Test
    void a_block_with_a_checker_is_checked() throws Exception {
        assertEquals(1, check("```json\n{\"a\": 1}\n```\n").checked());
        assertTrue(onlyProblem("text\n\n```json\n{\"a\": }\n```\n").startsWith("docs/a.md:3: "));
        assertEquals(0, check("```json norun a fragment\n{\"a\": …\n```\n").checked());
    }

    @Test
    void blocks_are_found_in_lists_and_inside_longer_fences() {
        List<CodeBlock> blocks = CodeBlock.of(new SourceFile("a.md", """
            1. In a list:

               ```sh run
               if true; then
                 echo in
               fi
               ```

            ````text
            ```sh run
            not a block
            ```
            ````
            """));
        assertEquals(2, blocks.size());
        assertEquals("if true; then\n  echo in\nfi\n", blocks.get(0).text());
        assertEquals(3, blocks.get(0).line());
        assertTrue(blocks.get(0).isSession());
        assertEquals("```sh run\nnot a block\n```\n", blocks.get(1).text());
        assertFalse(blocks.get(1).isSession());
    }

    @Test
    void dots_match_text_in_a_line_or_whole_lines() {
        assertTrue(fits("run_… started", "run_4Gh started"));
        assertTrue(fits("a\n…\nz", "a\nb\nc\nz\n"));
        assertTrue(fits("a\n…\nz", "a\nz\n"));
        assertTrue(fits("…\nz", "z\ny\nz\n"));
        assertTrue(fits("a  \n\n", "a\n"));
        assertTrue(fits("(a.b)*", "(a.b)*"));
        assertFalse(fits("run_… started", "run_4Gh queued"));
        assertFalse(fits("a", "a\nb\n"));
        assertFalse(fits("a\nb", "a\n"));
        assertFalse(fits("a\n…\nz", "a\nb\n"));
        assertFalse(fits("(a.b)*", "(axb)*"));
        assertFalse(fits("a", "A"));
    }

    private static boolean fits(String expected, String output) {
        return new Expectation(expected).differs(output).isEmpty();
    }

    private String onlyProblem(String text) throws Exception {
        List<String> problems = check(text).problems();
        assertEquals(1, problems.size(), problems::toString);
        return problems.getFirst();
    }

    private DocumentRunner.Report check(String text) throws Exception {
        DocumentRunner documents = new DocumentRunner(
                commands,
                () -> server,
                Map.of("json", block -> JsonMapper.shared().readTree(block.text())),
                Duration.ofMinutes(1));
        return documents.check(new SourceFile("docs/a.md", text));
    }
}
