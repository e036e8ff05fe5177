package dev.semel.server.cli;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import picocli.CommandLine;

/** All commands, in the groups of `semel --help`: the everyday ones, and one command per resource. */
final class CommandTree {
    private static final SettingCommands.SettingResource SECRET =
            new SettingCommands.SettingResource("secret", "secrets", "name");
    private static final SettingCommands.SettingResource WEBHOOK =
            new SettingCommands.SettingResource("webhook", "webhooks", "name");

    private static final SettingCommands.SettingResource PROFILE =
            new SettingCommands.SettingResource("profile", "profiles", "profile_id");
    private static final SettingCommands.SettingResource COHORT =
            new SettingCommands.SettingResource("cohort", "cohorts", "name");

    private final CommandEnvironment environment;
    private final Function<ServerOptions, Integer> serve;

    CommandTree(CommandEnvironment environment, Function<ServerOptions, Integer> serve) {
        this.environment = environment;
        this.serve = serve;
    }

    /** The commands by the heading of their group. */
    Map<String, List<CommandLine>> groups() {
        Map<String, List<CommandLine>> groups = new LinkedHashMap<>();
        groups.put("Everyday", everyday());
        groups.put("Workflows", workflows());
        groups.put("Runs and keys", runsAndKeys());
        groups.put("Recovery", recovery());
        groups.put("Triggers", triggers());
        groups.put("Settings", settings());
        groups.put("Server", server());
        return groups;
    }

    private List<CommandLine> everyday() {
        return List.of(
                new CommandLine(new SendCommand(environment)),
                new CommandLine(new RunListCommand(environment)).setCommandName("runs"),
                new CommandLine(new PublishCommand(environment)),
                new CommandLine(new CheckCommand(environment)),
                new CommandLine(new TailCommand(environment)),
                new CommandLine(new QaCommand(environment)),
                new CommandLine(new DoctorCommand(environment)),
                ResourceCommand.create(
                        "demo", "Demonstrates a crash on temporary servers.", new CrashDemo(environment)),
                new CommandLine(new LoginCommand(environment)),
                new CommandLine(new CompletionCommand(environment)));
    }

    private List<CommandLine> workflows() {
        return List.of(
                ResourceCommand.create(
                        "workflow",
                        "Writes, checks, publishes, compares and pauses workflows.",
                        WorkflowControlCommand.list(environment),
                        new WorkflowShowCommand(environment),
                        new NewWorkflowCommand(environment),
                        new CheckCommand(environment),
                        new DraftCommand(environment),
                        new PublishCommand(environment),
                        new VersionListCommand(environment),
                        new DiffCommand(environment),
                        new WorkflowControlCommand.PromoteCommand(environment),
                        new WorkflowControlCommand.RollbackCommand(environment),
                        WorkflowControlCommand.pause(environment),
                        WorkflowControlCommand.resume(environment),
                        new BacktestCommand(environment)),
                ResourceCommand.create(
                        "log", "Lists the messages of a workflow's runs.", new MessageListCommand(environment)));
    }

    private List<CommandLine> runsAndKeys() {
        return List.of(
                ResourceCommand.create(
                        "run",
                        "Shows, cancels, resumes and signals runs.",
                        new RunListCommand(environment),
                        new RunShowCommand(environment),
                        new RunTimelineCommand(environment),
                        new RunCancelCommand(environment),
                        new RunResumeCommand(environment),
                        new RunSignalCommand(environment),
                        new RevealCommand(environment, "runs")),
                ResourceCommand.create(
                        "key",
                        "Shows, simulates, extends and releases idempotency keys.",
                        new KeyListCommand(environment),
                        new KeyCommands.KeyShowCommand(environment),
                        new KeyCommands.KeySimulateCommand(environment),
                        new KeyCommands.KeyExtendCommand(environment),
                        new KeyCommands.KeyReleaseCommand(environment)),
                ResourceCommand.create(
                        "request", "Lists replayed requests and conflicts.", new RequestListCommand(environment)),
                ResourceCommand.create(
                        "effect", "Lists side effects in external systems.", new EffectListCommand(environment)),
                ResourceCommand.create(
                        "object",
                        "Lists objects that steps wrote more than once.",
                        new ObjectListCommand(environment)));
    }

    private List<CommandLine> recovery() {
        return List.of(
                ResourceCommand.create(
                        "replay",
                        "Plans and applies safe replays of runs.",
                        new ReplayCommand.ReplayPlanCreateCommand(environment),
                        ReplayCommand.list(environment),
                        new ReplayCommand.ReplayShowCommand(environment),
                        ReplayCommand.approve(environment),
                        new ReplayCommand.ReplayApplyCommand(environment),
                        new ReplayCommand.ReplayStopCommand(environment)),
                ResourceCommand.create(
                        "review",
                        "Lists and decides what waits for a user.",
                        new ReviewCommands.ReviewListCommand(environment),
                        ReviewCommands.show(environment),
                        ReviewCommands.check(environment),
                        new ReviewDecideCommand(environment)),
                ResourceCommand.create(
                        "incident",
                        "Drafts, edits and exports incident reports.",
                        ListCommand.create(environment, "Lists incident reports.", IncidentCommands.LIST),
                        new IncidentCommands.IncidentShowCommand(environment),
                        new IncidentCommands.IncidentCreateCommand(environment),
                        new IncidentCommands.IncidentAnswerCommand(environment),
                        new IncidentCommands.IncidentExportCommand(environment)));
    }

