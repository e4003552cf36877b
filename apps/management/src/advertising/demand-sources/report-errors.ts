import { Problem } from '@longwave/problems';
import { fillMacros, type RefusedAd } from '@longwave/vast';
import { macrosNow, type AskDeps } from './ask-source.ts';

/** Error addresses that are called for one answer. */
const maxReports = 32;
const timeoutMs = 1_500;

/** Calls an error address; whether it is there is the source's affair. */
async function report({ fetch, ...deps }: AskDeps, url: string, errorCode: number): Promise<void> {
  try {
    using _answer = await fetch(fillMacros(url, { ...macrosNow(deps), errorCode }), {
      ...{ timeoutMs, maxRedirects: 2, maxBytes: Number.MAX_SAFE_INTEGER },
    });
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
  }
}

/** Tells a source what was refused and why, by the error addresses of its ads and wrappers. Each address is called once for one code. */
export async function reportErrors(deps: AskDeps, refusals: readonly RefusedAd[]): Promise<void> {
  const calls = new Map(
    refusals.flatMap(({ code, errorUrls }) => errorUrls.map((url) => [`${code} ${url}`, { code, url }] as const)),
  );
  await Promise.all([...calls.values()].slice(0, maxReports).map(({ code, url }) => report(deps, url, code)));
}
