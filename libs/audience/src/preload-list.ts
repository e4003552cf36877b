import { listLines } from './network-lists.ts';

/** One line of the preload list (docs/counting.md#lists). */
export interface PreloadEntry {
  /** A host, its subdomains included, with the path its pages begin with; undefined when the browser sends no referrer. */
  readonly referrer: { readonly host: string; readonly path: string } | undefined;
  /** Name in OPAWG's browser list; undefined for any user agent. */
  readonly browser: string | undefined;
}

/** Whether the list has a referrer, or its absence: such pages fetch audio that nobody plays. */
export type IsPreload = (referrer: string | undefined, browser: string | undefined) => boolean;

/**
 * Parses `host[/path][,browser]` and `-,browser` lines; throws `RangeError` with the wrong line. Most apps send no
 * referrer, so an entry for its absence needs a browser.
 */
export function parsePreloadEntries(text: string): PreloadEntry[] {
  return listLines(text).map((line) => {
    const [page = '', browser = ''] = line.split(',').map((part) => part.trim());
    const named = browser === '' ? undefined : browser;
    if (page === '-' && named !== undefined) return { referrer: undefined, browser: named };
    const parts = /^([a-z0-9.-]*[a-z0-9])(\/\S*)?$/i.exec(page);
    if (!parts) throw new RangeError(`a preload entry is "host[/path][,browser]" or "-,browser": ${line}`);
    return { referrer: { host: parts[1]!.toLowerCase(), path: parts[2] ?? '/' }, browser: named };
  });
}

/** Compiles the list. A referrer that is not a URL matches no entry. */
export function createPreloadList(entries: readonly PreloadEntry[]): IsPreload {
  return (referrer, browser) => {
    const page = referrer === undefined ? undefined : URL.parse(referrer);
    return entries.some((entry) => {
      if (entry.browser !== undefined && entry.browser !== browser) return false;
      if (entry.referrer === undefined) return referrer === undefined;
      const { host, path } = entry.referrer;
      return !!page && `.${page.hostname}`.endsWith(`.${host}`) && page.pathname.startsWith(path);
    });
  };
}
