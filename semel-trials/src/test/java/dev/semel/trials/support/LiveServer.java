package dev.semel.trials.support;

import dev.semel.server.SemelServer;
import dev.semel.server.cli.server.ServerOptions;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.function.Consumer;

/** The real server, in this process, behind a real port. */
public final class LiveServer implements AutoCloseable {
    /** The base64 of 32 bytes that are no secret. */
    public static final String SECRET_KEY = "c2VtZWwgdHJpYWxzOiAzMiBieXRlcyBmb3IgYSBrZXk=";

    private final SemelServer serve;
    private final String adminToken;
    private final Consumer<HttpReply> heard;
    private boolean open = true;

    private LiveServer(SemelServer serve, String adminToken, Consumer<HttpReply> heard) {
        this.serve = serve;
        this.adminToken = adminToken;
        this.heard = heard;
    }

    /** `semel serve` on a store without tokens: the admin token is read from the file that it writes. */
    public static LiveServer first(String store, Path folder, Consumer<HttpReply> heard) {
        return first(serveOptions(store, folder), heard);
    }

    private static ServerOptions serveOptions(String store, Path folder) {
        return new TestServerOptions(new ServerOptions(false, true, "127.0.0.1", 0, folder, store, null))
                .secretKey(SECRET_KEY)
                .build();
    }

    public static LiveServer first(ServerOptions options, Consumer<HttpReply> heard) {
        SemelServer serve = SemelServer.start(options);
        try {
            String token =
                    Files.readString(options.data().resolve("admin-token")).strip();
            return new LiveServer(serve, token, heard);
        } catch (IOException e) {
            serve.close();
            throw new UncheckedIOException(e);
        }
    }

    /** Another `semel serve` on a store that has tokens. */
    public static LiveServer another(String store, Path folder, LiveServer liveServer) {
        SemelServer serve = SemelServer.start(serveOptions(store, folder));
        return new LiveServer(serve, liveServer.adminToken, liveServer.heard);
    }

    /** `semel dev --demo`. */
    public static LiveServer dev(String store, Path folder) {
        return dev(store, folder, _ -> {});
    }

    public static LiveServer dev(String store, Path folder, Consumer<HttpReply> heard) {
        SemelServer serve = SemelServer.start(new ServerOptions(true, true, "127.0.0.1", 0, folder, store, null));
        return new LiveServer(serve, "dev", heard);
    }

    public SemelServer serve() {
        return serve;
    }

    public int port() {
        return serve.port();
    }

    public String adminToken() {
        return adminToken;
    }

    public ApiCaller admin() {
        return as(adminToken);
    }

    public ApiCaller as(String token) {
        return new ApiCaller(serve.port(), token, heard);
    }

    public ApiCaller stranger() {
        return as("");
    }

    public RawConnection wire() {
        return new RawConnection(serve.port());
    }

    /** A caller with a new token of the admin's own workspace. */
    public ApiCaller with(String... scopes) {
        return as(token("\"name\":\"t\"", scopes));
    }

    /** The secret of a new token; {@code members} are further members of the request. */
    public String token(String members, String... scopes) {
        String list = "\"" + String.join("\",\"", scopes) + "\"";
        return admin().post("/v1/tokens", "{\"scopes\":[" + list + "]," + members + "}")
                .expect(200)
                .text("token");
    }

    @Override
    public void close() {
        if (open) {
            open = false;
            serve.close();
        }
    }
}
