package dev.semel.server.cli;

import java.io.IOException;
import java.io.InputStream;
import java.util.List;
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
        versionProvider = Cli.CliVersionProvider.class,
        footer = {
            "",
            "Exit codes: 0 done (also if Replayed), 1 failed, 2 wrong usage, 3 key conflict, 4 in doubt,",
            "5 rejected as unprotected, 6 not found, 7 not allowed, 8 unreachable or try later, 9 plan out of date."
        })
public final class Cli implements Callable<Integer> {
    private static final String EXAMPLES = """
        semel dev --demo                                          start a local server with examples
        semel send payment_receipt --key evt_1 --data @pay.json   trigger; a repeat returns the same run
        semel send payment_receipt --key evt_1 --times 3          see duplicates prevented
        semel runs                                                list runs and replayed requests
        semel key evt_1                                           show the history of a key
        semel publish workflows/payment_receipt.yaml              publish a workflow
        semel doctor                                              check this installation
        semel help                                                all commands; `semel help send` for one\
        """;

    private static final SettingCommand.SettingResource TEMPLATE = new SettingCommand.SettingResource(
            "template", "templates", "name", "Manages message templates. Older versions stay available.");
    private static final SettingCommand.SettingResource CHANNEL = new SettingCommand.SettingResource(
            "channel", "channels", "name", "Manages message channels: e-mail, chat, webhook, SMS, WhatsApp.");
    private static final SettingCommand.SettingResource ALERT =
            new SettingCommand.SettingResource("alert", "alerts", "name", "Manages alerts: who is notified when a metric exceeds its threshold.");
    private static final SettingCommand.SettingResource VIEW =
            new SettingCommand.SettingResource("view", "views", "name", "Manages named filters of runs.");
    private static final SettingCommand.SettingResource ROUTE = new SettingCommand.SettingResource(
            "route", "routes", "name", "Manages the channels that send a notification event.");

    private final CommandEnvironment environment;

    @Option(
            names = {"-V", "--version"},
            versionHelp = true,
            description = "Print the version.")
    boolean version;

    private Cli(CommandEnvironment environment) {
        this.environment = environment;
    }

    public static CommandLine commandLine(CommandEnvironment environment, Function<ServerOptions, Integer> serve) {
        CommandLine root = new CommandLine(new Cli(environment))
                .addSubcommand(new ServerCommand.DevCommand(environment, serve))
                .addSubcommand(new ServerCommand.ServeCommand(environment, serve))
                .addSubcommand(new SendCommand(environment))
                .addSubcommand(new EmitCommand(environment))
                .addSubcommand(new EventsCommand(environment))
                .addSubcommand(new RunsCommand(environment))
                .addSubcommand(RunCommand.commandLine(environment))
                .addSubcommand(new TimelineCommand(environment))
                .addSubcommand(new SignalCommand(environment))
                .addSubcommand(new ReviewsCommand(environment))
                .addSubcommand(new RunActionCommand.DecideCommand(environment))
                .addSubcommand(new RunActionCommand.ReviewApproveCommand(environment))
                .addSubcommand(new RunActionCommand.ReviewRejectCommand(environment))
                .addSubcommand(new RunActionCommand.RunCancelCommand(environment))
                .addSubcommand(ReplayCommand.commandLine(environment))
                .addSubcommand(new RequestsCommand(environment))
                .addSubcommand(new KeyCommand(environment))
                .addSubcommand(new KeysCommand(environment))
                .addSubcommand(new EffectsCommand(environment))
                .addSubcommand(new WorkflowsCommand(environment))
                .addSubcommand(new WorkersCommand(environment))
                .addSubcommand(new MonitoringCommand(environment))
                .addSubcommand(new ObjectsCommand(environment))
                .addSubcommand(new BacktestCommand(environment))
                .addSubcommand(new CheckCommand(environment))
                .addSubcommand(new NewWorkflowCommand(environment))
                .addSubcommand(new PublishCommand(environment))
                .addSubcommand(new VersionsCommand(environment))
                .addSubcommand(new DiffCommand(environment))
                .addSubcommand(new WorkflowControlCommand.PromoteCommand(environment))
                .addSubcommand(new WorkflowControlCommand.RollbackCommand(environment))
                .addSubcommand(new WorkflowControlCommand.WorkflowPauseCommand(environment))
                .addSubcommand(new WorkflowControlCommand.WorkflowResumeCommand(environment))
                .addSubcommand(new SchedulesCommand(environment))
                .addSubcommand(ScheduleCommand.commandLine(environment))
                .addSubcommand(TokenCommand.commandLine(environment))
                .addSubcommand(SecretCommand.commandLine(environment))
                .addSubcommand(new AlertsCommand(environment))
                .addSubcommand(WebhookCommand.commandLine(environment))
                .addSubcommand(ProfileCommands.profileCommand(environment))
                .addSubcommand(ProfileCommands.cohortCommand(environment))
                .addSubcommand(new DoctorCommand(environment))
                .addSubcommand(new CommandLine.HelpCommand());
        for (SettingCommand.SettingResource sort : List.of(TEMPLATE, CHANNEL, ROUTE, ALERT, VIEW)) {
            root.addSubcommand(SettingCommand.commandLine(environment, sort));
        }
        addInspectionCommands(root, environment);
        addHelpOption(root);
        return root
                // `--data @file` names a payload file; picocli would expand it into arguments.
                .setExpandAtFiles(false)
                .setUsageHelpWidth(100)
                .setOut(environment.out())
                .setErr(environment.err())
                .setColorScheme(CommandLine.Help.defaultColorScheme(CommandOutput.supportsColour(environment) ? Ansi.ON : Ansi.OFF))
                .setParameterExceptionHandler(Cli::wrongUsage)
                .setExecutionExceptionHandler(Cli::failed);
    }

