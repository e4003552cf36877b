import { Problem } from '@longwave/problems';
import { fillMacros, type RefusedAd } from '@longwave/vast';
import { macrosNow, type AskDeps } from './ask-source.ts';
import { allowsHost, type DemandSource } from './demand-source.ts';

/** Error addresses that are called for one answer. */
const maxReports = 8;
const timeoutMs = 1_500;

type Hosts = Pick<DemandSource, 'allowed_hosts'>;

/** Calls an error address on the list of the source; whether it is there is the source's affair. */
async function report({ fetch, ...deps }: AskDeps, source: Hosts, url: string, errorCode: number): Promise<void> {
  try {
    using _answer = await fetch(fillMacros(url, { ...macrosNow(deps), errorCode }), {
      ...{ timeoutMs, followsRedirects: false, maxBytes: Number.MAX_SAFE_INTEGER },
      allowsHost: (host) => allowsHost(source.allowed_hosts, host),
    });
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
  }
}

/**
 * Tells a source what was refused and why, by the error addresses of its ads and wrappers. Each address is called once for one code, at most
 * eight, on hosts of its list alone; no redirect is followed.
 */
export async function reportErrors(deps: AskDeps, source: Hosts, refusals: readonly RefusedAd[]): Promise<void> {
  const calls = new Map(
    refusals.flatMap(({ code, errorUrls }) => errorUrls.map((url) => [`${code} ${url}`, { code, url }] as const)),
  );
  await Promise.all([...calls.values()].slice(0, maxReports).map(({ code, url }) => report(deps, source, url, code)));
}
