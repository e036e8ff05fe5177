package dev.semel.trials.attacks;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.trials.support.ApiCaller;
import dev.semel.trials.support.HttpReply;
import dev.semel.trials.support.LiveServer;
import dev.semel.trials.support.StoreKind;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Behind https, a session cookie has a name that no other host of the domain can plant. */
class CookieNamesTest {
    private static final String HTTPS = "X-Forwarded-Proto: https";
    private static final String PASSWORD = "correct+horse+battery+staple";

    private static final String FORM = "Content-Type: application/x-www-form-urlencoded";

    private LiveServer server;

    @BeforeEach
    void open(@TempDir Path folder) {
        server = LiveServer.first(StoreKind.SQLITE.fresh(folder), folder, _ -> {});
        String link = server.admin()
                .put("/v1/users/anna", "{\"role\":\"viewer\"}")
                .expect(200)
                .text("invitation");
        String form = "token=" + link.substring(link.indexOf('=') + 1) + "&name=anna&password=" + PASSWORD + "&again="
                + PASSWORD;
        server.stranger().send("POST", "/setup", form, FORM).expect(303);
    }

    @AfterEach
    void close() {
        server.close();
    }

    private String sessionCookie(String... headers) {
        ApiCaller browser = server.stranger();
        List<String> lines = new ArrayList<>(List.of(headers));
        lines.add(FORM);
        HttpReply in = browser.send("POST", "/login", "name=anna&password=" + PASSWORD, lines.toArray(String[]::new));
        return in.headers("Set-Cookie").stream()
                .filter(one -> one.contains("semel_session="))
                .findFirst()
                .orElseThrow(() -> new AssertionError(in.toString()));
    }

    @Test
    void behind_https_the_session_cookie_belongs_to_this_host_only() {
        String cookie = sessionCookie(HTTPS);
        assertTrue(cookie.startsWith("__Host-semel_session="), cookie);
        assertTrue(cookie.contains("; Path=/;") && cookie.endsWith("; Secure") && !cookie.contains("Domain"), cookie);
        String pair = cookie.substring(0, cookie.indexOf(';'));
        assertEquals(200, status("Cookie: " + pair, HTTPS));
        String planted = pair.replace("__Host-", "");
        assertEquals(303, status("Cookie: " + planted, HTTPS), "a cookie that another host of the domain planted");
        assertEquals(200, status("Cookie: " + planted + "; " + pair, HTTPS));
    }

    @Test
    void without_https_browsers_would_reject_the_prefix_so_the_name_is_plain() {
        String cookie = sessionCookie();
        assertTrue(cookie.startsWith("semel_session="), cookie);
        assertEquals(200, status("Cookie: " + cookie.substring(0, cookie.indexOf(';'))));
    }

    private int status(String... headers) {
        return server.stranger().send("GET", "/runs", "", headers).status();
    }
}
