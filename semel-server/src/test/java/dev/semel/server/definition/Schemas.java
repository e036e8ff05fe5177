package dev.semel.server.definition;

import com.networknt.schema.Schema;
import com.networknt.schema.SchemaRegistry;
import com.networknt.schema.SpecificationVersion;
import dev.semel.server.expressions.FileErrorCollector;
import dev.semel.server.expressions.SourceText;
import dev.semel.server.expressions.YamlNode;
import dev.semel.server.expressions.YamlReader;
import java.util.List;
import java.util.Objects;

/** Files held against the schema that editors get. */
final class Schemas {
    private static final Schema SCHEMA = SchemaRegistry.withDefaultDialect(
                    SpecificationVersion.DRAFT_2020_12,
                    builder -> builder.schemaLoader(loader -> loader.fetchRemoteResources(false)))
            .getSchema(WorkflowFileSchema.schema());

    private Schemas() {}

    /** What an editor would underline; empty where all is well. */
    static List<String> faults(String text) {
        SourceText source = new SourceText(text);
        YamlNode tree = Objects.requireNonNull(YamlReader.read(text, source, new FileErrorCollector(source)));
        return SCHEMA.validate(tree.toJson()).stream().map(Object::toString).toList();
    }
}
