package dev.semel.server.api;

import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.server.definition.Definition;
import dev.semel.server.language.Durations;
import dev.semel.server.settings.ChannelSetting;
import dev.semel.server.settings.RouteSetting;
import dev.semel.server.settings.Settings;
import dev.semel.server.settings.Shelf;
import dev.semel.server.steps.Declared;
import dev.semel.server.steps.FileStep;
import dev.semel.server.steps.Need;
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
final class Promises {
    private @Nullable Settings settings;

    void with(Settings value) {
        settings = value;
    }

    /**
     * @param staged whether the version is published for a percentage of the triggers first
     * @return warnings about missing settings, one sentence each
     */
    List<String> check(int workspace, Definition definition, boolean staged) {
        risks(definition, staged);
        Settings known = settings;
        List<String> missing = new ArrayList<>();
        if (known == null) {
            return missing;
        }
        for (Need need : definition.needs()) {
            if (need.event() == null) {
                channel(new Look(known, workspace, need, missing), need.channel());
            } else {
                route(new Look(known, workspace, need, missing), need.event());
            }
            template(new Look(known, workspace, need, missing), need.template());
        }
        return missing;
    }

    private record Look(Settings settings, int workspace, Need need, List<String> missing) {}

    private static void route(Look look, String event) {
        Shelf.Kept<RouteSetting> route = look.settings().routes().find(look.workspace(), event);
        if (route == null) {
            look.missing()
                    .add("Step '%s': no route for event %s exists yet."
                            .formatted(look.need().step(), event));
            return;
        }
        route.value().legs().forEach(leg -> channel(look, leg.channel()));
    }

    private static void channel(Look look, @Nullable String name) {
        if (name == null) {
            return; // an expression selects the channel at run time
        }
        Shelf.Kept<ChannelSetting> channel = look.settings().channels().find(look.workspace(), name);
        String step = look.need().step();
        if (channel == null) {
            look.missing().add("Step '%s': channel %s does not exist yet.".formatted(step, name));
            return;
        }
        String protection = look.need().protection();
        var supportedProtections = channel.value().honours().words();
        if (!protection.equals("none") && !supportedProtections.contains(protection)) {
            String message = "SEM-P02: step '%s' declares protect: %s, but channel %s supports only %s."
                    .formatted(step, protection, name, String.join(", ", new TreeSet<>(supportedProtections)));
            throw rejection(message, look.need());
        }
        Duration declared = look.need().providerWindow();
        Duration supported = channel.value().honours().providerWindow();
        if (declared != null && supported != null && declared.compareTo(supported) > 0) {
            String message =
                    "SEM-P02: step '%s' declares provider_window: %s, but channel %s's provider keeps a key for %s."
                            .formatted(step, Durations.words(declared), name, Durations.words(supported));
            throw rejection(message, look.need());
        }
    }

    private static void template(Look look, @Nullable String name) {
        if (name != null && look.settings().templates().find(look.workspace(), name) == null) {
            look.missing()
                    .add("Step '%s': template %s does not exist yet."
                            .formatted(look.need().step(), name));
        }
    }

    private static SemelException rejection(String message, Need need) {
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
    private static void risks(Definition definition, boolean staged) {
        boolean approved = staged;
        for (FileStep outer : definition.outerSteps()) {
            // An approval inside a branch, behind a condition, or whose rejection does not stop the run gives no
            // protection.
            approved = approved
                    || (outer.when() == null
                            && outer.onError() == FileStep.OnError.FAIL
                            && outer.act().asksLeave());
            boolean free = !approved;
            outer.all()
                    .filter(step -> free && isHigh(step.act().effect()))
                    .findFirst()
                    .ifPresent(step -> {
                        throw new SemelException(
                                ErrorCode.INVALID_DEFINITION,
                                "Step '%s' has risk: high and no approval step before it. Nothing was published."
                                        .formatted(step.id()),
                                "Add an approval step before it, at the top level and without a condition, or"
                                        + " publish the version for a percentage of the triggers first (--share 10).");
                    });
        }
    }

    private static boolean isHigh(@Nullable Declared effect) {
        return effect != null && "high".equals(effect.risk());
    }
}
