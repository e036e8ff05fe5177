package dev.semel.server.files.steps;

import dev.semel.server.connectors.outbound.OutboundRequestUrl;
import dev.semel.server.files.expressions.YamlValueTemplate;
import java.util.stream.Stream;

/**
 * A secret that a step sends to a host which its file names; checked when the file is published.
 *
 * @param name of the secret
 */
public record SentSecret(String name, OutboundRequestUrl receiver) {
    public static Stream<SentSecret> in(Stream<YamlValueTemplate> templates, OutboundRequestUrl receiver) {
        return templates
                .flatMap(YamlValueTemplate::readPaths)
                .filter(path -> path.root().equals("secret") && path.parts().size() == 1)
                .map(path -> new SentSecret(path.parts().getFirst().toString(), receiver));
    }
}
