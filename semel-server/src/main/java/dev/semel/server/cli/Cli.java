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

/** The root of the command line. Wiring is `new`; every command gets the same surroundings. */
@Command(
        name = "semel",
        description = "Durable workflows: asking twice is safe.",
        versionProvider = Cli.Version.class,
        footer = {
            "",
            "Exit codes: 0 done (a replay is success), 1 failed, 2 wrong usage, 3 key conflict, 4 in doubt,",
            "5 refused as unprotected, 6 not found, 7 not allowed, 8 unreachable or try later, 9 plan out of date."
        })
public final class Cli implements Callable<Integer> {
    private static final String EXAMPLES = """
        semel dev --demo                                          server and an example on this machine
        semel send payment_receipt --key evt_1 --data @pay.json   trigger; again: the same run
        semel send payment_receipt --key evt_1 --times 3          see duplicates prevented
        semel runs                                                what ran, and what was replayed
        semel key evt_1                                           the story of a key
        semel publish workflows/payment_receipt.yaml              publish a workflow
        semel doctor                                              is everything well here?
        semel help                                                all commands; `semel help send` for one\
        """;

    private static final SettingCommand.Sort TEMPLATE = new SettingCommand.Sort(
            "template", "templates", "name", "Keeps the words of messages; older versions stay.");
    private static final SettingCommand.Sort CHANNEL = new SettingCommand.Sort(
            "channel", "channels", "name", "Keeps how messages leave: e-mail, chat, webhook, SMS, WhatsApp.");
    private static final SettingCommand.Sort ALERT =
            new SettingCommand.Sort("alert", "alerts", "name", "Keeps who is told when a signal is beyond its bound.");
    private static final SettingCommand.Sort VIEW =
            new SettingCommand.Sort("view", "views", "name", "Keeps filters of runs under a name.");
    private static final SettingCommand.Sort ROUTE = new SettingCommand.Sort(
            "route", "routes", "name", "Keeps by which channels a notification event goes out.");

    private final Surroundings around;

    @Option(
            names = {"-V", "--version"},
            versionHelp = true,
            description = "Print the version.")
    boolean version;

    private Cli(Surroundings around) {
        this.around = around;
    }

    public static CommandLine commandLine(Surroundings around, Function<ServeOptions, Integer> serve) {
        CommandLine root = new CommandLine(new Cli(around))
                .addSubcommand(new ServerCommand.Dev(around, serve))
                .addSubcommand(new ServerCommand.Serve(around, serve))
                .addSubcommand(new SendCommand(around))
                .addSubcommand(new EmitCommand(around))
                .addSubcommand(new EventsCommand(around))
                .addSubcommand(new RunsCommand(around))
                .addSubcommand(RunCommand.commandLine(around))
                .addSubcommand(new TimelineCommand(around))
                .addSubcommand(new SignalCommand(around))
                .addSubcommand(new ReviewsCommand(around))
                .addSubcommand(new ActCommand.Decide(around))
                .addSubcommand(new ActCommand.Approve(around))
                .addSubcommand(new ActCommand.Reject(around))
                .addSubcommand(new ActCommand.Cancel(around))
                .addSubcommand(ReplayCommand.commandLine(around))
                .addSubcommand(new RequestsCommand(around))
                .addSubcommand(new KeyCommand(around))
                .addSubcommand(new KeysCommand(around))
                .addSubcommand(new EffectsCommand(around))
                .addSubcommand(new WorkflowsCommand(around))
                .addSubcommand(new WorkersCommand(around))
                .addSubcommand(new SignalsCommand(around))
                .addSubcommand(new ObjectsCommand(around))
                .addSubcommand(new BacktestCommand(around))
                .addSubcommand(new CheckCommand(around))
                .addSubcommand(new NewCommand(around))
                .addSubcommand(new PublishCommand(around))
                .addSubcommand(new VersionsCommand(around))
                .addSubcommand(new DiffCommand(around))
                .addSubcommand(new TurnCommand.Promote(around))
                .addSubcommand(new TurnCommand.Rollback(around))
                .addSubcommand(new TurnCommand.Pause(around))
                .addSubcommand(new TurnCommand.Resume(around))
                .addSubcommand(new SchedulesCommand(around))
                .addSubcommand(ScheduleCommand.commandLine(around))
                .addSubcommand(TokenCommand.commandLine(around))
                .addSubcommand(SecretCommand.commandLine(around))
                .addSubcommand(new AlertsCommand(around))
                .addSubcommand(HooksCommand.commandLine(around))
                .addSubcommand(PeopleCommands.profile(around))
                .addSubcommand(PeopleCommands.cohort(around))
                .addSubcommand(new DoctorCommand(around))
                .addSubcommand(new CommandLine.HelpCommand());
        for (SettingCommand.Sort sort : List.of(TEMPLATE, CHANNEL, ROUTE, ALERT, VIEW)) {
            root.addSubcommand(SettingCommand.commandLine(around, sort));
        }
        addLookingBack(root, around);
        addHelpOption(root);
        return root
                // `--data @file` is ours; picocli would splice the file's words into the arguments.
                .setExpandAtFiles(false)
                .setUsageHelpWidth(100)
                .setOut(around.out())
                .setErr(around.err())
                .setColorScheme(CommandLine.Help.defaultColorScheme(Output.mayColour(around) ? Ansi.ON : Ansi.OFF))
                .setParameterExceptionHandler(Cli::wrongUsage)
                .setExecutionExceptionHandler(Cli::failed);
    }

    private static void addLookingBack(CommandLine root, Surroundings around) {
        root.addSubcommand(new TailCommand(around))
                .addSubcommand(new RevealCommand(around))
                .addSubcommand(new WorkspacesCommand(around))
                .addSubcommand(new DraftCommand(around))
                .addSubcommand(PeopleCommand.commandLine(around))
                .addSubcommand(new AuditCommand(around))
                .addSubcommand(new FactsCommand(around))
                .addSubcommand(new WorkflowCommand(around))
                .addSubcommand(new LogCommand(around))
                .addSubcommand(IncidentCommand.commandLine(around))
                .addSubcommand(new QaCommand(around))
                .addSubcommand(DemoCommand.commandLine(around));
    }

    @Override
    public Integer call() {
        around.out().println(EXAMPLES);
        return Exit.DONE;
    }

    /** -h everywhere, without a superclass for every command. */
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
        err.println(Json.clean(String.valueOf(wrong.getMessage())));
        if (wrong instanceof UnmatchedArgumentException unmatched) {
            Typo.suggestion(unmatched).ifPresent(words -> err.println("did you mean: " + words));
        }
        String name = command.getCommandSpec().qualifiedName();
        err.println("help: " + (name.equals("semel") ? "semel help" : name + " -h"));
        return Exit.USAGE;
    }

    private static int failed(Exception thrown, CommandLine command, ParseResult root) {
        if (!(thrown instanceof Failure failure)) {
            command.getErr().println("semel: a mistake in this program, please report it: " + thrown);
            if (thrown.getStackTrace().length > 0) {
                command.getErr().println("  at " + thrown.getStackTrace()[0]);
            }
            return Exit.FAILED;
        }
        failure.lines().forEach(command.getErr()::println);
        // The result that is passed in is the root's; the option belongs to the command.
        if (command.getParseResult().hasMatchedOption("--json")) {
            command.getOut().println(Json.pretty(failure.document()));
        }
        return failure.exit();
    }

    /** From the jar's own Maven record, so that the version stands in the POM only. */
    static final class Version implements IVersionProvider {
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
