package dev.semel.http;

import dev.semel.error.SemelException;
import dev.semel.workflow.Step;
import java.io.IOException;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;

/** A process that used a client of its own before ours: its own setting is read by then. */
final class PreconfiguredClientProcess {
    private PreconfiguredClientProcess() {}

    private record FakeStep(String id, String key, int attempt) implements Step {}

    public static void main(String[] arguments) throws Exception {
        try (RawHttpServer server = new RawHttpServer();
                HttpClient own = HttpClient.newHttpClient();
                HttpEffectClient http = late(own, server)) {
            int before = server.requests().size();
            try {
                http.send(new FakeStep("s", "k", 1), HttpRequest.newBuilder(server.uri()));
            } catch (SemelException e) {
                System.out.println(
                        "own " + before + ", ours " + (server.requests().size() - before) + ": " + e.detail());
            }
        }
    }

    private static HttpEffectClient late(HttpClient own, RawHttpServer server) throws InterruptedException {
        try {
            own.send(HttpRequest.newBuilder(server.uri()).build(), HttpResponse.BodyHandlers.discarding());
        } catch (IOException e) {
            // The server closes every connection.
        }
        return HttpEffectClient.standard();
    }
}