    private static void addInspectionCommands(CommandLine root, CommandEnvironment environment) {
        root.addSubcommand(new TailCommand(environment))
                .addSubcommand(new RunRevealCommand(environment))
                .addSubcommand(new WorkspacesCommand(environment))
                .addSubcommand(new DraftCommand(environment))
                .addSubcommand(UserCommand.commandLine(environment))
                .addSubcommand(new AuditCommand(environment))
                .addSubcommand(new FactsCommand(environment))
                .addSubcommand(new WorkflowCommand(environment))
                .addSubcommand(new MessageLogCommand(environment))
                .addSubcommand(IncidentCommand.commandLine(environment))
                .addSubcommand(new QaCommand(environment))
                .addSubcommand(DemoCommand.commandLine(environment));
    }

    @Override
    public Integer call() {
        environment.out().println(EXAMPLES);
        return ExitCode.OK;
    }

    /** Adds -h and --help to every command. */
    private static void addHelpOption(CommandLine command) {
        if (!(command.getCommand() instanceof CommandLine.HelpCommand)) {
            command.getCommandSpec()
                    .addOption(CommandLine.Model.OptionSpec.builder("-h", "--help")
                            .usageHelp(true)
                            .arity("0")
                            .type(boolean.class)
                            .description("Show this help.")
                            .build());
        }
        command.getSubcommands().values().forEach(Cli::addHelpOption);
    }

    private static int wrongUsage(ParameterException wrong, String[] arguments) {
        CommandLine command = wrong.getCommandLine();
        var err = command.getErr();
        err.println(TerminalJson.sanitize(String.valueOf(wrong.getMessage())));
        if (wrong instanceof UnmatchedArgumentException unmatched) {
            TypoSuggestion.find(unmatched).ifPresent(words -> err.println("did you mean: " + words));
        }
        String name = command.getCommandSpec().qualifiedName();
        err.println("help: " + (name.equals("semel") ? "semel help" : name + " -h"));
        return ExitCode.USAGE;
    }

    private static int failed(Exception thrown, CommandLine command, ParseResult root) {
        if (!(thrown instanceof CommandFailure failure)) {
            command.getErr().println("semel: internal error, please report it: " + thrown);
            if (thrown.getStackTrace().length > 0) {
                command.getErr().println("  at " + thrown.getStackTrace()[0]);
            }
            return ExitCode.FAILED;
        }
        failure.toLines().forEach(command.getErr()::println);
        // The result that is passed in is the root's; the option belongs to the command.
        if (command.getParseResult().hasMatchedOption("--json")) {
            command.getOut().println(TerminalJson.pretty(failure.document()));
        }
        return failure.exitCode();
    }

    /** Reads the version from the jar's Maven metadata. */
    static final class CliVersionProvider implements IVersionProvider {
        @Override
        public String[] getVersion() throws IOException {
            Properties properties = new Properties();
            try (InputStream in =
                    Cli.class.getResourceAsStream("/META-INF/maven/dev.semel/semel-server/pom.properties")) {
                if (in != null) {
                    properties.load(in);
                }
            }
            return new String[] {"semel " + properties.getProperty("version", "(unpackaged build)")};
        }
    }
}
