package dev.semel.trials.documents;

import dev.semel.trials.architecture.SourceFile;
import java.io.File;
import java.io.IOException;
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

/**
 * Runs the code blocks of documents.
 *
 * @param commands the folder put in front of the path, where {@code semel} is found
 * @param servers a new server for each document that has a session
 * @param checkers by language; a checker throws what is wrong with the text of a block
 * @param limit how long one block may take
 */
record Documents(Path commands, Supplier<Server> servers, Map<String, Consumer<String>> checkers, Duration limit) {

    /** @param excused the blocks that say that they are not run, with their reasons */
    record Report(List<String> problems, List<Block> excused, int ran, int checked) {}

    Report check(List<SourceFile> files) throws Exception {
        Report all = new Report(new ArrayList<>(), new ArrayList<>(), 0, 0);
        for (SourceFile file : files) {
            Report one = check(file);
            all.problems().addAll(one.problems());
            all.excused().addAll(one.excused());
            all = new Report(all.problems(), all.excused(), all.ran() + one.ran(), all.checked() + one.checked());
        }
        return all;
    }

    Report check(SourceFile file) throws Exception {
        List<Block> blocks = Block.of(file);
        List<String> problems = new ArrayList<>();
        List<Block> excused = new ArrayList<>();
        int checked = 0;
        for (int i = 0; i < blocks.size(); i++) {
            Block block = blocks.get(i);
            Optional<Block> before = i == 0 ? Optional.empty() : Optional.of(blocks.get(i - 1));
            if (block.isExcused()) {
                excused.add(block);
                if (block.reason().isEmpty()) {
                    problems.add(block.place() + ": norun needs a reason behind it.");
                }
            } else if (checkers.containsKey(block.language())) {
                checked++;
                parse(block).ifPresent(problems::add);
            } else if (!block.isSession() && !isOutputOf(block, before)) {
                problems.add(block.place() + ": nothing runs or checks this block (\"" + block.language()
                        + "\"). Make it `sh run`, or say `norun` and why.");
            }
        }
        List<Block> sessions = blocks.stream().filter(Block::isSession).toList();
        if (!sessions.isEmpty()) {
            problems.addAll(run(blocks));
        }
        return new Report(problems, excused, sessions.size(), checked);
    }

    /** The output of a session is compared; the output of a block that is not run shares its excuse. */
    private static boolean isOutputOf(Block block, Optional<Block> before) {
        return block.isOutput()
                && before.map(b -> b.isSession() || b.isExcused()).orElse(false);
    }

    private Optional<String> parse(Block block) {
        try {
            checkers.getOrDefault(block.language(), _ -> {}).accept(block.text());
            return Optional.empty();
        } catch (RuntimeException wrong) {
            return Optional.of(block.place() + ": " + wrong.getMessage());
        }
    }

    private List<String> run(List<Block> blocks) throws Exception {
        Path folder = Files.createTempDirectory("semel-document");
        Server server = servers.get();
        try {
            server.start();
            try (Shell shell = new Shell(folder, environment(server), limit)) {
                return run(blocks, shell);
            }
        } finally {
            server.stop();
            Folders.delete(folder);
        }
    }

    /** A session that fails ends its document: what comes after it would fail for that reason only. */
    private List<String> run(List<Block> blocks, Shell shell) throws IOException, InterruptedException {
        for (int i = 0; i < blocks.size(); i++) {
            Block block = blocks.get(i);
            if (!block.isSession()) {
                continue;
            }
            Optional<Shell.Outcome> outcome = shell.run(block.text());
            if (outcome.isEmpty()) {
                return List.of(block.place() + ": did not end within " + limit + ", or ended the shell.");
            }
            String output = outcome.get().output();
            if (outcome.get().exit() != block.exit()) {
                return List.of(block.place() + ": exit code " + outcome.get().exit() + ", not " + block.exit()
                        + " (say exit=N behind run where another one is meant). It printed:\n" + output);
            }
            if (i + 1 < blocks.size() && blocks.get(i + 1).isOutput()) {
                Optional<String> differs = new Expectation(blocks.get(i + 1).text()).differs(output);
                if (differs.isPresent()) {
                    return List.of(blocks.get(i + 1).place() + ": " + differs.get());
                }
            }
        }
        return List.of();
    }

    private Map<String, String> environment(Server server) {
        Map<String, String> environment = new HashMap<>();
        environment.put("PATH", commands + File.pathSeparator + System.getenv("PATH"));
        environment.put("SEMEL_SERVER", server.url());
        environment.put("NO_COLOR", "1");
        return environment;
    }
}
