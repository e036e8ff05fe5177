package dev.semel.server.files.definition;

import dev.semel.server.files.yaml.YamlReader;
import java.util.Optional;
import org.snakeyaml.engine.v2.api.LoadSettings;
import org.snakeyaml.engine.v2.api.lowlevel.Parse;
import org.snakeyaml.engine.v2.events.CollectionEndEvent;
import org.snakeyaml.engine.v2.events.CollectionStartEvent;
import org.snakeyaml.engine.v2.events.Event;
import org.snakeyaml.engine.v2.events.NodeEvent;
import org.snakeyaml.engine.v2.events.ScalarEvent;
import org.snakeyaml.engine.v2.exceptions.YamlEngineException;

/**
 * Finds the workflow name without validating the rest. It reads parser events, so that aliases are never expanded, and
 * stops where {@link YamlReader} would reject the text: deeply nested or huge texts cost the parser much time.
 */
public final class YamlWorkflowNameReader {
    private YamlWorkflowNameReader() {}

    public static Optional<String> find(String text) {
        if (YamlReader.isTooLarge(text)) {
            return Optional.empty();
        }
        int depth = 0;
        int nodes = 0;
        boolean atKey = true;
        boolean found = false;
        try {
            for (Event event : new Parse(LoadSettings.builder().build()).parseString(text)) {
                nodes += event instanceof NodeEvent ? 1 : 0;
                if (depth > YamlReader.DEEPEST || nodes > YamlReader.MOST_NODES) {
                    return Optional.empty();
                }
                if (event instanceof CollectionStartEvent) {
                    depth++;
                } else if (event instanceof CollectionEndEvent) {
                    depth--;
                    atKey |= depth == 1;
                } else if (depth == 1 && event instanceof NodeEvent) {
                    String scalar = event instanceof ScalarEvent node ? node.getValue() : "";
                    if (found) {
                        return Optional.of(scalar).filter(name -> !name.isBlank());
                    }
                    found = atKey && scalar.equals("workflow");
                    atKey = !atKey;
                }
            }
        } catch (YamlEngineException broken) {
            return Optional.empty();
        }
        return Optional.empty();
    }
}
