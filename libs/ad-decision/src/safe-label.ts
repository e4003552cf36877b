import { isIP } from 'node:net';

/** Names of apps, systems and devices in the user-agent lists, formats and categories: words with few marks. */
const form = /^[\p{L}\p{N}][\p{L}\p{N} .&'+!,:()_/-]{0,63}$/u;

/** Keys and tokens are long runs without a break, programs with versions come from user agents. */
const suspicious = [/[A-Za-z0-9_-]{29,}/, /(?=[A-Za-z_-]*\d)[A-Za-z0-9_-]{21,}/, /[A-Za-z]\/\d+\.\d/, /:\/\//];

const hasAddress = (text: string): boolean =>
  text.split(/[^\p{L}\p{N}.:]+/u).some((part) => isIP(part) !== 0 || isIP(part.replace(/[.:]$/, '')) !== 0);

/**
 * A label of a request as a trace may show it; "other" for a text that could be a user agent, an address, a key or a token. The names of
 * the lists that requests are classified by never are.
 */
export const safeLabel = (text: string): string =>
  text === '' || (form.test(text) && !suspicious.some((one) => one.test(text)) && !hasAddress(text)) ? text : 'other';
