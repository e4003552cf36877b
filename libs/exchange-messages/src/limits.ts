/** Longest payload of a message, decoded, in bytes: 256 KiB. */
export const maxPayloadBytes = 262_144;

/** Longest protected header, decoded, in bytes; the closed set of members needs about 100. */
export const maxHeaderBytes = 512;

/** Arrays and objects within one another in a payload: `[]` has depth 1. */
export const maxPayloadDepth = 16;

/** Values in a payload, or in a file of evidence: 5,000 rows with every measure have 50,001. */
export const maxPayloadValues = 60_000;

/** Messages of one submission. */
export const maxBatchMessages = 100;

/** Rows of platform evidence in one message or file. */
export const maxEvidenceRows = 5000;

/** A message may be issued this many seconds after the receiver's clock (`clock_skew`). */
export const maxClockSkewSeconds = 300;

/** Longest time between `created` and `expires` of a request signature, in seconds. */
export const maxSignatureSeconds = 300;

/** Field errors of one refusal: the first ones are enough to correct a message, and its sender alone decides how many it has. */
export const maxFieldErrors = 50;
