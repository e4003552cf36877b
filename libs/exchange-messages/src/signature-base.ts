/** A request as its sender wrote it or its receiver read it. */
export interface HttpRequest {
  readonly method: string;
  /** The absolute address, with the scheme and host that the client sees. */
  readonly url: string;
  /** One pair for each line of the header, names in any case: Node's `rawHeaders` in pairs, or `[...headers]` of a `Headers`. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: Uint8Array;
}

/** Parts of a request that are no header (RFC 9421 §2.2), by their names. */
const derived: Readonly<Record<string, (method: string, url: URL) => string>> = {
  '@method': (method) => method,
  '@target-uri': (_method, url) => url.href,
  '@authority': (_method, url) => url.host,
  '@scheme': (_method, url) => url.protocol.slice(0, -1),
  '@path': (_method, url) => url.pathname,
  '@query': (_method, url) => url.search || '?',
};

/** Visible ASCII, spaces and tabs. */
const headerValue = /^[\x20-\x7e\t]*$/;

/** The values of a header, one for each line. */
export const headerLines = (request: HttpRequest, name: string): string[] =>
  request.headers.flatMap(([each, value]) => (each.toLowerCase() === name ? [value] : []));

export type BaseResult =
  | { readonly ok: true; readonly base: string }
  | {
      readonly ok: false;
      readonly fault:
        | 'component_unsupported'
        | 'header_missing'
        | 'header_repeated'
        | 'header_invalid'
        | 'method_invalid'
        | 'url_invalid';
      readonly component: string;
    };

/**
 * The text that a request signature covers (RFC 9421 §2.5). A covered header has exactly one line, in visible ASCII, because two lines and
 * one line with a comma would have the same signature.
 * @param components names of covered parts, in order, without parameters
 * @param parameters the value of `@signature-params`
 */
export function signatureBaseOf(request: HttpRequest, components: readonly string[], parameters: string): BaseResult {
  if (!URL.canParse(request.url)) return { ok: false, fault: 'url_invalid', component: '@target-uri' };
  if (!/^[A-Z]{1,20}$/.test(request.method)) return { ok: false, fault: 'method_invalid', component: '@method' };
  const url = new URL(request.url);
  url.hash = '';
  const lines: string[] = [];
  for (const component of components) {
    if (component.startsWith('@')) {
      const valueOf = Object.hasOwn(derived, component) ? derived[component] : undefined;
      if (!valueOf) return { ok: false, fault: 'component_unsupported', component };
      lines.push(`"${component}": ${valueOf(request.method, url)}`);
      continue;
    }
    const [value, ...others] = headerLines(request, component);
    if (value === undefined) return { ok: false, fault: 'header_missing', component };
    if (others.length > 0) return { ok: false, fault: 'header_repeated', component };
    if (!headerValue.test(value)) return { ok: false, fault: 'header_invalid', component };
    // Only spaces and tabs can be cut here (RFC 9421 §2.1).
    lines.push(`"${component}": ${value.trim()}`);
  }
  return { ok: true, base: [...lines, `"@signature-params": ${parameters}`].join('\n') };
}
