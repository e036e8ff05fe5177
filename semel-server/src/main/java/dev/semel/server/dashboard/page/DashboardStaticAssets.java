package dev.semel.server.dashboard.page;

import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.server.http.ServerHttpRequest;
import dev.semel.server.http.ServerHttpResponse;
import java.io.IOException;
import java.io.InputStream;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.Map;

/** Serves style sheet, scripts and icon. File names contain a digest, so browsers may cache them forever. */
public final class DashboardStaticAssets {
    private static final int DIGEST_CHARS = 12;
    private static final String OWN = "/dev/semel/server/dashboard/";

    private final Map<String, Asset> byName = new HashMap<>();
    private final String style;
    private final String script;
    private final String htmx;
    private final String icon;

    private record Asset(String type, byte[] bytes) {}

    public DashboardStaticAssets() {
        this.style = register("semel.css", "text/css; charset=utf-8", OWN + "semel.css");
        this.script = register("semel.js", "text/javascript; charset=utf-8", OWN + "semel.js");
        this.htmx = register(
                "htmx.js",
                "text/javascript; charset=utf-8",
                "/META-INF/resources/webjars/htmx.org/2.0.10/dist/htmx.min.js");
        this.icon = register("semel.svg", "image/svg+xml", OWN + "semel.svg");
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

    public ServerHttpResponse get(ServerHttpRequest request) {
        Asset asset = byName.get(request.parameter("file"));
        if (asset == null) {
            throw new SemelException(
                    ErrorCode.NOT_FOUND,
                    "The server has no such file. Nothing was done.",
                    "Reload the page: file names change with every version.");
        }
        return ServerHttpResponse.of(200, asset.type(), asset.bytes())
                .with("Cache-Control", "public, max-age=31536000, immutable")
                .with("Referrer-Policy", "no-referrer");
    }

    private String register(String name, String type, String resource) {
        byte[] bytes = read(resource);
        int dot = name.lastIndexOf('.');
        String named = name.substring(0, dot) + "-" + digest(bytes) + name.substring(dot);
        byName.put(named, new Asset(type, bytes));
        return "/assets/" + named;
    }

    private static byte[] read(String resource) {
        try (InputStream in = DashboardStaticAssets.class.getResourceAsStream(resource)) {
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
