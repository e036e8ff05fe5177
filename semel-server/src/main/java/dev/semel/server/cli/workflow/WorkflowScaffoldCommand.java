package dev.semel.server.cli.workflow;

import dev.semel.server.cli.command.CliCommand;
import dev.semel.server.cli.command.CliCommandException;
import dev.semel.server.cli.command.CliCommandOutput;
import dev.semel.server.cli.command.ExitCode;
import dev.semel.server.cli.command.ShellQuoting;
import dev.semel.server.cli.command.TerminalJsonFormatter;
import dev.semel.server.demo.DemoDataSeeder;
import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@Command(
        name = "new",
        description = "Writes a starter workflow file, into ./workflows if that folder exists.",
        footer = {"  semel workflow new order_mail", "  semel workflow new shop_receipt --from payment_receipt"})
public final class WorkflowScaffoldCommand extends CliCommand {
    /** Examples that the jar contains. */
    public static final List<String> EXAMPLES = List.of("payment_receipt", "new_lead", "fulfil_order");

    /** The template that the dashboard uses for a new workflow, too. */
    private static final String SMALLEST = "/dev/semel/server/smallest.yaml";

    private static final Pattern NAME = Pattern.compile("(?!wf_)[a-z][a-z0-9_-]{0,63}");
    private static final Pattern WORKFLOW = Pattern.compile("(?m)^workflow:[ \\t]*\\S+");

    @Mixin
    final CliCommandOutput output = new CliCommandOutput();

    @Parameters(
            paramLabel = "NAME",
            description = "Name of the new workflow: a lower-case letter, then letters, digits, _ or -.")
    String name = "";

    @Option(
            names = "--from",
            paramLabel = "EXAMPLE",
            description = "Example to copy: payment_receipt, new_lead or fulfil_order. Default: a minimal workflow.")
    @Nullable
    String from;

    @Override
    public Integer call() {
        if (!NAME.matcher(name).matches()) {
            throw rejected(
                    ExitCode.USAGE,
                    "\"" + TerminalJsonFormatter.sanitize(name) + "\" is not a valid workflow name.",
                    "Begin the name with a lower-case letter, followed by up to 63 letters, digits, _ or -. It must"
                            + " not begin with wf_.");
        }
        String text = from == null ? DemoDataSeeder.resource(SMALLEST).replace("%s", name) : renamed(readExample(from));
        Path folder = environment().folder().resolve("workflows");
        Path file = (Files.isDirectory(folder) ? folder : environment().folder()).resolve(name + ".yaml");
        write(file, text);
        String shown = environment().folder().relativize(file).toString();
        int exit = output.print(
                TerminalJsonFormatter.newObject().put("file", shown).put("workflow", name),
                () -> output.printLine(TerminalJsonFormatter.sanitize(shown)));
        output.suggestCommand("semel check --explain " + ShellQuoting.quote(shown));
        return exit;
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

    /** An example from the jar. */
    static String readExample(String wanted) {
        if (!EXAMPLES.contains(wanted)) {
            throw rejected(
                    ExitCode.USAGE,
                    "There is no example \"" + TerminalJsonFormatter.sanitize(wanted) + "\".",
                    "Use one of " + String.join(", ", EXAMPLES) + ".");
        }
        return DemoDataSeeder.resource("/examples/" + wanted + ".yaml");
    }

    private static CliCommandException rejected(int exit, String what, String fix) {
        return CliCommandException.create(exit, "not-written", what + " Nothing was written.", fix);
    }
}
