package dev.semel.trials.support;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.function.Consumer;

/** Someone with a token. Every call is a connection of its own; every answer is shown to {@code heard}. */
public record ApiCaller(int port, String token, Consumer<HttpReply> heard) {
    private static final String JSON = "Content-Type: application/json";

    public HttpReply get(String path) {
        return send("GET", path, "");
    }

    public HttpReply post(String path, String json, String... headers) {
        return send("POST", path, json, with(headers, JSON));
    }

    public HttpReply put(String path, String json, String... headers) {
        return send("PUT", path, json, with(headers, JSON));
    }

    public HttpReply delete(String path) {
        return send("DELETE", path, "");
    }

    public HttpReply publish(String yaml) {
        String name = yaml.lines()
                .filter(line -> line.startsWith("workflow: "))
                .map(line -> line.substring("workflow: ".length()).strip())
                .findFirst()
                .orElseThrow();
        return send("PUT", "/v1/workflows/" + name, yaml, "Content-Type: application/yaml");
    }

    /** Triggers with a key. */
    public HttpReply trigger(String workflow, String key, String json, String... headers) {
        return unkeyed(workflow, json, with(headers, "Idempotency-Key: " + key));
    }

    public HttpReply unkeyed(String workflow, String json, String... headers) {
        return post("/v1/workflows/" + workflow + "/trigger", json, headers);
    }

    /** One request with exactly these header lines beside Host, Authorization and Content-Length. */
    public HttpReply send(String method, String path, String body, String... headers) {
        return send(method, path, body.getBytes(StandardCharsets.UTF_8), headers);
    }

    public HttpReply send(String method, String path, byte[] body, String... headers) {
        try (RawConnection wire = new RawConnection(port)) {
            wire.send(head(method, path, headers) + "Content-Length: " + body.length + "\r\n\r\n");
            wire.tryToSend(body);
            HttpReply reply = wire.reply();
            heard.accept(reply);
            return reply;
        }
    }

    /** The head without the line that ends it. */
    public String head(String method, String path, String... headers) {
        String credential = token.isEmpty() ? "" : "Authorization: Bearer " + token + "\r\n";
        String lines = headers.length == 0 ? "" : String.join("\r\n", headers) + "\r\n";
        return method + " " + path + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n" + credential + lines;
    }

    private static String[] with(String[] headers, String one) {
        List<String> all = new java.util.ArrayList<>(List.of(headers));
        all.add(one);
        return all.toArray(String[]::new);
    }
}
