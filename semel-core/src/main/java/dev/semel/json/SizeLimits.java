package dev.semel.json;

/**
 * The size limits of everything that Semel records, in characters of JSON text. They depend on each other: what one part
 * accepts, the next part must be able to record. The constructor rejects limits that contradict each other, so a process
 * with such limits does not start.
 *
 * @param expressionResult what the expressions of one step may build
 * @param stepResult the recorded result of a step, effect or tx
 * @param bufferedResults recorded results of one run that are not durable yet
 * @param runOutput the recorded output of a run
 * @param digestItems the items of one digest, as its close records them
 * @param digestDocument a digest in the store: the open batch and recent closed ones
 * @param effectKey an effect key, in UTF-8 bytes
 * @param workflowFile a workflow file, in UTF-8 bytes
 * @param requestBody the body of a request with one trigger, in bytes
 * @param batchRequestBody the body of a request with many triggers or events, in bytes
 * @param commitBatch the writes of one transaction
 * @param unreadSignals the signals of one run that no wait has recorded yet, in UTF-8 bytes
 */
public record SizeLimits(
        int expressionResult,
        int stepResult,
        int bufferedResults,
        int runOutput,
        int digestItems,
        int digestDocument,
        int effectKey,
        int workflowFile,
        int requestBody,
        int batchRequestBody,
        int commitBatch,
        int unreadSignals) {
    private static final int KIB = 1024;

    /** Maximum number of items in a digest. */
    public static final int DIGEST_ITEM_COUNT = 1_000;

    /** Maximum number of signals of one run that no wait has recorded yet. */
    public static final int UNREAD_SIGNAL_COUNT = 10_000;

    /** Space in the document of a digest for the id of an item, and for the names of its members. */
    private static final int DIGEST_ITEM_OVERHEAD = 128;

    public static final SizeLimits DEFAULT = new SizeLimits(
            256 * KIB,
            256 * KIB,
            256 * KIB,
            1024 * KIB,
            256 * KIB,
            512 * KIB,
            64 * KIB,
            256 * KIB,
            1024 * KIB,
            16 * 1024 * KIB,
            4 * 1024 * KIB,
            16 * 1024 * KIB);

    public SizeLimits {
        fits("expressionResult", expressionResult, "stepResult", stepResult);
        fits("digestItems", digestItems, "stepResult", stepResult);
        fits(
                "digestItems with the ids of " + DIGEST_ITEM_COUNT + " items",
                (long) digestItems + DIGEST_ITEM_COUNT * DIGEST_ITEM_OVERHEAD,
                "digestDocument",
                digestDocument);
        fits("effectKey", effectKey, "expressionResult", expressionResult);
        fits("stepResult", stepResult, "runOutput", runOutput);
        fits("stepResult", stepResult, "commitBatch", commitBatch);
        fits("bufferedResults", bufferedResults, "commitBatch", commitBatch);
        fits("runOutput", runOutput, "commitBatch", commitBatch);
        fits("workflowFile", workflowFile, "requestBody", requestBody);
        fits("requestBody", requestBody, "batchRequestBody", batchRequestBody);
        fits("requestBody", requestBody, "commitBatch", commitBatch);
        fits("requestBody", requestBody, "unreadSignals", unreadSignals);
    }

    private static void fits(String part, long size, String whole, long limit) {
        if (size < 1 || size > limit) {
            throw new IllegalArgumentException("the size limits contradict each other: " + part + " is " + size
                    + ", but " + whole + " is " + limit);
        }
    }

    /** A limit for messages, for example `256 KiB`. */
    public static String inKibibytes(int size) {
        return size / KIB + " KiB";
    }
}
