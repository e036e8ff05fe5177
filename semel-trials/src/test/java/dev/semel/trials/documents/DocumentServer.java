package dev.semel.trials.documents;

/** A server that the shell sessions of one document talk to. Each document gets a fresh one. */
interface DocumentServer {
    /** Returns when the server is ready. */
    void start() throws Exception;

    /** What the sessions find in {@code SEMEL_SERVER}: {@code http://host:port}. Known once started. */
    String url();

    /** Where the fake providers of the demo listen, in the same form; empty where there are none. */
    default String playground() {
        return "";
    }

    /** What it printed until it was ready. */
    default String greeting() {
        return "";
    }

    void stop() throws Exception;
}
