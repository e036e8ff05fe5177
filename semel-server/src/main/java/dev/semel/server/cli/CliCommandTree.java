package dev.semel.server.cli;

import dev.semel.server.api.ApiOperations;
import dev.semel.server.cli.acceptance.WorkflowAcceptanceTestCommand;
import dev.semel.server.cli.access.CliTokenCommands;
import dev.semel.server.cli.access.CliUserCommands;
import dev.semel.server.cli.access.LoginCommand;
import dev.semel.server.cli.access.UserPasswordChangeCommand;
import dev.semel.server.cli.command.CliCommandGroup;
import dev.semel.server.cli.command.CliListCommand;
import dev.semel.server.cli.command.OperationCommand;
import dev.semel.server.cli.idempotency.BusinessObjectWriteCountCommand;
import dev.semel.server.cli.idempotency.DuplicateRequestListCommand;
import dev.semel.server.cli.idempotency.IdempotencyKeyCommand;
import dev.semel.server.cli.idempotency.IdempotencyMetricsShowCommand;
import dev.semel.server.cli.idempotency.IdempotencyWindowBacktestCommand;
import dev.semel.server.cli.idempotency.MetricSourceRecordListCommand;
import dev.semel.server.cli.run.CliHumanReviewCommands;
import dev.semel.server.cli.run.HumanReviewDecideCommand;
import dev.semel.server.cli.run.NotificationLogListCommand;
import dev.semel.server.cli.run.PiiRevealCommand;
import dev.semel.server.cli.run.RecoveryShowCommand;
import dev.semel.server.cli.run.RunCancelCommand;
import dev.semel.server.cli.run.RunListCommand;
import dev.semel.server.cli.run.RunReplayCommand;
import dev.semel.server.cli.run.RunResumeCommand;
import dev.semel.server.cli.run.RunShowCommand;
import dev.semel.server.cli.run.RunSignalCommand;
import dev.semel.server.cli.run.RunTailCommand;
import dev.semel.server.cli.run.RunTimelineCommand;
import dev.semel.server.cli.server.CrashRecoveryDemoCommand;
import dev.semel.server.cli.server.DoctorCommand;
import dev.semel.server.cli.server.ServerOptions;
import dev.semel.server.cli.server.ServerStartCommand;
import dev.semel.server.cli.server.WorkerListCommand;
import dev.semel.server.cli.setting.AlertListCommand;
import dev.semel.server.cli.setting.CliIncidentReportCommands;
import dev.semel.server.cli.setting.CliRecipientProfileCommands;
import dev.semel.server.cli.setting.CliSecretCommands;
import dev.semel.server.cli.setting.CliWorkspaceSettingCommands;
import dev.semel.server.cli.trigger.CliInboundWebhookCommands;
import dev.semel.server.cli.trigger.CliInboundWebhookDeliveryCommands;
import dev.semel.server.cli.trigger.EventSendCommand;
import dev.semel.server.cli.trigger.InboundEventCommand;
import dev.semel.server.cli.trigger.WorkflowTriggerCommand;
import dev.semel.server.cli.workflow.PublishedWorkflowCommand;
import dev.semel.server.cli.workflow.ScheduleCommand;
import dev.semel.server.cli.workflow.WorkflowCheckCommand;
import dev.semel.server.cli.workflow.WorkflowDiffCommand;
import dev.semel.server.cli.workflow.WorkflowDraftEditorCommand;
import dev.semel.server.cli.workflow.WorkflowPublishCommand;
import dev.semel.server.cli.workflow.WorkflowScaffoldCommand;
import dev.semel.server.cli.workflow.WorkflowShowCommand;
import dev.semel.server.cli.workflow.WorkflowVersionListCommand;
import dev.semel.server.operations.CommandDeclaration;
import dev.semel.server.operations.Operation;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import picocli.CommandLine;

/** All commands, in the groups of `semel --help`: the everyday ones, and one command per resource. */
final class CliCommandTree {
    private final Function<ServerOptions, Integer> serve;

    CliCommandTree(Function<ServerOptions, Integer> serve) {
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
        addDeclared(groups);
        return groups;
    }

    /** Adds the commands that operations declare to the resource that their first word names, before its other verbs. */
    private static void addDeclared(Map<String, List<CommandLine>> groups) {
        Map<String, List<Operation<?>>> declared = new LinkedHashMap<>();
        for (Operation<?> operation : ApiOperations.TABLE.operations()) {
            CommandDeclaration command = operation.command();
            if (command != null) {
                declared.computeIfAbsent(command.group(), _ -> new ArrayList<>())
                        .add(operation);
            }
        }
        groups.values()
                .forEach(commands -> commands.forEach(resource -> {
                    List<Operation<?>> verbs = declared.remove(resource.getCommandName());
                    if (verbs != null) {
                        Map<String, CommandLine> others = new LinkedHashMap<>(resource.getSubcommands());
                        others.keySet().forEach(resource.getCommandSpec()::removeSubcommand);
                        verbs.forEach(verb -> resource.addSubcommand(OperationCommand.create(verb)));
                        others.forEach(resource::addSubcommand);
                    }
                }));
        if (!declared.isEmpty()) {
            throw new IllegalStateException("no command group has the name " + declared.keySet());
        }
    }

