/** Bytes of a text as the server counts them, in UTF-8. */
export const bytesOf = (text: string): number => new TextEncoder().encode(text).length;

/** Whether a text can be an address of the web. */
export const isWebAddress = (text: string): boolean => /^https?:\/\/[^\s/]+/i.test(text) && URL.canParse(text);
