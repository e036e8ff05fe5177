package dev.semel.trials.documents;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * The blocks of one document, run in order in one shell. {@code localhost:8085} in a block is the server of the
 * document, {@code localhost:8086} its playground, and an id that an output showed is the real one, so that a reader can copy every line as it stands.
 */
final class DocumentSession {
    private static final String TYPED = "localhost:8085";
    private static final String PRINTED = "127.0.0.1:8085";
    private static final String PLAYED = "localhost:8086";
    private static final String PLAYGROUND = "127.0.0.1:8086";

    /** The launcher's remark in a checkout that was edited after it was packaged; no reader's concern. */
    private static final Pattern STALE = Pattern.compile("(?m)^semel: the sources are newer than the build\\. .*\\R");

    private final BashSession shell;
    private final DocumentServer server;
    private final Duration limit;
    private DocumentIds names = new DocumentIds();

    DocumentSession(BashSession shell, DocumentServer server, Duration limit) {
        this.shell = shell;
        this.server = server;
        this.limit = limit;
    }

    /** A block that fails ends its document: what comes after it would fail for that reason only. */
    List<String> run(List<CodeBlock> blocks) throws IOException, InterruptedException {
        for (int i = 0; i < blocks.size(); i++) {
            Optional<CodeBlock> after = i + 1 < blocks.size() ? Optional.of(blocks.get(i + 1)) : Optional.empty();
            Optional<CodeBlock> expected = after.filter(CodeBlock::isOutput);
            CodeBlock block = blocks.get(i);
            Optional<String> problem = Optional.empty();
            if (block.isServer()) {
                problem = expected.flatMap(text -> differs(text, shown(server.greeting())));
            } else if (block.isSession()) {
                problem = run(block, expected);
            }
            if (problem.isPresent()) {
                return List.of(problem.get());
            }
        }
        return List.of();
    }

    private Optional<String> run(CodeBlock block, Optional<CodeBlock> expected)
            throws IOException, InterruptedException {
        long deadline = System.nanoTime() + limit.toNanos();
        Optional<String> problem;
        do {
            problem = once(block, expected);
        } while (problem.isPresent() && block.isPatient() && System.nanoTime() < deadline);
        return problem;
    }

    private Optional<String> once(CodeBlock block, Optional<CodeBlock> expected)
            throws IOException, InterruptedException {
        Optional<BashSession.Outcome> outcome = shell.run(spoken(block.text()));
        if (outcome.isEmpty()) {
            return Optional.of(block.place() + ": did not end within " + limit + ", or ended the shell.");
        }
        String output = shown(outcome.get().output());
        if (outcome.get().exit() != block.exit()) {
            return Optional.of(block.place() + ": exit code " + outcome.get().exit() + ", not " + block.exit()
                    + " (say exit=N behind run where another one is meant). It printed:\n" + output);
        }
        return expected.flatMap(text -> differs(text, output));
    }

    private Optional<String> differs(CodeBlock expected, String output) {
        Expectation.Comparison comparison = new Expectation(expected.text()).compare(output, names);
        names = comparison.names();
        return comparison.difference().map(text -> expected.place() + ": " + text);
    }

    private String spoken(String block) {
        String spoken = names.spoken(block).replace(TYPED, authority()).replace(PRINTED, authority());
        String played = playground();
        return played.isEmpty() ? spoken : spoken.replace(PLAYED, played).replace(PLAYGROUND, played);
    }

    private String shown(String output) {
        String shown = STALE.matcher(output).replaceAll("").replace(authority(), PRINTED);
        return playground().isEmpty() ? shown : shown.replace(playground(), PLAYGROUND);
    }

    private String playground() {
        return server.playground().replace("http://", "");
    }

    private String authority() {
        return server.url().substring("http://".length());
    }
}