    private List<CommandLine> everyday() {
        return List.of(
                new CommandLine(new WorkflowTriggerCommand()),
                new CommandLine(new RunListCommand()).setCommandName("runs"),
                new CommandLine(new WorkflowPublishCommand()),
                new CommandLine(new WorkflowCheckCommand()),
                new CommandLine(new RunTailCommand()),
                new CommandLine(new WorkflowAcceptanceTestCommand()),
                new CommandLine(new DoctorCommand()),
                CliCommandGroup.create(
                        "demo",
                        "Demonstrates the recovery from a crash, on temporary servers.",
                        new CrashRecoveryDemoCommand()),
                new CommandLine(new LoginCommand()),
                new CommandLine(new ShellCompletionCommand()));
    }

    private List<CommandLine> workflows() {
        return List.of(
                CliCommandGroup.create(
                        "workflow",
                        "Writes, checks, publishes, compares and pauses workflows.",
                        PublishedWorkflowCommand.list(),
                        new WorkflowShowCommand(),
                        new WorkflowScaffoldCommand(),
                        new WorkflowCheckCommand(),
                        new WorkflowDraftEditorCommand(),
                        new WorkflowPublishCommand(),
                        new WorkflowVersionListCommand(),
                        new WorkflowDiffCommand(),
                        new PublishedWorkflowCommand.PromoteCommand(),
                        new PublishedWorkflowCommand.RollbackCommand(),
                        PublishedWorkflowCommand.pause(),
                        PublishedWorkflowCommand.resume(),
                        new IdempotencyWindowBacktestCommand()),
                CliCommandGroup.create(
                        "log", "Lists the messages of a workflow's runs.", new NotificationLogListCommand()));
    }

    private List<CommandLine> runsAndKeys() {
        return List.of(
                CliCommandGroup.create(
                        "run",
                        "Shows, cancels, resumes and signals runs.",
                        new RunListCommand(),
                        new RunShowCommand(),
                        new RunTimelineCommand(),
                        new RunCancelCommand(),
                        new RunResumeCommand(),
                        new RunSignalCommand(),
                        new PiiRevealCommand("runs")),
                CliCommandGroup.create(
                        "key",
                        "Shows, simulates, extends and releases idempotency keys.",
                        new IdempotencyKeyCommand.KeyShowCommand(),
                        new IdempotencyKeyCommand.KeySimulateCommand(),
                        new IdempotencyKeyCommand.KeyExtendCommand(),
                        new IdempotencyKeyCommand.KeyReleaseCommand()),
                CliCommandGroup.create(
                        "request", "Lists duplicate requests and key conflicts.", new DuplicateRequestListCommand()),
                CliCommandGroup.create("effect", "Lists side effects in external systems."),
                CliCommandGroup.create(
                        "object",
                        "Lists objects that steps wrote more than once.",
                        new BusinessObjectWriteCountCommand()));
    }

    private List<CommandLine> recovery() {
        return List.of(
                CliCommandGroup.create(
                        "replay",
                        "Plans and applies safe replays of runs.",
                        new RunReplayCommand.ReplayPlanCreateCommand(),
                        RunReplayCommand.list(),
                        new RunReplayCommand.ReplayShowCommand(),
                        RunReplayCommand.approve(),
                        new RunReplayCommand.ReplayApplyCommand(),
                        new RunReplayCommand.ReplayStopCommand()),
                CliCommandGroup.create(
                        "review",
                        "Lists and decides the questions that wait for a user.",
                        new CliHumanReviewCommands.ReviewListCommand(),
                        CliHumanReviewCommands.show(),
                        CliHumanReviewCommands.check(),
                        new HumanReviewDecideCommand()),
                CliCommandGroup.create(
                        "incident",
                        "Drafts, edits and exports incident reports.",
                        CliListCommand.create("Lists incident reports.", CliIncidentReportCommands.LIST),
                        new CliIncidentReportCommands.IncidentShowCommand(),
                        new CliIncidentReportCommands.IncidentCreateCommand(),
                        new CliIncidentReportCommands.IncidentAnswerCommand(),
                        new CliIncidentReportCommands.IncidentExportCommand()));
    }

