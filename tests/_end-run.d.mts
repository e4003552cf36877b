/** Ends what `beginRun` made. */
export default function endRun(): Promise<void>;
