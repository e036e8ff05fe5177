package dev.semel.trials.chaos;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/** What a worker process notes of itself, one line at a time: what is written here outlives a kill. */
final class WorkerEventLog {
    private final String worker;
    private final FileChannel file;

    WorkerEventLog(String worker, Path path) throws IOException {
        this.worker = worker;
        this.file =
                FileChannel.open(path, StandardOpenOption.CREATE, StandardOpenOption.WRITE, StandardOpenOption.APPEND);
    }

    void note(String what, String detail) {
        byte[] line = (worker + "\t" + what + "\t" + detail + "\n").getBytes(StandardCharsets.UTF_8);
        try {
            file.write(ByteBuffer.wrap(line)); // appended in one call: lines of several threads do not mix
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
