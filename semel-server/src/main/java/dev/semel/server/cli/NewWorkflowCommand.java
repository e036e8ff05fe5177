package dev.semel.server.cli;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** `semel workflow new`: writes a starter workflow file. */
@Command(
        name = "new",
        description = "Writes a starter workflow file, into ./workflows if that folder exists.",
        footerHeading = "%nExamples:%n",
        footer = {"  semel workflow new order_mail", "  semel workflow new shop_receipt --from payment_receipt"})
final class NewWorkflowCommand implements Callable<Integer> {
    /** Examples that the jar contains. */
    static final List<String> EXAMPLES = List.of("payment_receipt", "new_lead", "fulfil_order");

    private static final Pattern NAME = Pattern.compile("(?!wf_)[a-z][a-z0-9_-]{0,63}");
    private static final Pattern WORKFLOW = Pattern.compile("(?m)^workflow:[ \\t]*\\S+");
    private final CommandEnvironment environment;

    @Mixin
    final CommandOutput output;

    @Parameters(paramLabel = "NAME", description = "A lower-case letter, then letters, digits, _ or -.")
    String name = "";

    @Option(
            names = "--from",
            paramLabel = "EXAMPLE",
            description = "Example to copy: payment_receipt, new_lead or fulfil_order. Default: a minimal workflow.")
    @Nullable
    String from;

    NewWorkflowCommand(CommandEnvironment environment) {
        this.environment = environment;
        this.output = new CommandOutput(environment);
    }

    @Override
    public Integer call() {
        if (!NAME.matcher(name).matches()) {
            throw rejected(
                    ExitCode.USAGE,
                    "\"" + TerminalJson.sanitize(name) + "\" is not a valid workflow name.",
                    "Use a lower-case letter and up to 63 letters, digits, _ or -; it must not begin with wf_.");
        }
        String text = from == null ? smallest().replace("%s", name) : renamed(readExample(from));
        Path folder = environment.folder().resolve("workflows");
        Path file = (Files.isDirectory(folder) ? folder : environment.folder()).resolve(name + ".yaml");
        write(file, text);
        String shown = environment.folder().relativize(file).toString();
        if (output.json) {
            output.printJson(TerminalJson.newObject().put("file", shown).put("workflow", name));
        } else {
            output.printLine(TerminalJson.sanitize(shown));
            output.suggestCommand("semel check --explain " + ShellQuoting.quote(shown));
        }
        return ExitCode.OK;
    }

    private String renamed(String text) {
        return WORKFLOW.matcher(text).replaceFirst(Matcher.quoteReplacement("workflow: " + name));
    }

    private static void write(Path file, String text) {
        try {
            Files.writeString(file, text, StandardOpenOption.CREATE_NEW);
        } catch (FileAlreadyExistsException there) {
            throw rejected(
                    ExitCode.FAILED, file.getFileName() + " already exists.", "Choose another name, or edit the file.");
        } catch (IOException e) {
            throw rejected(
                    ExitCode.FAILED, file.getFileName() + " cannot be written.", "Check the folder's permissions.");
        }
    }

    /** The template that the dashboard uses for a new workflow, too. */
    private static String smallest() {
        return Objects.requireNonNull(read("/dev/semel/server/smallest.yaml"));
    }

    /** An example from the jar. */
    static String readExample(String wanted) {
        String text = EXAMPLES.contains(wanted) ? read("/examples/" + wanted + ".yaml") : null;
        if (text == null) {
            throw rejected(
                    ExitCode.USAGE,
                    "There is no example \"" + TerminalJson.sanitize(wanted) + "\".",
                    "Use one of " + String.join(", ", EXAMPLES) + ".");
        }
        return text;
    }

    private static @Nullable String read(String resource) {
        try (InputStream in = NewWorkflowCommand.class.getResourceAsStream(resource)) {
            return in == null ? null : new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new IllegalStateException("an example cannot be read", e);
        }
    }

    private static CommandFailure rejected(int exit, String what, String fix) {
        return CommandFailure.create(exit, "not-written", what + " Nothing was written.", fix);
    }
}
