package dev.semel.server;

/** Starts the server. Placeholder until the server is wired in. */
final class Serve {
    private Serve() {}

    /** Runs until the process is told to stop; answers the exit code. */
    static int run(ServeOptions options) {
        System.err.println("semel: this build has no server in it, nothing was started on port " + options.port());
        return 1;
    }
}
