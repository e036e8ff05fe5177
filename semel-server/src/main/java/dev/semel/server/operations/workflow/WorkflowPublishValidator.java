package dev.semel.server.operations.workflow;

import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.server.files.definition.WorkflowDefinition;
import dev.semel.server.files.steps.DeclaredEffect;
import dev.semel.server.files.steps.NotificationChannelRequirement;
import dev.semel.server.files.steps.SentSecret;
import dev.semel.server.files.steps.YamlStep;
import dev.semel.server.files.yaml.DurationFormat;
import dev.semel.server.settings.NotificationChannelSetting;
import dev.semel.server.settings.NotificationRouteSetting;
import dev.semel.server.settings.SecretReceivers;
import dev.semel.server.settings.WorkspaceSettingRepositories;
import dev.semel.server.settings.WorkspaceSettingRepository;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Checks a workflow file against the channels, routes and templates of its workspace before publishing. It rejects a
 * protection that the channel does not support; a missing channel, route or template is only a warning.
 */
public final class WorkflowPublishValidator {
    private @Nullable WorkspaceSettingRepositories settings;

    public void setSettings(WorkspaceSettingRepositories value) {
        settings = value;
    }

    /**
     * @param staged whether the version is published for a percentage of the triggers first
     * @param first whether it is the first version of the workflow, which cannot be staged
     * @return warnings about missing settings, one sentence each
     */
    List<String> check(int workspace, WorkflowDefinition definition, boolean staged, boolean first) {
        risks(definition, staged, first);
        WorkspaceSettingRepositories workspaceSettings = settings;
        List<String> missing = new ArrayList<>();
        if (workspaceSettings == null) {
            return missing;
        }
        for (NotificationChannelRequirement need : definition.channelRequirements()) {
            if (need.notification() == null) {
                channel(new CheckContext(workspaceSettings, workspace, need, missing), need.channel());
            } else {
                route(new CheckContext(workspaceSettings, workspace, need, missing), need.notification());
            }
            template(new CheckContext(workspaceSettings, workspace, need, missing), need.template());
        }
        definition.steps().forEach(step -> secrets(workspaceSettings, workspace, step, missing));
        return missing;
    }

    /** Only a warning: the hosts of a secret can change without a new version of the workflow. */
    private static void secrets(
            WorkspaceSettingRepositories settings, int workspace, YamlStep step, List<String> warnings) {
        for (SentSecret sent : step.action().sentSecrets()) {
            SecretReceivers receivers = settings.secrets().findReceivers(workspace, sent.name());
            if (receivers != null
                    && !receivers.allow(sent.receiver().host(), sent.receiver().port())) {
                warnings.add("Step '%s': %s, so the step fails."
                        .formatted(
                                step.id(),
                                receivers.rejection(sent.name(), sent.receiver().host())));
            }
        }
    }

    private record CheckContext(
            WorkspaceSettingRepositories settings,
            int workspace,
            NotificationChannelRequirement need,
            List<String> missing) {}

    private static void route(CheckContext look, String notification) {
        WorkspaceSettingRepository.StoredSetting<NotificationRouteSetting> route =
                look.settings().routes().find(look.workspace(), notification);
        if (route == null) {
            look.missing()
                    .add("Step '%s': no route for notification %s exists yet."
                            .formatted(look.need().step(), notification));
            return;
        }
        route.value().entries().forEach(leg -> channel(look, leg.channel()));
    }

    private static void channel(CheckContext look, @Nullable String name) {
        if (name == null) {
            return; // an expression selects the channel at run time
        }
        WorkspaceSettingRepository.StoredSetting<NotificationChannelSetting> channel =
                look.settings().channels().find(look.workspace(), name);
        String step = look.need().step();
        if (channel == null) {
            look.missing().add("Step '%s': channel %s does not exist yet.".formatted(step, name));
            return;
        }
        String protection = look.need().protection();
        var supportedProtections = channel.value().protections().names();
        if (!protection.equals("none") && !supportedProtections.contains(protection)) {
            String message = "SEM-P02: step '%s' declares protect: %s, but channel %s supports only %s."
                    .formatted(step, protection, name, String.join(", ", new TreeSet<>(supportedProtections)));
            throw rejection(message, look.need());
        }
        Duration declared = look.need().providerWindow();
        Duration supported = channel.value().protections().providerWindow();
        if (declared != null && supported != null && declared.compareTo(supported) > 0) {
            String message =
                    "SEM-P02: step '%s' declares provider_window: %s, but the provider of channel %s remembers a key for only %s."
                            .formatted(step, DurationFormat.format(declared), name, DurationFormat.format(supported));
            throw rejection(message, look.need());
        }
    }

    private static void template(CheckContext look, @Nullable String name) {
        if (name != null && look.settings().templates().find(look.workspace(), name) == null) {
            look.missing()
                    .add("Step '%s': template %s does not exist yet."
                            .formatted(look.need().step(), name));
        }
    }

    private static SemelException rejection(String message, NotificationChannelRequirement need) {
        return new SemelException(
                        ErrorCode.INVALID_DEFINITION,
                        "The workflow file has an error at line %d, column %d: %s Nothing was published."
                                .formatted(need.line(), need.column(), message),
                        "Declare a protection that the channel supports, or use another channel.")
                .with(
                        "errors",
                        List.of(Map.of(
                                "line", need.line(), "column", need.column(), "message", message, "pointer", "")));
    }

    /** Requires an approval before a high-risk effect, or a staged rollout. */
    private static void risks(WorkflowDefinition definition, boolean staged, boolean first) {
        boolean approved = staged && !first;
        for (YamlStep outer : definition.topLevelSteps()) {
            // An approval inside a branch, behind a condition, or whose rejection does not stop the run gives no
            // protection.
            approved = approved
                    || (outer.when() == null
                            && outer.onError() == YamlStep.ErrorPolicy.FAIL
                            && outer.action().requiresApproval());
            boolean free = !approved;
            outer.withNested()
                    .filter(step -> free && isHigh(step.action().declaredEffect()))
                    .findFirst()
                    .ifPresent(step -> {
                        throw new SemelException(
                                ErrorCode.INVALID_DEFINITION,
                                "Step '%s' has risk: high and no approval step before it. Nothing was published."
                                        .formatted(step.id()),
                                "Add an approval step before this step, at the top level and without a condition."
                                        + (first ? FIRST_VERSION : LATER_VERSION));
                    });
        }
    }

    private static final String FIRST_VERSION = " A later version without the approval can be published for a"
            + " percentage of the triggers first (--percent 10). A first version cannot: no other version could take"
            + " the other triggers.";
    private static final String LATER_VERSION =
            " Or publish the version for a percentage of the triggers first (--percent 10).";

    private static boolean isHigh(@Nullable DeclaredEffect effect) {
        return effect != null && "high".equals(effect.risk());
    }
}
