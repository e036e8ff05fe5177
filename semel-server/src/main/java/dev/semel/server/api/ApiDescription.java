package dev.semel.server.api;

import dev.semel.json.StrictJsonCodec;
import dev.semel.server.operations.OpenApiWriter;
import java.io.IOException;
import java.io.InputStream;
import java.util.Objects;
import tools.jackson.databind.node.ObjectNode;

/** The OpenAPI description of this server. `openapi.json` in the jar has what no operation declares. */
public final class ApiDescription {
    private static final byte[] OPEN_API =
            StrictJsonCodec.bytes(OpenApiWriter.write(baseDocument(), ApiOperations.TABLE));

    private ApiDescription() {}

    /** The response of `GET /v1/openapi.json`. */
    public static byte[] openApi() {
        return OPEN_API.clone();
    }

    private static ObjectNode baseDocument() {
        try (InputStream in = ApiDescription.class.getResourceAsStream("/dev/semel/server/openapi.json")) {
            return (ObjectNode) StrictJsonCodec.parse(Objects.requireNonNull(in).readAllBytes());
        } catch (IOException e) {
            throw new IllegalStateException("openapi.json cannot be read from the jar", e);
        }
    }
}
