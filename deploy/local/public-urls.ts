import { isIP } from 'node:net';
import type { PublicUrls } from '@longwave/fleet';
import { isLoopbackName, sharedOriginFaults } from '@longwave/service-kit';
import type { SettingName, Settings } from './settings.ts';

type Fault = readonly [name: SettingName, fault: string];

/** The addresses that are derived where they are not set. */
const derived = ['mcp', 'api', 'media', 'objects'] as const;
const names = ['public_url', ...derived.map((host) => `${host}_url` as const)] as const;

/** Whether a name can stand in front of a host name. */
const isDomain = (hostname: string) => isIP(hostname.replace(/^\[(.*)\]$/, '$1')) === 0 && !isLoopbackName(hostname);

function derive(base: string, host: (typeof derived)[number]): string | undefined {
  const url = new URL(base);
  if (!isDomain(url.hostname)) return undefined;
  return Object.assign(url, { hostname: `${host}.${url.hostname}` }).origin;
}

/**
 * The public addresses that settings name or imply; undefined where they name none, so that those of this machine hold. Faults say which
 * cannot be derived, and which share an origin.
 */
export function publicUrlsOf(found: Partial<Settings>): {
  readonly urls?: PublicUrls | undefined;
  readonly faults: readonly Fault[];
} {
  if (names.every((name) => found[name] === undefined)) return { faults: [] };
  const base = found.public_url;
  if (base === undefined)
    return { faults: [['public_url', 'expected it too, because another public address is set: https://pod.example']] };
  const others = derived.map((host) => [host, found[`${host}_url`] ?? derive(base, host)] as const);
  const missing = others.flatMap(([host, url]): Fault[] =>
    url === undefined
      ? [[`${host}_url`, `expected it too, because no name can stand in front of ${new URL(base).hostname}`]]
      : [],
  );
  const faults = [
    ...missing,
    ...sharedOriginFaults<SettingName>([
      ['public_url', base],
      ...others.map(([host, url]) => [`${host}_url` as const, url] as const),
    ]),
  ];
  if (faults.length > 0) return { faults };
  return { urls: { base, ...Object.fromEntries(others) } as PublicUrls, faults };
}
