package dev.semel.trials.dashboard;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;

import com.microsoft.playwright.Page;
import com.microsoft.playwright.options.AriaRole;
import com.sun.net.httpserver.HttpServer;
import dev.semel.trials.support.ApiCaller;
import dev.semel.trials.support.ConcurrentCalls;
import dev.semel.trials.support.LiveServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/** A ticket of the provider leads to the run by the key that the provider received; a changed message shows its data. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Tag("trial")
class ProviderKeyInBrowserTest {
    @TempDir
    private static Path folder;

    private final Queue<String> keys = new ConcurrentLinkedQueue<>();
    private HttpServer provider;
    private LiveServer server;

    @BeforeAll
    void open() throws IOException {
        server = LiveServer.dev("sqlite:" + folder.resolve("semel.db"), folder);
        provider = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        provider.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
        provider.createContext("/", exchange -> {
            keys.add(String.valueOf(exchange.getRequestHeaders().getFirst("Idempotency-Key")));
            exchange.sendResponseHeaders(200, -1);
            exchange.close();
        });
        provider.start();
    }

    @AfterAll
    void close() {
        server.close();
        provider.stop(0);
    }

    private ApiCaller api() {
        return server.admin();
    }

    private String start(String key, String email) {
        api().publish("""
            semel: 1
            workflow: teller
            owner: trials
            input: { email: { type: string, pii: true }, total: string, letter: string }
            steps:
              - id: tell
                http: { method: POST, url: "http://127.0.0.1:%d/", body: { to: "${ input.email }", total: "${ input.total }" } }
                protect: ask
                idempotent: { key: "${ input.letter }", time: 1, unit: days, on_change: review }
            """.formatted(provider.getAddress().getPort())).expect(200);
        return api().trigger(
                        "teller",
                        key,
                        "{\"data\":{\"email\":\"" + email + "\",\"total\":\"" + key + " EUR\",\"letter\":\"l1\"}}")
                .expect(200)
                .runId();
    }

    @Test
    void the_search_finds_the_provider_key_and_a_review_shows_what_changed() {
        String first = start("k1", "ada@acme.example");
        ConcurrentCalls.until(
                "it was sent",
                () -> api().get("/v1/runs/" + first).text("status").equals("completed"));
        String sent = Objects.requireNonNull(keys.peek());
        start("k2", "bob@acme.example");
        String[] review = {""};
        ConcurrentCalls.until("a review", () -> {
            JsonNode items = api().get("/v1/reviews").expect(200).json().path("items");
            review[0] = items.path(0).path("review_id").asString("");
            return !review[0].isEmpty();
        });
        try (BrowserTab tab = BrowserTab.open(server.port()).enter()) {
            Page page = tab.page();
            tab.go("/search?to=" + sent);
            assertThat(page.locator("main table")).containsText(sent);
            assertThat(page.locator("main table")).containsText(first);
            tab.shoot("effects-by-sent-key");
            tab.go("/runs/" + first);
            assertThat(page.locator("table.bars")).containsText(sent);
            tab.shoot("run-with-sent-key");
            tab.go("/reviews/" + review[0]);
            assertThat(page.getByRole(AriaRole.HEADING, new Page.GetByRoleOptions().setName("Changed data")))
                    .isVisible();
            assertThat(page.locator("main")).containsText("k1 EUR");
            assertThat(page.locator("main")).containsText("k2 EUR");
            assertThat(page.locator("main")).not().containsText("@acme.example");
            tab.shoot("changed-review");
        }
    }
}
