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
 * Holds what a file promises against what its workspace can keep. A protection that the channel does not honour is
 * refused; a channel, route or template that is not there yet is only said, since it may come before the first run.
 */
final class Promises {
    private @Nullable Settings settings;

    void with(Settings value) {
        settings = value;
    }

    /**
     * @param staged whether the version goes to a share of the triggers first
     * @return what is missing yet, one sentence each
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
                    .add("Step '%s': there is no route for event %s yet."
                            .formatted(look.need().step(), event));
            return;
        }
        route.value().legs().forEach(leg -> channel(look, leg.channel()));
    }

    private static void channel(Look look, @Nullable String name) {
        if (name == null) {
            return; // an expression decides, when the run is there
        }
        Shelf.Kept<ChannelSetting> channel = look.settings().channels().find(look.workspace(), name);
        String step = look.need().step();
        if (channel == null) {
            look.missing().add("Step '%s': there is no channel %s yet.".formatted(step, name));
            return;
        }
        String protection = look.need().protection();
        var honours = channel.value().honours().words();
        if (!protection.equals("none") && !honours.contains(protection)) {
            String message = "SEM-P02: step '%s' states protect: %s, and channel %s can honour only %s."
                    .formatted(step, protection, name, String.join(", ", new TreeSet<>(honours)));
            throw refused(message, look.need());
        }
        Duration said = look.need().providerWindow();
        Duration kept = channel.value().honours().providerWindow();
        if (said != null && kept != null && said.compareTo(kept) > 0) {
            String message =
                    "SEM-P02: step '%s' states provider_window: %s, and the provider of channel %s remembers a key for %s."
                            .formatted(step, Durations.words(said), name, Durations.words(kept));
            throw refused(message, look.need());
        }
    }

    private static void template(Look look, @Nullable String name) {
        if (name != null && look.settings().templates().find(look.workspace(), name) == null) {
            look.missing()
                    .add("Step '%s': there is no template %s yet."
                            .formatted(look.need().step(), name));
        }
    }

    private static SemelException refused(String message, Need need) {
        return new SemelException(
                        ErrorCode.INVALID_DEFINITION,
                        "The workflow file has an error at line %d, column %d: %s Nothing was published."
                                .formatted(need.line(), need.column(), message),
                        "State what the channel can honour, or use another channel.")
                .with(
                        "errors",
                        List.of(Map.of(
                                "line", need.line(), "column", need.column(), "message", message, "pointer", "")));
    }

    /** A deed of high risk goes out behind an approval, or to a share of the triggers first. */
    private static void risks(Definition definition, boolean staged) {
        boolean approved = staged;
        for (FileStep outer : definition.outerSteps()) {
            // One inside of a branch, behind a condition, or that lets a no pass, is no leave for what comes after it.
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
                                "Step '%s' has risk: high, and nobody approves it before it runs. Nothing was published."
                                        .formatted(step.id()),
                                "Put an approval step before it, at the outermost level and without a condition, or"
                                        + " publish to a share of the triggers first (--share 10).");
                    });
        }
    }

    private static boolean isHigh(@Nullable Declared effect) {
        return effect != null && "high".equals(effect.risk());
    }
}
