package dev.semel.trials.dashboard;

import com.sun.net.httpserver.HttpServer;
import dev.semel.trials.support.ApiCaller;
import dev.semel.trials.support.ConcurrentCalls;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;

/** A provider that takes charges and, until the outage ends, refuses mails. */
final class OutageProvider implements AutoCloseable {
    private final List<String> charges = new CopyOnWriteArrayList<>();
    private final List<String> mails = new CopyOnWriteArrayList<>();
    private final AtomicBoolean down = new AtomicBoolean(true);
    private final HttpServer http;

    private OutageProvider(HttpServer http) {
        this.http = http;
    }

    static OutageProvider start() {
        try {
            OutageProvider outage = new OutageProvider(HttpServer.create(new InetSocketAddress("127.0.0.1", 0), 0));
            outage.listen();
            return outage;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void listen() {
        http.createContext("/", exchange -> {
            boolean mail = exchange.getRequestURI().getPath().equals("/mail");
            boolean refused = mail && down.get();
            if (!refused) {
                (mail ? mails : charges).add(exchange.getRequestHeaders().getFirst("Idempotency-Key"));
            }
            byte[] body = "{\"id\":1}".getBytes(StandardCharsets.UTF_8);
            exchange.getResponseHeaders().add("Content-Type", "application/json");
            exchange.sendResponseHeaders(refused ? 400 : 200, body.length);
            exchange.getResponseBody().write(body);
            exchange.close();
        });
        http.start();
    }

    String url() {
        return "http://127.0.0.1:" + http.getAddress().getPort();
    }

    void end() {
        down.set(false);
    }

    void forget() {
        charges.clear();
        mails.clear();
    }

    List<String> charges() {
        return charges;
    }

    List<String> mails() {
        return mails;
    }

    /** Runs whose charge went through and whose mail was refused. */
    List<String> failed(ApiCaller api, String workflow, int runs) {
        down.set(true);
        api.publish("""
            semel: 1
            workflow: %1$s
            owner: trials
            steps:
              - id: charge
                http: { method: POST, url: "%2$s/charge" }
                protect: provider_key
                provider_window: 24h
              - id: mail
                http: { method: POST, url: "%2$s/mail" }
                protect: provider_key
                provider_window: 24h
            """.formatted(workflow, url())).expect(200);
        List<String> ids = new ArrayList<>();
        for (int i = 0; i < runs; i++) {
            ids.add(api.trigger(workflow, workflow + "_" + i, "{\"data\":{}}")
                    .expect(200)
                    .text("run_id"));
        }
        ConcurrentCalls.until(
                "all have failed",
                () -> ids.stream()
                        .allMatch(id -> api.get("/v1/runs/" + id).text("status").equals("failed")));
        return ids;
    }

    @Override
    public void close() {
        http.stop(0);
    }
}
