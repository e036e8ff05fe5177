package dev.semel.server.operations;

import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.server.http.ServerHttpRequest;
import java.util.Locale;

/** A browser cannot send the allowed types cross-site without a CORS preflight. */
public final class InboundRequestContentTypeCheck {
    private InboundRequestContentTypeCheck() {}

    static void requireJson(ServerHttpRequest request) {
        String type = type(request);
        if (!type.equals("application/json") && !(type.startsWith("application/") && type.endsWith("+json"))) {
            throw unsupported("application/json");
        }
    }

    public static void requireDefinition(ServerHttpRequest request) {
        String type = type(request);
        boolean known = type.equals("application/yaml")
                || type.equals("text/yaml")
                || type.equals("application/x-yaml")
                || type.equals("application/json");
        if (!known) {
            throw unsupported("application/yaml or application/json");
        }
    }

    private static String type(ServerHttpRequest request) {
        String header = request.header("Content-Type");
        if (header == null) {
            return "";
        }
        int semicolon = header.indexOf(';');
        String type = semicolon < 0 ? header : header.substring(0, semicolon);
        String rest = semicolon < 0 ? "" : header.substring(semicolon).toLowerCase(Locale.ROOT);
        if (rest.contains("charset") && !rest.contains("utf-8")) {
            return "";
        }
        return type.strip().toLowerCase(Locale.ROOT);
    }

    private static SemelException unsupported(String expected) {
        return new SemelException(
                ErrorCode.UNSUPPORTED_MEDIA_TYPE,
                "The body must be " + expected
                        + " in UTF-8, but this request has another Content-Type. The server did not read the body.",
                "Send the header Content-Type: " + expected.split(" ")[0] + ".");
    }
}
