package dev.semel.store.sqlite;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/** Another process that has the store: locks the file it is notified, says so, and waits to be killed. */
final class LockHolder {
    private LockHolder() {}

    public static void main(String[] args) throws IOException {
        try (FileChannel channel =
                FileChannel.open(Path.of(args[0]), StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
            System.out.println(channel.tryLock() == null ? "taken" : "locked");
            System.in.transferTo(System.out);
        }
    }
}
