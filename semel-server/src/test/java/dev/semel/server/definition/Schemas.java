package dev.semel.server.definition;

import com.networknt.schema.Schema;
import com.networknt.schema.SchemaRegistry;
import com.networknt.schema.SpecificationVersion;
import dev.semel.server.expressions.YamlFileErrorCollector;
import dev.semel.server.expressions.YamlNode;
import dev.semel.server.expressions.YamlReader;
import dev.semel.server.expressions.YamlSourceText;
import java.util.List;
import java.util.Objects;

/** Files held against the schema that editors get. */
final class Schemas {
    private static final Schema SCHEMA = SchemaRegistry.withDefaultDialect(
                    SpecificationVersion.DRAFT_2020_12,
                    builder -> builder.schemaLoader(loader -> loader.fetchRemoteResources(false)))
            .getSchema(WorkflowFileJsonSchema.schema());

    private Schemas() {}

    /** What an editor would underline; empty where all is well. */
    static List<String> faults(String text) {
        YamlSourceText source = new YamlSourceText(text);
        YamlNode tree = Objects.requireNonNull(YamlReader.read(text, source, new YamlFileErrorCollector(source)));
        return SCHEMA.validate(tree.toJson()).stream().map(Object::toString).toList();
    }
}
