package dev.semel.trials.dashboard;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.microsoft.playwright.Browser;
import com.microsoft.playwright.BrowserContext;
import com.microsoft.playwright.BrowserType;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.Playwright;
import com.microsoft.playwright.assertions.PlaywrightAssertions;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * One tab with cookies of its own, in the one browser of this process. Whatever the console reports as an error, and
 * every dialog that a script opens, is remembered and fails the trial when the tab is closed.
 */
final class BrowserTab implements AutoCloseable {
    private static final double PATIENCE_MILLIS = 30_000;
    private static final String AXE = axe();

    private final BrowserContext context;
    private final Page page;
    private String url;
    private final List<String> errors = new ArrayList<>();
    private final List<String> expected = new ArrayList<>();

    /** Started once; ends with the process. */
    private static final class Holder {
        static final Browser BROWSER = start();

        private static Browser start() {
            PlaywrightAssertions.setDefaultAssertionTimeout(PATIENCE_MILLIS);
            Playwright playwright = Playwright.create(
                    new Playwright.CreateOptions().setEnv(Map.of("PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD", "1")));
            Browser browser = playwright
                    .chromium()
                    .launch(new BrowserType.LaunchOptions()
                            .setExecutablePath(Chromium.path())
                            .setHeadless(true)
                            .setChromiumSandbox(false)
                            .setArgs(List.of(
                                    "--no-sandbox",
                                    "--disable-gpu",
                                    "--disable-quic",
                                    "--no-first-run",
                                    "--disable-background-networking",
                                    "--disable-component-update",
                                    "--disable-sync")));
            Runtime.getRuntime().addShutdownHook(Thread.ofPlatform().unstarted(playwright::close));
            return browser;
        }
    }

    private BrowserTab(int port, Browser.NewContextOptions options) {
        this.url = "http://127.0.0.1:" + port;
        this.context = Holder.BROWSER.newContext(options.setViewportSize(1200, 800));
        context.setDefaultTimeout(PATIENCE_MILLIS);
        this.page = context.newPage();
        page.onConsoleMessage(message -> {
            if (message.type().equals("error")) {
                errors.add(message.text() + " " + message.location());
            }
        });
        page.onPageError(errors::add);
        page.onDialog(dialog -> {
            errors.add("a script opened a dialog: " + dialog.message());
            dialog.dismiss();
        });
    }

    static BrowserTab open(int port) {
        return new BrowserTab(port, new Browser.NewContextOptions());
    }

    /** A tab into which a checker may be put: its own script is not the page's. */
    static BrowserTab forChecks(int port) {
        return new BrowserTab(port, new Browser.NewContextOptions().setBypassCSP(true));
    }

    /** As whoever has only the pages: scripts are off. */
    static BrowserTab withoutScript(int port) {
        return new BrowserTab(port, new Browser.NewContextOptions().setJavaScriptEnabled(false));
    }

    /** Goes on at another server. */
    BrowserTab at(int port) {
        url = "http://127.0.0.1:" + port;
        return this;
    }

    Page page() {
        return page;
    }

    BrowserTab go(String path) {
        page.navigate(url + path);
        return this;
    }

    /** One click, as `semel dev` offers it. */
    BrowserTab enter() {
        go("/login");
        page.locator("text=Log in as dev").click();
        page.waitForURL("**/workflows");
        return this;
    }

    /** An error of the console that belongs to the trial, such as the status of a page that refuses. */
    BrowserTab expecting(String part) {
        expected.add(part);
        return this;
    }

    String text() {
        return page.locator("body").innerText();
    }

    BrowserTab theme(String name) {
        page.evaluate("theme => { document.documentElement.dataset.theme = theme; }", name);
        return this;
    }

    /** A picture for the documents: `-Dsemel.screenshots=../docs/images` puts it there. */
    void shoot(String name) {
        Path folder = Path.of(System.getProperty("semel.screenshots", "target/screenshots"));
        page.setViewportSize(1000, 760);
        page.screenshot(new Page.ScreenshotOptions().setPath(folder.resolve(name + ".png")));
        page.setViewportSize(1200, 800);
    }

    /** What axe finds on this page that keeps people out. */
    List<String> barriers() {
        page.evaluate(AXE);
        Object found = page.evaluate("""
            async () => (await axe.run(document, {resultTypes: ['violations']})).violations
                .filter(one => one.impact === 'serious' || one.impact === 'critical')
                .map(one => one.id + ': ' + one.nodes.map(node => node.html).slice(0, 3).join(' | '))
            """);
        List<String> all = new ArrayList<>();
        for (Object one : (List<?>) Objects.requireNonNull(found)) {
            all.add(page.url() + " " + one);
        }
        return all;
    }

    private static String axe() {
        try (InputStream in = Objects.requireNonNull(BrowserTab.class.getResourceAsStream("/axe.min.js"))) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public void close() {
        List<String> left = errors.stream()
                .filter(error -> expected.stream().noneMatch(error::contains))
                .toList();
        context.close();
        assertEquals(List.of(), left, "errors in the console");
    }
}
