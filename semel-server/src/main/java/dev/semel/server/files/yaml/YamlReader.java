package dev.semel.server.files.yaml;

import dev.semel.json.SizeLimits;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.snakeyaml.engine.v2.api.LoadSettings;
import org.snakeyaml.engine.v2.api.lowlevel.Parse;
import org.snakeyaml.engine.v2.events.AliasEvent;
import org.snakeyaml.engine.v2.events.CollectionStartEvent;
import org.snakeyaml.engine.v2.events.DocumentEndEvent;
import org.snakeyaml.engine.v2.events.Event;
import org.snakeyaml.engine.v2.events.MappingEndEvent;
import org.snakeyaml.engine.v2.events.MappingStartEvent;
import org.snakeyaml.engine.v2.events.NodeEvent;
import org.snakeyaml.engine.v2.events.ScalarEvent;
import org.snakeyaml.engine.v2.events.SequenceEndEvent;
import org.snakeyaml.engine.v2.events.SequenceStartEvent;
import org.snakeyaml.engine.v2.events.StreamEndEvent;
import org.snakeyaml.engine.v2.exceptions.Mark;
import org.snakeyaml.engine.v2.exceptions.MarkedYamlEngineException;
import org.snakeyaml.engine.v2.exceptions.ReaderException;
import org.snakeyaml.engine.v2.exceptions.YamlEngineException;
import tools.jackson.databind.node.JsonNodeFactory;

/**
 * Parses YAML 1.2 and JSON text into a tree with positions.
 *
 * <p>It uses parser events and rejects tags and aliases, so that no tag can name a class and no alias can make a small
 * file large.
 */
public final class YamlReader {
    public static final int LARGEST_FILE = SizeLimits.DEFAULT.workflowFile();
    public static final int DEEPEST = 32;
    public static final int MOST_NODES = 20_000;

    private final YamlSourceText source;
    private final YamlFileErrorCollector problems;
    private final Iterator<Event> events;
    private int nodes;

    /** Thrown to stop reading; the error is already among the problems. */
    private static final class UnreadableFile extends RuntimeException {
        UnreadableFile() {
            super(null, null, false, false);
        }
    }

    private YamlReader(String text, YamlSourceText source, YamlFileErrorCollector problems) {
        this.source = source;
        this.problems = problems;
        var settings = LoadSettings.builder()
                .setCodePointLimit(LARGEST_FILE)
                .setUseMarks(true)
                .build();
        this.events = new Parse(settings).parseString(text).iterator();
    }

    /** The tree, or null if the file is not YAML; the problems have the reason. */
    public static @Nullable YamlNode read(String text, YamlSourceText source, YamlFileErrorCollector problems) {
        if (isTooLarge(text)) {
            problems.add(new YamlSourceRange(0, 0, ""), "a workflow file may have at most 256 KiB.");
            return null;
        }
        try {
            return new YamlReader(text, source, problems).document();
        } catch (UnreadableFile e) {
            return null;
        } catch (MarkedYamlEngineException e) {
            int at =
                    e.getProblemMark().or(e::getContextMark).map(Mark::getIndex).orElse(0);
            problems.add(
                    new YamlSourceRange(at, at, ""),
                    "the text is not valid YAML: " + e.getProblem() + "." + hint(source, at));
        } catch (ReaderException e) {
            int at = Math.clamp(e.getPosition(), 0, source.length());
            problems.add(
                    new YamlSourceRange(at, at, ""),
                    "the character U+%04X is not allowed.".formatted(e.getCodePoint()));
        } catch (YamlEngineException e) {
            problems.add(new YamlSourceRange(0, 0, ""), "the text is not valid YAML.");
        }
        return null;
    }

    public static boolean isTooLarge(String text) {
        return text.length() > LARGEST_FILE || text.getBytes(StandardCharsets.UTF_8).length > LARGEST_FILE;
    }

    /** Most YAML errors in workflow files are expressions without quotes. */
    private static String hint(YamlSourceText source, int at) {
        int line = source.line(at);
        int from = at - source.column(at) + 1;
        boolean expression = source.substring(from, Math.min(source.length(), at + 200))
                .lines()
                .limit(1)
                .anyMatch(text -> text.contains("${"));
        return expression && line > 0 ? " Put quotes around an expression that contains ': ', '#' or braces." : "";
    }

    private YamlNode document() {
        YamlNode root = null;
        while (events.hasNext()) {
            Event event = events.next();
            if (event instanceof NodeEvent) {
                if (root != null) {
                    throw stop(
                            event,
                            "",
                            "a file must have one YAML document; this is a second one. Use one file per workflow.");
                }
                root = node(event, "", 1);
            } else if (event instanceof StreamEndEvent || event instanceof DocumentEndEvent) {
                continue;
            }
        }
        if (root == null) {
            problems.add(new YamlSourceRange(0, 0, ""), "the file is empty.");
            throw new UnreadableFile();
        }
        return root;
    }

