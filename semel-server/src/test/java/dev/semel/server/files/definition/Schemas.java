package dev.semel.server.files.definition;

import com.networknt.schema.Schema;
import com.networknt.schema.SchemaRegistry;
import com.networknt.schema.SpecificationVersion;
import dev.semel.error.SemelException;
import dev.semel.server.files.yaml.YamlFileErrorCollector;
import dev.semel.server.files.yaml.YamlNode;
import dev.semel.server.files.yaml.YamlReader;
import dev.semel.server.files.yaml.YamlSourceText;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assertions;

/** Files held against the schema that editors get. */
final class Schemas {
    private static final Schema SCHEMA = SchemaRegistry.withDefaultDialect(
                    SpecificationVersion.DRAFT_2020_12,
                    builder -> builder.schemaLoader(loader -> loader.fetchRemoteResources(false)))
            .getSchema(WorkflowFileJsonSchema.schema());

    /**
     * Errors inside texts, and errors that compare several places. A schema cannot know the language of expressions,
     * paths, cron rules, time zones, times or SQL, and it sees values, not their spelling in YAML.
     */
    private static final List<Pattern> BEYOND = Stream.of(
                    "expression",
                    "is not a known name",
                    "cannot be read",
                    "can be read",
                    "there is no function",
                    "does not accept the types",
                    "cannot be called in",
                    "cannot be a loop variable",
                    "^write the (id|name) of",
                    "changes (between attempts|with every safe replay)",
                    "runs later; only",
                    "there is no earlier step",
                    "a key must not contain",
                    "protobuf messages",
                    "^this key is the same for every (trigger|run)",
                    "^(a )?path .*(is empty|: )",
                    "cron expression",
                    "there is no time zone",
                    "must be a time in whole seconds",
                    "would never fire",
                    "must not be shorter than",
                    "two schedules have the same id",
                    "step ids must be unique",
                    "appears twice; the first is in line",
                    "does not match the input of the workflow",
                    "^tx.sql must",
                    "a number may have at most 100 characters",
                    "infinity and NaN",
                    "the exponent of this number",
                    "NUL or half of a surrogate pair")
            .map(Pattern::compile)
            .toList();

    private Schemas() {}

    /** Whatever the server rejects by its structure, the schema rejects, too. Every rejected text of a test comes here. */
    static void checkRejected(String text, SemelException rejection) {
        List<?> errors = (List<?>) Objects.requireNonNull(rejection.members().get("errors"));
        List<String> structural = errors.stream()
                .map(error -> String.valueOf(((Map<?, ?>) error).get("message")))
                .filter(message -> BEYOND.stream()
                        .noneMatch(beyond -> beyond.matcher(message).find()))
                .toList();
        YamlSourceText source = new YamlSourceText(text);
        YamlNode tree = YamlReader.read(text, source, new YamlFileErrorCollector(source));
        if (!structural.isEmpty() && tree != null) {
            Assertions.assertNotEquals(
                    List.of(),
                    SCHEMA.validate(tree.toJson()),
                    () -> "the server says " + structural + ", and the schema accepts:\n" + text);
        }
    }

    /** What an editor would underline; empty where all is well. */
    static List<String> faults(String text) {
        YamlSourceText source = new YamlSourceText(text);
        YamlNode tree = Objects.requireNonNull(YamlReader.read(text, source, new YamlFileErrorCollector(source)));
        return SCHEMA.validate(tree.toJson()).stream().map(Object::toString).toList();
    }
}