    private List<CommandLine> triggers() {
        return List.of(
                ResourceCommand.create(
                        "event",
                        "Sends, lists and reprocesses events.",
                        new EventSendCommand(environment),
                        new EventCommands.EventListCommand(environment),
                        EventCommands.show(environment),
                        new EventCommands.EventReprocessCommand(environment)),
                ResourceCommand.create(
                        "webhook",
                        "Manages the webhooks of providers and their deliveries.",
                        new WebhookCommands.WebhookListCommand(environment),
                        SettingCommands.show(environment, WEBHOOK),
                        new WebhookCommands.WebhookCreateCommand(environment),
                        new WebhookCommands.WebhookRotateCommand(environment),
                        new WebhookDeliveryCommands.DeliveryListCommand(environment),
                        WebhookDeliveryCommands.reprocess(environment),
                        new WebhookDeliveryCommands.WebhookTestCommand(environment),
                        SettingCommands.delete(environment, WEBHOOK)),
                ResourceCommand.create(
                        "schedule",
                        "Shows, pauses, resumes and backfills schedules.",
                        ScheduleCommand.list(environment),
                        new ScheduleCommand.ScheduleShowCommand(environment),
                        new ScheduleCommand.TickListCommand(environment),
                        ScheduleCommand.pause(environment),
                        ScheduleCommand.resume(environment),
                        new ScheduleCommand.ScheduleBackfillCommand(environment)));
    }

    private List<CommandLine> settings() {
        return List.of(
                ResourceCommand.create(
                        "secret",
                        "Stores credentials for steps and channels; never shows them again.",
                        ListCommand.create(environment, "Lists secrets, never their values.", SecretCommands.LIST),
                        new SecretCommands.SecretSetCommand(environment),
                        SettingCommands.delete(environment, SECRET)),
                setting("channel", "channels", "Manages message channels: e-mail, chat, webhook, SMS, WhatsApp."),
                setting("template", "templates", "Manages message templates. Older versions stay available."),
                setting("route", "routes", "Manages the channels that send a notification event."),
                SettingCommands.create(
                        environment,
                        PROFILE,
                        "Manages recipients of messages and their subscriptions.",
                        SettingCommands.list(environment, PROFILE),
                        ProfileCommands.subscribe(environment),
                        ProfileCommands.unsubscribe(environment),
                        new RevealCommand(environment, "profiles")),
                SettingCommands.create(
                        environment,
                        COHORT,
                        "Manages groups of profiles.",
                        SettingCommands.list(environment, COHORT),
                        ProfileCommands.addMember(environment),
                        ProfileCommands.removeMember(environment),
                        new ProfileCommands.CohortMembersCommand(environment)),
                setting("view", "views", "Manages named filters of runs."),
                SettingCommands.create(
                        environment,
                        new SettingCommands.SettingResource("alert", "alerts", "name"),
                        "Manages alerts on monitoring metrics, and shows their state.",
                        new AlertListCommand(environment)));
    }

    private CommandLine setting(String name, String path, String description) {
        var resource = new SettingCommands.SettingResource(name, path, "name");
        return SettingCommands.create(environment, resource, description, SettingCommands.list(environment, resource));
    }

    private List<CommandLine> server() {
        CommandLine user = ResourceCommand.create(
                "user",
                "Manages dashboard users: invitations, roles, groups and sessions.",
                new UserCommands.UserListCommand(environment),
                new UserCommands.UserInviteCommand(environment),
                UserCommands.invitations(environment),
                new UserCommands.UserResetCommand(environment),
                new UserPasswordCommand(environment),
                new UserCommands.UserGroupsCommand(environment),
                new UserCommands.SessionListCommand(environment));
        for (Object action : UserCommands.actions(environment)) {
            user.addSubcommand(action);
        }
        return List.of(
                new CommandLine(new ServerCommand.DevCommand(environment, serve)),
                new CommandLine(new ServerCommand.ServeCommand(environment, serve)),
                ResourceCommand.create(
                        "token",
                        "Creates, lists and revokes API tokens.",
                        new TokenCommands.TokenCreateCommand(environment),
                        new TokenCommands.TokenListCommand(environment),
                        new TokenCommands.TokenRevokeCommand(environment)),
                user,
                ResourceCommand.create("workspace", "Lists the workspaces of the server.", workspaces()),
                ResourceCommand.create(
                        "worker",
                        "Lists the workers with their leases and clocks.",
                        new WorkerListCommand(environment)),
                ResourceCommand.create(
                        "monitoring", "Shows the five monitoring metrics.", new MonitoringShowCommand(environment)),
                ResourceCommand.create(
                        "fact", "Lists the records behind a monitoring metric.", new FactListCommand(environment)),
                ResourceCommand.create("audit", "Lists and exports the audit log.", new AuditListCommand(environment)));
    }

    private CommandLine workspaces() {
        ListDefinition definition = ListDefinition.of(
                        ApiRequest.get(ApiRequest.path("v1", "workspaces")), "workspace list", "no workspaces")
                .addText("WORKSPACE", "workspace")
                .addColumn("OWN", one -> one.path("current").asBoolean(false) ? "this one" : "");
        return ListCommand.create(
                environment,
                "Lists the workspaces of the server. `semel token create` creates a workspace with its first token.",
                definition);
    }
}
