package dev.semel.trials.documents;

import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;

/**
 * What a server answered.
 *
 * @param headers those that are this API's own; the ones that every HTTP answer has are left out
 */
record Reply(int status, String mediaType, Map<String, String> headers, String body) {
    private static final Set<String> COMMON = Set.of(
            "date",
            "connection",
            "content-length",
            "content-type",
            "content-language",
            "cache-control",
            "x-content-type-options",
            "transfer-encoding");

    /** Sends it and keeps what came back. */
    static Reply to(HttpClient client, HttpRequest request) throws Exception {
        HttpResponse<String> answer = client.send(request, HttpResponse.BodyHandlers.ofString());
        Map<String, String> own = new LinkedHashMap<>();
        answer.headers().map().forEach((name, values) -> {
            if (!COMMON.contains(name)) {
                own.put(name, values.getFirst());
            }
        });
        String type = answer.headers().firstValue("Content-Type").orElse("").split(";")[0];
        return new Reply(answer.statusCode(), type, own, answer.body());
    }
}
