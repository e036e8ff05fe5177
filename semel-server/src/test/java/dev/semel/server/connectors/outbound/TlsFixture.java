package dev.semel.server.connectors.outbound;

import java.io.InputStream;
import java.net.InetAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.util.ArrayList;
import java.util.List;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocketFactory;
import javax.net.ssl.TrustManagerFactory;

/** A certificate made for one test, a server that shows it, and a client that trusts it and nothing else. */
final class TlsFixture implements AutoCloseable {
    private static final char[] PASSWORD = "password".toCharArray();

    private final SSLContext context;
    private final RawServer server;

    private TlsFixture(SSLContext context, RawServer server) {
        this.context = context;
        this.server = server;
    }

    /** @param more what keytool is notified besides, such as the validity */
    static TlsFixture made(String extension, String... more) throws Exception {
        Path file = Files.createTempDirectory("semel-tls").resolve("store.p12");
        keytool(file, "-alias", "ca", "-dname", "CN=authority", "-ext", "bc:critical=ca:true");
        List<String> rest = new ArrayList<>(List.of("-alias", "a", "-dname", "CN=test", "-signer", "ca"));
        rest.addAll(List.of("-ext", extension));
        rest.addAll(List.of(more));
        keytool(file, rest.toArray(String[]::new));
        KeyStore store = KeyStore.getInstance("PKCS12");
        try (InputStream in = Files.newInputStream(file)) {
            store.load(in, PASSWORD);
        }
        KeyManagerFactory keys = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
        keys.init(store, PASSWORD);
        KeyStore trusted = KeyStore.getInstance("PKCS12");
        trusted.load(null, null);
        trusted.setCertificateEntry("a", store.getCertificate("ca"));
        TrustManagerFactory trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        trust.init(trusted);
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(keys.getKeyManagers(), trust.getTrustManagers(), null);
        Files.delete(file);
        Files.delete(file.getParent());
        return new TlsFixture(
                context,
                new RawServer(context.getServerSocketFactory()
                        .createServerSocket(0, 10, InetAddress.getByName("127.0.0.1"))));
    }

    private static void keytool(Path store, String... more) throws Exception {
        String keytool =
                Path.of(System.getProperty("java.home"), "bin", "keytool").toString();
        List<String> command =
                new ArrayList<>(List.of(keytool, "-genkeypair", "-keyalg", "EC", "-storetype", "PKCS12"));
        command.addAll(List.of("-keystore", store.toString(), "-storepass", new String(PASSWORD)));
        command.addAll(List.of(more));
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        if (process.waitFor() != 0) {
            throw new IllegalStateException(output);
        }
    }

    RawServer server() {
        return server;
    }

    SSLSocketFactory trusting() {
        return context.getSocketFactory();
    }

    @Override
    public void close() {
        server.close();
    }
}
