package dev.semel.trials.crash;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** Watches processes call the kernel, all of them in one log, so that their effects have one order. */
final class Strace implements AutoCloseable {
    private static final String CALLS =
            "trace=read,readv,recvfrom,recvmsg,write,writev,sendto,sendmsg,pwrite64,fsync,fdatasync";

    private final Process process;
    private final Path log;
    private final Path talk;

    private Strace(Process process, Path log, Path talk) {
        this.process = process;
        this.log = log;
        this.talk = talk;
    }

    /** Returns when it is attached to all of them. */
    static Strace attach(Collection<Long> processes, Path folder) {
        if (!System.getProperty("os.name").equals("Linux")) {
            throw new AssertionError("This trial watches system calls with strace, which is only on Linux.");
        }
        Path log = folder.resolve("strace.log");
        Path talk = folder.resolve("strace.talk");
        List<String> command =
                new ArrayList<>(List.of("strace", "-f", "-y", "-s", "4096", "-e", CALLS, "-o", log.toString()));
        processes.forEach(pid -> command.addAll(List.of("-p", pid.toString())));
        Process process;
        try {
            process = new ProcessBuilder(command).redirectError(talk.toFile()).start();
        } catch (IOException e) {
            throw new AssertionError("This trial needs strace: apt-get install strace", e);
        }
        Strace strace = new Strace(process, log, talk);
        Await.holds("strace is attached (it may need root)", () -> {
            String said = Files.readString(talk);
            if (!process.isAlive()) {
                throw new AssertionError("strace ended, though it must be allowed to attach: " + said);
            }
            return processes.stream().allMatch(pid -> said.contains("Process " + pid + " attached"));
        });
        return strace;
    }

    /** Lets the processes go on alone and answers what they did. */
    List<Syscall> detach() throws IOException {
        close();
        return Syscall.parse(Files.readAllLines(log, StandardCharsets.ISO_8859_1));
    }

    @Override
    public void close() {
        process.destroy();
        try {
            if (!process.waitFor(Await.GENEROUS.toSeconds(), TimeUnit.SECONDS)) {
                throw new AssertionError("strace does not end: " + Files.readString(talk));
            }
        } catch (IOException | InterruptedException e) {
            throw new AssertionError("strace does not end", e);
        }
    }
}
