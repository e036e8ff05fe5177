package dev.semel.server.world;

import dev.semel.error.SemelException;
import dev.semel.server.channel.ChannelReader;
import dev.semel.server.channel.MessageTemplate;
import dev.semel.server.settings.Checks;
import dev.semel.server.settings.Problem;
import java.util.ArrayList;
import java.util.List;
import tools.jackson.databind.JsonNode;

/** Lets those who will send look at a document before it is kept. */
public final class DocumentChecks implements Checks {
    private final ChannelReader.Ports ports;

    /** @param ports nothing is sent by them here */
    public DocumentChecks(ChannelReader.Ports ports) {
        this.ports = ports;
    }

    @Override
    public List<Problem> template(JsonNode document) {
        return MessageTemplate.check(document).stream()
                .map(found -> new Problem("/" + found.part(), found.message(), found.line(), found.column()))
                .toList();
    }

    @Override
    public List<Problem> channel(JsonNode document) {
        try {
            ChannelReader.read("", document, ports);
            return List.of();
        } catch (SemelException refused) {
            List<Problem> problems = new ArrayList<>();
            if (refused.members().get("errors") instanceof List<?> found) {
                found.forEach(one -> problems.add(problem(String.valueOf(one))));
            }
            return problems;
        }
    }

    /** Each begins with its place. */
    private static Problem problem(String text) {
        int space = text.indexOf(' ');
        return text.startsWith("/") && space > 0
                ? new Problem(text.substring(0, space), text.substring(space + 1))
                : new Problem("", text);
    }
}
