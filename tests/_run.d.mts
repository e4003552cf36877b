/** Makes what the tests of one run share. */
export default function beginRun(): Promise<void>;
