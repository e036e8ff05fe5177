package dev.semel.server.steps;

import dev.semel.server.expressions.YamlValueTemplate;
import dev.semel.server.outbound.OutboundRequestUrl;
import java.util.stream.Stream;

/**
 * A secret that a step sends to a host which its file names; checked when the file is published.
 *
 * @param name of the secret
 */
public record SentSecret(String name, OutboundRequestUrl receiver) {
    static Stream<SentSecret> in(Stream<YamlValueTemplate> templates, OutboundRequestUrl receiver) {
        return templates
                .flatMap(YamlValueTemplate::readPaths)
                .filter(path -> path.root().equals("secret") && path.parts().size() == 1)
                .map(path -> new SentSecret(path.parts().getFirst().toString(), receiver));
    }
}
