package dev.semel.trials.crash;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The outside world: a provider that counts. One file that needs nothing but a JDK and shares no code with the engine;
 * run it as {@code java CountingProvider.java LOG}. Every request is one line in the log before it is answered:
 *
 * <pre>microseconds ⇥ connection ⇥ method ⇥ path ⇥ Idempotency-Key ⇥ hash of the body ⇥ decision ⇥ X-From [⇥ body]</pre>
 *
 * <p>The path is {@code /memory/manners/name}. Memory says what a POST with a key means that was accepted before:
 * {@code dedupe} knows it and accepts it once, {@code records} does too and logs the body, {@code conflict} answers it with 409, {@code forgets} accepts it again. A
 * GET looks a key up. Manners are {@code answers}, or how the first POSTs of a key are treated, so many of them:
 * {@code drops-2} takes nothing in and resets the connection; {@code resets-1}, {@code hangs-1} and {@code fails-1} accept
 * it and then reset, say nothing, or answer 500.
 */
final class CountingProvider {
    private static final int LONGEST_HEAD = 64 * 1024;
    private static final int LONGEST_BODY = 1024 * 1024;

    private final FileChannel log;
    private final ReentrantLock lock = new ReentrantLock();
    private final Map<String, Integer> posted = new HashMap<>();
    private final Map<String, Integer> accepted = new HashMap<>();

    private CountingProvider(FileChannel log) {
        this.log = log;
    }

    public static void main(String[] args) throws IOException {
        FileChannel log = FileChannel.open(
                Path.of(args[0]), StandardOpenOption.CREATE, StandardOpenOption.WRITE, StandardOpenOption.APPEND);
        CountingProvider effectd = new CountingProvider(log);
        Thread.ofPlatform().daemon(true).start(CountingProvider::endWithParent);
        try (ServerSocket listener = new ServerSocket(0, 512, InetAddress.getLoopbackAddress())) {
            System.out.println("listening " + listener.getLocalPort());
            System.out.flush();
            for (long connection = 1; ; connection++) {
                Socket socket = listener.accept();
                long number = connection;
                Thread.ofVirtual().start(() -> effectd.serve(socket, number));
            }
        }
    }

    /** Who started it holds the other end of its standard input. */
    private static void endWithParent() {
        try {
            while (System.in.read() >= 0) {
                continue;
            }
        } catch (IOException e) {
            System.err.println("standard input is gone: " + e.getMessage());
        }
        System.exit(0);
    }

    /** What came in. */
    private record ReceivedRequest(String method, String path, String key, byte[] body, String from) {
        String[] parts() {
            return path.split("/", 4);
        }

        String memory() {
            return parts()[1];
        }

        String manners() {
            return parts()[2].replaceFirst("-\\d+$", "");
        }

        int badTimes() {
            String manners = parts()[2];
            return manners.equals("answers") ? 0 : Integer.parseInt(manners.substring(manners.indexOf('-') + 1));
        }

        String name() {
            return parts()[3] + " " + key;
        }
    }

    /** What is done with it: the word in the log, the status, and whether manners keep us from answering. */
    private record Decision(String word, int status, String body, String manners) {
        static Decision answer(String word, int status, String body) {
            return new Decision(word, status, body, "answers");
        }
    }

    private void serve(Socket socket, long connection) {
        try (socket) {
            ReceivedRequest receivedRequest = read(socket.getInputStream());
            Decision decision;
            lock.lock();
            try {
                decision = decide(receivedRequest);
                note(receivedRequest, connection, decision);
            } finally {
                lock.unlock();
            }
            act(socket, decision);
        } catch (IOException e) {
            System.err.println("connection " + connection + ": " + e.getMessage());
        }
    }

