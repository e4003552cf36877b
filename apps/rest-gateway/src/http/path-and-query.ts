/**
 * Path and query of a request's target. A target in absolute form (RFC 9112 §3.2.2) names a host of the client's choice, which no
 * address in an answer may repeat.
 */
export const pathAndQuery = (target: string): string => target.replace(/^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i, '');