    private List<CommandLine> triggers() {
        return List.of(
                CliCommandGroup.create(
                        "event",
                        "Sends, lists and reprocesses events.",
                        new EventSendCommand(),
                        new InboundEventCommand.EventListCommand(),
                        InboundEventCommand.show(),
                        new InboundEventCommand.EventReprocessCommand()),
                CliCommandGroup.create(
                        "webhook",
                        "Manages the webhooks of providers and their deliveries.",
                        new CliInboundWebhookCommands.WebhookListCommand(),
                        CliWorkspaceSettingCommands.show("webhook"),
                        new CliInboundWebhookCommands.WebhookCreateCommand(),
                        new CliInboundWebhookCommands.WebhookRotateCommand(),
                        CliInboundWebhookDeliveryCommands.list(),
                        CliInboundWebhookDeliveryCommands.reprocess(),
                        new CliInboundWebhookDeliveryCommands.WebhookTestCommand(),
                        CliWorkspaceSettingCommands.delete("webhook")),
                CliCommandGroup.create(
                        "schedule",
                        "Shows, pauses, resumes and backfills schedules.",
                        ScheduleCommand.list(),
                        new ScheduleCommand.ScheduleShowCommand(),
                        new ScheduleCommand.TickListCommand(),
                        ScheduleCommand.pause(),
                        ScheduleCommand.resume(),
                        new ScheduleCommand.ScheduleBackfillCommand()));
    }

    private List<CommandLine> settings() {
        return List.of(
                CliCommandGroup.create(
                        "secret",
                        "Stores credentials for steps and channels; never shows them again.",
                        CliListCommand.create("Lists secrets without their values.", CliSecretCommands.LIST),
                        new CliSecretCommands.SecretSetCommand(),
                        CliWorkspaceSettingCommands.delete("secret")),
                setting("channel", "Manages message channels: e-mail, chat, webhook, SMS, WhatsApp."),
                setting("template", "Manages message templates. Older versions stay available."),
                setting("route", "Manages routes: which channels send a notification."),
                CliWorkspaceSettingCommands.create(
                        "profile",
                        "Manages recipients of messages and their subscriptions.",
                        CliWorkspaceSettingCommands.list("profile"),
                        CliRecipientProfileCommands.subscribe(),
                        CliRecipientProfileCommands.unsubscribe(),
                        new PiiRevealCommand("profiles")),
                CliWorkspaceSettingCommands.create(
                        "cohort",
                        "Manages groups of recipient profiles.",
                        CliWorkspaceSettingCommands.list("cohort"),
                        CliRecipientProfileCommands.addMember(),
                        CliRecipientProfileCommands.removeMember(),
                        CliRecipientProfileCommands.members()),
                setting("view", "Manages named filters of runs."),
                CliWorkspaceSettingCommands.create(
                        "alert",
                        "Manages alerts on monitoring metrics, and shows their state.",
                        new AlertListCommand()));
    }

    private static CommandLine setting(String name, String description) {
        return CliWorkspaceSettingCommands.create(name, description, CliWorkspaceSettingCommands.list(name));
    }

    private List<CommandLine> server() {
        CommandLine user = CliCommandGroup.create(
                "user",
                "Manages dashboard users: invitations, roles, groups and sessions.",
                CliUserCommands.list(),
                new CliUserCommands.UserInviteCommand(),
                CliUserCommands.invitations(),
                new CliUserCommands.UserResetCommand(),
                new UserPasswordChangeCommand(),
                new CliUserCommands.UserGroupsCommand(),
                CliUserCommands.sessions());
        for (Object action : CliUserCommands.actions()) {
            user.addSubcommand(action);
        }
        return List.of(
                new CommandLine(new ServerStartCommand.DevCommand(serve)),
                new CommandLine(new ServerStartCommand.ServeCommand(serve)),
                CliCommandGroup.create(
                        "token",
                        "Creates, lists and revokes API tokens.",
                        new CliTokenCommands.TokenCreateCommand(),
                        CliListCommand.create("Lists tokens without their secret values.", CliTokenCommands.LIST),
                        new CliTokenCommands.TokenRevokeCommand()),
                user,
                CliCommandGroup.create("workspace", "Lists the workspaces of the server."),
                CliCommandGroup.create(
                        "worker", "Lists the workers with their leases and clocks.", new WorkerListCommand()),
                CliCommandGroup.create("clock", "Shows and confirms the clock of the server after a jump."),
                CliCommandGroup.create(
                        "monitoring", "Shows the five monitoring metrics.", new IdempotencyMetricsShowCommand()),
                CliCommandGroup.create(
                        "recovery",
                        "Shows until when unknown outcomes are safe to send again.",
                        new RecoveryShowCommand()),
                CliCommandGroup.create(
                        "fact", "Lists the records behind a monitoring metric.", new MetricSourceRecordListCommand()),
                CliCommandGroup.create("audit", "Lists and exports the audit log."));
    }
}
