package dev.semel.trials.documents;

/** A server that the shell sessions of one document talk to. Each document gets a fresh one. */
interface Server {
    /** Returns when the server is ready. */
    void start() throws Exception;

    /** What the sessions find in {@code SEMEL_SERVER}. Known once started. */
    String url();

    void stop() throws Exception;
}