    private YamlNode node(Event event, String pointer, int depth) {
        nodes++;
        if (Thread.currentThread().isInterrupted()) {
            throw stop(event, pointer, "the server stopped reading the file, because nobody waits for the result.");
        }
        if (nodes > MOST_NODES) {
            throw stop(event, pointer, "a workflow file may have at most " + MOST_NODES + " values.");
        }
        if (depth > DEEPEST) {
            throw stop(event, pointer, "values may have at most " + DEEPEST + " nested levels.");
        }
        rejectSharing(event, pointer);
        return switch (event) {
            case ScalarEvent scalar -> scalar(scalar, pointer);
            case SequenceStartEvent start -> items(start, pointer, depth);
            case MappingStartEvent start -> members(start, pointer, depth);
            default -> throw stop(event, pointer, "a value was expected.");
        };
    }

    private void rejectSharing(Event event, String pointer) {
        if (event instanceof AliasEvent) {
            throw stop(event, pointer, "aliases are not allowed; write the value here.");
        }
        if (event instanceof NodeEvent node && node.getAnchor().isPresent()) {
            throw stop(event, pointer, "anchors are not allowed; write the value where it is used.");
        }
        Optional<String> tag = switch (event) {
            case ScalarEvent scalar -> scalar.getTag();
            case CollectionStartEvent start -> start.getTag();
            default -> Optional.empty();
        };
        if (tag.isPresent()) {
            throw stop(event, pointer, "tags (!…) are not allowed; remove the tag.");
        }
    }

    private YamlNode.ScalarNode scalar(ScalarEvent event, String pointer) {
        YamlSourceRange spot = spot(event, pointer);
        String text = event.getValue();
        if (!wellFormed(text)) {
            problems.add(spot, "text must not contain NUL or half of a surrogate pair.");
        }
        if (event.isPlain()) {
            try {
                return new YamlNode.ScalarNode(spot, YamlScalarParser.parse(text));
            } catch (YamlScalarParser.UnsupportedNumber e) {
                problems.add(spot, e.getMessage() + ".");
            }
        }
        return new YamlNode.ScalarNode(spot, JsonNodeFactory.instance.stringNode(text));
    }

    private YamlNode.ListNode items(SequenceStartEvent start, String pointer, int depth) {
        List<YamlNode> items = new ArrayList<>();
        for (Event event = events.next(); !(event instanceof SequenceEndEvent); event = events.next()) {
            items.add(node(event, pointer + "/" + items.size(), depth + 1));
        }
        return new YamlNode.ListNode(spot(start, pointer), items);
    }

    private YamlNode.MapNode members(MappingStartEvent start, String pointer, int depth) {
        Map<String, YamlNode.MapEntry> members = new LinkedHashMap<>();
        for (Event event = events.next(); !(event instanceof MappingEndEvent); event = events.next()) {
            rejectSharing(event, pointer);
            if (!(event instanceof ScalarEvent name)) {
                throw stop(event, pointer, "the name of a field must be text.");
            }
            String child = pointer + "/" + name.getValue().replace("~", "~0").replace("/", "~1");
            YamlSourceRange nameSpot = spot(name, child);
            if (!wellFormed(name.getValue())) {
                problems.add(nameSpot, "text must not contain NUL or half of a surrogate pair.");
            }
            YamlNode value = node(events.next(), child, depth + 1);
            YamlNode.MapEntry earlier = members.putIfAbsent(name.getValue(), new YamlNode.MapEntry(nameSpot, value));
            if (earlier != null) {
                int line = source.line(earlier.nameRange().start());
                problems.add(nameSpot, "'%s' appears twice; the first is in line %d.".formatted(shown(name), line));
            }
        }
        return new YamlNode.MapNode(spot(start, pointer), members);
    }

    private static String shown(ScalarEvent name) {
        return MisspelledNameSuggester.shorten(name.getValue());
    }

    private static boolean wellFormed(String text) {
        // A code point in the surrogate range is an unpaired surrogate.
        return text.codePoints().noneMatch(point -> point == 0 || Character.getType(point) == Character.SURROGATE);
    }

    private UnreadableFile stop(Event event, String pointer, String message) {
        problems.add(spot(event, pointer), message);
        return new UnreadableFile();
    }

    private static YamlSourceRange spot(Event event, String pointer) {
        int start = event.getStartMark().map(Mark::getIndex).orElse(0);
        int end = event.getEndMark().map(Mark::getIndex).orElse(start);
        return new YamlSourceRange(start, Math.max(start, end), pointer);
    }
}