    private Decision decide(ReceivedRequest receivedRequest) {
        Integer receipt = accepted.get(receivedRequest.name());
        if (receivedRequest.method().equals("GET")) {
            return receipt == null
                    ? Decision.answer("nothing", 404, "")
                    : Decision.answer("found", 200, "receipt-" + receipt);
        }
        boolean dedupes = receivedRequest.memory().equals("dedupe")
                || receivedRequest.memory().equals("records");
        boolean bad = posted.merge(receivedRequest.name(), 1, Integer::sum) <= receivedRequest.badTimes();
        String manners = bad ? receivedRequest.manners() : "answers";
        if (manners.equals("drops")) {
            return new Decision("dropped", 0, "", "resets");
        }
        if (receipt != null && dedupes) {
            return new Decision("known", 200, "receipt-" + receipt, manners);
        }
        if (receipt != null && receivedRequest.memory().equals("conflict")) {
            return new Decision("refused", 409, "receipt-" + receipt, manners);
        }
        int number = accepted.merge(receivedRequest.name(), 1, Integer::sum);
        return new Decision("accepted", manners.equals("fails") ? 500 : 200, "receipt-" + number, manners);
    }

    private void note(ReceivedRequest receivedRequest, long connection, Decision decision) throws IOException {
        long micros = System.currentTimeMillis() * 1_000;
        String line = String.join(
                "\t",
                List.of(
                        Long.toString(micros),
                        Long.toString(connection),
                        receivedRequest.method(),
                        receivedRequest.path(),
                        receivedRequest.key(),
                        hash(receivedRequest.body()),
                        decision.word(),
                        receivedRequest.from()));
        if (receivedRequest.memory().equals("records")) {
            line += "\t"
                    + new String(receivedRequest.body(), StandardCharsets.UTF_8)
                            .replace('\t', ' ')
                            .replace('\n', ' ');
        }
        ByteBuffer bytes = ByteBuffer.wrap((line + "\n").getBytes(StandardCharsets.UTF_8));
        while (bytes.hasRemaining()) {
            log.write(bytes);
        }
    }

    private static void act(Socket socket, Decision decision) throws IOException {
        switch (decision.manners()) {
            case "resets" -> socket.setSoLinger(true, 0); // closing now sends a reset instead of a goodbye
            case "hangs" -> {
                while (socket.getInputStream().read() >= 0) {
                    continue; // until the caller gives up
                }
            }
            default -> {
                byte[] body = decision.body().getBytes(StandardCharsets.UTF_8);
                String head = "HTTP/1.1 " + decision.status() + " -\r\nContent-Length: " + body.length
                        + "\r\nConnection: close\r\n\r\n";
                OutputStream out = socket.getOutputStream();
                out.write(head.getBytes(StandardCharsets.US_ASCII));
                out.write(body);
                out.flush();
            }
        }
    }

    /** One request per connection: what a client does behind our back would be a connection of its own in the log. */
    private static ReceivedRequest read(InputStream in) throws IOException {
        ByteArrayOutputStream head = new ByteArrayOutputStream();
        int last = 0;
        while (last != 0x0d0a0d0a) {
            int next = in.read();
            if (next < 0 || head.size() > LONGEST_HEAD) {
                throw new IOException("no whole request head came");
            }
            head.write(next);
            last = last << 8 | next;
        }
        String[] lines = head.toString(StandardCharsets.ISO_8859_1).split("\r\n");
        String key = "";
        String from = "";
        int length = 0;
        for (String line : lines) {
            int colon = line.indexOf(':');
            String name = colon < 0 ? "" : line.substring(0, colon).toLowerCase(Locale.ROOT);
            if (name.equals("idempotency-key")) {
                key = line.substring(colon + 1).strip();
            } else if (name.equals("x-from")) {
                from = line.substring(colon + 1).strip();
            } else if (name.equals("content-length")) {
                length = Integer.parseInt(line.substring(colon + 1).strip());
            }
        }
        String[] request = lines[0].split(" ");
        byte[] body = in.readNBytes(Math.min(length, LONGEST_BODY));
        return new ReceivedRequest(request[0], request[1], key, body, from);
    }

    private static String hash(byte[] body) {
        try {
            byte[] digest = MessageDigest.getInstance("SHA-256").digest(body);
            return HexFormat.of().formatHex(digest).substring(0, 16);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every JDK has SHA-256", e);
        }
    }
}
