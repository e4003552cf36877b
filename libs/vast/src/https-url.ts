import { replaceMacros } from './macros.ts';

/** Longest address that is read. */
const maxUrlCharacters = 4_096;
/** A host that is no address of IPv6, a port, and a path or a query without white space of any kind. */
const inboundShape = /^https:\/\/[^\s\\@/?#[\]]+(?:[/?][^\s\\]*)?$/i;

/** What is wrong with an https address that may hold macros in its path and query, as the end of a sentence; undefined for a good one. */
export function httpsUrlFault(url: string): string | undefined {
  if (url.length > maxUrlCharacters) return `is longer than ${maxUrlCharacters} characters`;
  if (!/^https:\/\//i.test(url)) return 'is no https address';
  // eslint-disable-next-line no-control-regex -- a URL parser removes some of these, so what it accepts is not what stands there
  if (/[\u0000-\u0020\u007f\\]/.test(url)) return 'has a space, a backslash or a control character';
  const [authority = ''] = url.slice('https://'.length).split(/[/?#]/, 1);
  if (authority.includes('@')) return 'has a user name or a password';
  if (replaceMacros(authority, () => '') !== authority) return 'has a macro in its host';
  return URL.canParse(replaceMacros(url, () => '0')) ? undefined : 'is no address';
}

/** The same for an address in a document of a demand source. The catalog takes trackers by this rule: what it would refuse is not read. */
export const inboundUrlFault = (url: string): string | undefined =>
  httpsUrlFault(url) ?? (inboundShape.test(url) ? undefined : 'is no address of a host with a path or a query');
