package dev.semel.trials.crash;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.Map;

/** The clock of a machine that jumps: a library loaded into one process shifts its CLOCK_REALTIME while it runs. */
final class ShiftedClock {
    private static final Path SOURCE = Path.of("src/test/java/dev/semel/trials/crash/clock_shim.c");

    private final Path library;
    private final Path offset;

    private ShiftedClock(Path library, Path offset) {
        this.library = library;
        this.offset = offset;
    }

    /** Compiles the library with the C compiler of this machine. */
    static ShiftedClock compile(Path folder) {
        Path library = folder.resolve("clock_shim.so");
        try {
            Process compiler = new ProcessBuilder(
                            "gcc",
                            "-shared",
                            "-fPIC",
                            "-O2",
                            "-o",
                            library.toString(),
                            SOURCE.toAbsolutePath().toString())
                    .redirectErrorStream(true)
                    .start();
            String said = new String(compiler.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            if (compiler.waitFor() != 0) {
                throw new AssertionError("the clock library did not compile:\n" + said);
            }
            ShiftedClock clock = new ShiftedClock(library, Files.write(folder.resolve("clock_offset"), new byte[8]));
            clock.shift(Duration.ZERO);
            return clock;
        } catch (IOException e) {
            throw new AssertionError("this trial needs a C compiler (Debian: apt install gcc libc6-dev)", e);
        } catch (InterruptedException e) {
            throw new AssertionError("interrupted", e);
        }
    }

    /** For the process whose clock is shifted. */
    Map<String, String> environment() {
        return Map.of("LD_PRELOAD", library.toString(), "CLOCK_SHIM_OFFSET", offset.toString());
    }

    /** How far the process's clock is ahead, from now on. */
    void shift(Duration ahead) {
        ByteBuffer bytes = ByteBuffer.allocate(8).order(ByteOrder.nativeOrder());
        bytes.putLong(ahead.toNanos()).flip();
        try (FileChannel file = FileChannel.open(offset, StandardOpenOption.WRITE)) {
            file.write(bytes, 0);
        } catch (IOException e) {
            throw new AssertionError("the clock cannot be shifted", e);
        }
    }
}
