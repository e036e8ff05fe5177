package dev.semel.server.world;

import dev.semel.server.channel.ChannelReader;
import dev.semel.server.channel.MessageTemplate;
import dev.semel.server.settings.Checks;
import dev.semel.server.settings.Problem;
import java.util.List;
import tools.jackson.databind.JsonNode;

/** Lets those who will send look at a document before it is kept. */
public final class DocumentChecks implements Checks {
    @Override
    public List<Problem> template(JsonNode document) {
        return MessageTemplate.check(document).stream()
                .map(found -> new Problem("/" + found.part(), found.message(), found.line(), found.column()))
                .toList();
    }

    @Override
    public List<Problem> channel(JsonNode document) {
        return ChannelReader.check(document).stream().map(DocumentChecks::problem).toList();
    }

    /** Each begins with its place. */
    private static Problem problem(String text) {
        int space = text.indexOf(' ');
        return text.startsWith("/") && space > 0
                ? new Problem(text.substring(0, space), text.substring(space + 1))
                : new Problem("", text);
    }
}
