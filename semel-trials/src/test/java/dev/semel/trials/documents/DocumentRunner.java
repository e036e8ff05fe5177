package dev.semel.trials.documents;

import dev.semel.trials.architecture.SourceFile;
import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.stream.Stream;

/**
 * Runs the code blocks of documents.
 *
 * @param commands the checkout, put in front of the path, where {@code semel} is found
 * @param servers a new server for each document that has a session and does not start one itself
 * @param checkers by language; a checker throws what is wrong with a block
 * @param limit how long one block may take
 */
record DocumentRunner(
        Path commands, Supplier<DocumentServer> servers, Map<String, Consumer<CodeBlock>> checkers, Duration limit) {

    /** What a reader has who stands in the checkout. */
    private static final List<String> LINKED = List.of("semel", "examples");

    /** @param excused the blocks that say that they are not run, with their reasons */
    record Report(List<String> problems, List<CodeBlock> excused, int ran, int checked) {
        Report and(Report more) {
            return new Report(
                    Stream.concat(problems.stream(), more.problems().stream()).toList(),
                    Stream.concat(excused.stream(), more.excused().stream()).toList(),
                    ran + more.ran(),
                    checked + more.checked());
        }
    }

    Report check(List<SourceFile> files) throws Exception {
        Report all = new Report(List.of(), List.of(), 0, 0);
        for (SourceFile file : files) {
            all = all.and(check(file));
        }
        return all;
    }

    Report check(SourceFile file) throws Exception {
        List<CodeBlock> blocks = CodeBlock.of(file);
        List<String> problems = new ArrayList<>();
        List<CodeBlock> excused = new ArrayList<>();
        int checked = 0;
        for (int i = 0; i < blocks.size(); i++) {
            CodeBlock block = blocks.get(i);
            Optional<CodeBlock> before = i == 0 ? Optional.empty() : Optional.of(blocks.get(i - 1));
            if (block.isExcused()) {
                excused.add(block);
                if (block.reason().isEmpty()) {
                    problems.add(block.place() + ": norun needs a reason behind it.");
                }
            } else if (checkers.containsKey(block.language())) {
                checked++;
                parse(block).ifPresent(problems::add);
            } else if (!block.isSession() && !block.isServer() && !isOutputOf(block, before)) {
                problems.add(block.place() + ": nothing runs or checks this block (\"" + block.language()
                        + "\"). Make it `sh run`, or say `norun` and why.");
            }
        }
        List<CodeBlock> sessions = blocks.stream().filter(CodeBlock::isSession).toList();
        if (!sessions.isEmpty() || blocks.stream().anyMatch(CodeBlock::isServer)) {
            problems.addAll(run(blocks));
        }
        return new Report(problems, excused, sessions.size(), checked);
    }

    /** The output of a session is compared; the output of a block that is not run shares its excuse. */
    private static boolean isOutputOf(CodeBlock block, Optional<CodeBlock> before) {
        return block.isOutput()
                && before.map(b -> b.isSession() || b.isServer() || b.isExcused())
                        .orElse(false);
    }

    private Optional<String> parse(CodeBlock block) {
        try {
            checkers.getOrDefault(block.language(), _ -> {}).accept(block);
            return Optional.empty();
        } catch (RuntimeException wrong) {
            return Optional.of(block.place() + ": " + wrong.getMessage());
        }
    }

    private List<String> run(List<CodeBlock> blocks) throws Exception {
        Path folder = Files.createTempDirectory("semel-document");
        for (String name : LINKED) {
            if (Files.exists(commands.resolve(name))) {
                Files.createSymbolicLink(folder.resolve(name), commands.resolve(name));
            }
        }
        Optional<CodeBlock> started =
                blocks.stream().filter(CodeBlock::isServer).findFirst();
        DocumentServer server = started.<DocumentServer>map(block -> new DocumentedServer(block.text(), folder, base()))
                .orElseGet(servers);
        try {
            server.start();
            Map<String, String> environment = base();
            environment.put("SEMEL_SERVER", server.url());
            try (BashSession shell = new BashSession(folder, environment, limit)) {
                return new DocumentSession(shell, server, limit).run(blocks);
            }
        } finally {
            server.stop();
            Folders.delete(folder);
        }
    }

    private Map<String, String> base() {
        Map<String, String> environment = new HashMap<>();
        environment.put("PATH", commands + File.pathSeparator + System.getenv("PATH"));
        environment.put("NO_COLOR", "1");
        environment.put("SEMEL_JAVA_HOME", System.getProperty("java.home"));
        return environment;
    }
}
