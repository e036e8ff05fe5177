package dev.semel.server.cli;

import static picocli.CommandLine.Model.UsageMessageSpec.SECTION_KEY_COMMAND_LIST;

import dev.semel.server.cli.command.CliCommandEnvironment;
import dev.semel.server.cli.command.CliCommandException;
import dev.semel.server.cli.command.CliCommandGroup;
import dev.semel.server.cli.command.CliCommandOutput;
import dev.semel.server.cli.command.ExitCode;
import dev.semel.server.cli.command.TerminalJsonFormatter;
import dev.semel.server.cli.server.ServerOptions;
import java.io.IOException;
import java.io.InputStream;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.Callable;
import java.util.function.Function;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Help.Ansi;
import picocli.CommandLine.IVersionProvider;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;
import picocli.CommandLine.UnmatchedArgumentException;

/** Root of the command line: creates every command, and handles usage errors and failures. */
@Command(
        name = "semel",
        description = "Durable workflows: sending a request twice is safe.",
        versionProvider = CliRootCommand.CliVersionProvider.class,
        footer = {
            "",
            "`semel COMMAND -h` explains a command and lists its verbs.",
            "Exit codes: 0 done, 1 failed, 2 usage, 3 key conflict, 4 in doubt,",
            "5 rejected as unprotected, 6 not found, 7 not allowed, 8 unreachable,",
            "9 plan out of date."
        })
public final class CliRootCommand implements Callable<Integer>, CliCommandEnvironment.Provider {
    private static final String EXAMPLES = """
        semel dev --demo                                          start a local server with examples
        semel send payment_receipt --key evt_1 --data @pay.json   trigger; a repeat returns the same run
        semel send payment_receipt --key evt_1 --times 3          see duplicates prevented
        semel runs                                                list runs and replayed requests
        semel key show evt_1                                      show the history of a key
        semel publish workflows/payment_receipt.yaml              publish a workflow
        semel doctor                                              check this installation
        semel help                                                all commands; `semel help send` for one\
        """;

    private static final int HELP_WIDTH = 80;

    private final CliCommandEnvironment environment;

    @Option(
            names = {"-V", "--version"},
            versionHelp = true,
            description = "Print the version.")
    boolean version;

    private CliRootCommand(CliCommandEnvironment environment) {
        this.environment = environment;
    }

    @Override
    public CliCommandEnvironment environment() {
        return environment;
    }

    public static CommandLine commandLine(CliCommandEnvironment environment, Function<ServerOptions, Integer> serve) {
        CommandLine root = new CommandLine(new CliRootCommand(environment));
        Map<String, List<CommandLine>> groups = new CliCommandTree(serve).groups();
        groups.values().forEach(group -> group.forEach(root::addSubcommand));
        root.addSubcommand(new CommandLine.HelpCommand());
        root.getCommandSpec().usageMessage().commandListHeading("");
        root.getHelpSectionMap().put(SECTION_KEY_COMMAND_LIST, _ -> commandList(groups));
        addHelp(root);
        root.setUsageHelpWidth(100).getCommandSpec().usageMessage().width(HELP_WIDTH);
        return root
                // `--data @file` names a payload file; picocli would expand it into arguments.
                .setExpandAtFiles(false)
                .setOut(environment.out())
                .setErr(environment.err())
                .setColorScheme(CommandLine.Help.defaultColorScheme(
                        CliCommandOutput.supportsColour(environment) ? Ansi.ON : Ansi.OFF))
                .setParameterExceptionHandler(CliRootCommand::wrongUsage)
                .setExecutionExceptionHandler(CliRootCommand::failed);
    }

    /** One line per command: its name and the first sentence of its description. */
    private static String commandList(Map<String, List<CommandLine>> groups) {
        StringBuilder text = new StringBuilder();
        groups.forEach((heading, commands) -> {
            text.append(String.format("%n%s:%n", heading));
            for (CommandLine command : commands) {
                String description = command.getCommandSpec().usageMessage().description()[0];
                int end = description.indexOf(". ");
                text.append(String.format(
                        "  %-11s %s%n",
                        command.getCommandName(), end < 0 ? description : description.substring(0, end + 1)));
            }
        });
        return text.toString();
    }

    @Override
    public Integer call() {
        environment.out().println(EXAMPLES);
        return ExitCode.OK;
    }

    /** Adds -h and --help to every command, and a heading above its examples. */
    private static void addHelp(CommandLine command) {
        var usage = command.getCommandSpec().usageMessage();
        if (usage.footerHeading().isEmpty() && command.getParent() != null) {
            usage.footerHeading(
                    switch (usage.footer().length) {
                        case 0 -> "";
                        case 1 -> "%nExample:%n";
                        default -> "%nExamples:%n";
                    });
        }
        if (!(command.getCommand() instanceof CommandLine.HelpCommand)) {
            command.getCommandSpec()
                    .addOption(CommandLine.Model.OptionSpec.builder("-h", "--help")
                            .usageHelp(true)
                            .arity("0")
                            .type(boolean.class)
                            .description("Show this help.")
                            .build());
        }
        command.getSubcommands().values().forEach(CliRootCommand::addHelp);
    }

    private static int wrongUsage(ParameterException wrong, String[] arguments) {
        CommandLine command = wrong.getCommandLine();
        var err = command.getErr();
        String name = command.getCommandSpec().qualifiedName();
        if (wrong instanceof UnmatchedArgumentException unmatched) {
            String word =
                    TerminalJsonFormatter.sanitize(unmatched.getUnmatched().getFirst());
            boolean verb = command.getCommand() instanceof CliCommandGroup && !word.startsWith("-");
            err.println(
                    verb
                            ? "Unknown verb '" + word + "': " + CliCommandGroup.verbs(command.getCommandSpec())
                            : TerminalJsonFormatter.sanitize(String.valueOf(wrong.getMessage())));
            CliCommandTypoSuggester.find(unmatched).ifPresent(words -> err.println("did you mean: " + words));
        } else {
            err.println(TerminalJsonFormatter.sanitize(String.valueOf(wrong.getMessage())));
        }
        err.println("help: " + (name.equals("semel") ? "semel help" : name + " -h"));
        return ExitCode.USAGE;
    }

    private static int failed(Exception thrown, CommandLine command, ParseResult root) {
        if (!(thrown instanceof CliCommandException failure)) {
            command.getErr().println("semel: internal error, please report it: " + thrown);
            if (thrown.getStackTrace().length > 0) {
                command.getErr().println("  at " + thrown.getStackTrace()[0]);
            }
            return ExitCode.FAILED;
        }
        failure.toLines().forEach(command.getErr()::println);
        // The result that is passed in is the root's; the option belongs to the command.
        if (command.getParseResult().hasMatchedOption("--json")) {
            command.getOut().println(TerminalJsonFormatter.pretty(failure.document()));
        }
        return failure.exitCode();
    }

    /** Reads the version from the jar's Maven metadata. */
    static final class CliVersionProvider implements IVersionProvider {
        @Override
        public String[] getVersion() throws IOException {
            Properties properties = new Properties();
            try (InputStream in =
                    CliRootCommand.class.getResourceAsStream("/META-INF/maven/dev.semel/semel-server/pom.properties")) {
                if (in != null) {
                    properties.load(in);
                }
            }
            return new String[] {"semel " + properties.getProperty("version", "(unpackaged build)")};
        }
    }
}
