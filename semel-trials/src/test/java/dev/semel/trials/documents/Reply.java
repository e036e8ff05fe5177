package dev.semel.trials.documents;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.LinkedHashMap;
import java.util.List;
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

    /** @param headers names and values in turn */
    static Reply to(HttpClient client, String method, URI address, String body, List<String> headers) throws Exception {
        HttpRequest.Builder request = HttpRequest.newBuilder(address)
                .method(
                        method,
                        body.isEmpty()
                                ? HttpRequest.BodyPublishers.noBody()
                                : HttpRequest.BodyPublishers.ofString(body));
        if (!headers.isEmpty()) {
            request.headers(headers.toArray(String[]::new));
        }
        HttpResponse<String> answer = client.send(request.build(), HttpResponse.BodyHandlers.ofString());
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
