package dev.semel.server.pages;

import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.server.http.Answer;
import dev.semel.server.http.Request;
import java.io.IOException;
import java.io.InputStream;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.Map;

/** Style, script and icon, from the class path. A name carries the digest of what it names, so it may be kept for ever. */
public final class Assets {
    private static final int DIGEST_CHARS = 12;
    private static final String OWN = "/dev/semel/server/pages/";

    private final Map<String, Asset> byName = new HashMap<>();
    private final String style;
    private final String script;
    private final String htmx;
    private final String icon;

    private record Asset(String type, byte[] bytes) {}

    Assets() {
        this.style = keep("semel.css", "text/css; charset=utf-8", OWN + "semel.css");
        this.script = keep("semel.js", "text/javascript; charset=utf-8", OWN + "semel.js");
        this.htmx = keep(
                "htmx.js",
                "text/javascript; charset=utf-8",
                "/META-INF/resources/webjars/htmx.org/2.0.10/dist/htmx.min.js");
        this.icon = keep("semel.svg", "image/svg+xml", OWN + "semel.svg");
    }

    public String style() {
        return style;
    }

    public String script() {
        return script;
    }

    public String htmx() {
        return htmx;
    }

    public String icon() {
        return icon;
    }

    Answer get(Request request) {
        Asset asset = byName.get(request.parameter("file"));
        if (asset == null) {
            throw new SemelException(
                    ErrorCode.NOT_FOUND,
                    "There is no such file.",
                    "Load the page again; files are renamed when they change.");
        }
        return Answer.of(200, asset.type(), asset.bytes())
                .with("Cache-Control", "public, max-age=31536000, immutable")
                .with("Referrer-Policy", "no-referrer");
    }

    private String keep(String name, String type, String resource) {
        byte[] bytes = read(resource);
        int dot = name.lastIndexOf('.');
        String named = name.substring(0, dot) + "-" + digest(bytes) + name.substring(dot);
        byName.put(named, new Asset(type, bytes));
        return "/assets/" + named;
    }

    private static byte[] read(String resource) {
        try (InputStream in = Assets.class.getResourceAsStream(resource)) {
            if (in == null) {
                throw new IllegalStateException(resource + " is not in the jar");
            }
            return in.readAllBytes();
        } catch (IOException e) {
            throw new IllegalStateException(resource + " cannot be read", e);
        }
    }

    private static String digest(byte[] bytes) {
        try {
            return HexFormat.of()
                    .formatHex(MessageDigest.getInstance("SHA-256").digest(bytes))
                    .substring(0, DIGEST_CHARS);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every JDK has SHA-256", e);
        }
    }
}
