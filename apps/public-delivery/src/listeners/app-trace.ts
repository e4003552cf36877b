import type { UserAgentRules } from '@longwave/audience';

/** The app and the system behind a request, as its user agent names them. */
export interface AppTrace {
  /** The app's name in the lists, else its first product token; undefined for browsers and the libraries that many apps share. */
  readonly app: string | undefined;
  readonly system: AppSystem | undefined;
}

const systems = ['Apple', 'Android', 'Windows'] as const;
export type AppSystem = (typeof systems)[number];

/** The first product of a user agent (RFC 9110 §10.1.5) without its version. */
const firstProduct = (userAgent: string): string | undefined => /^[^\s/(]{1,64}/.exec(userAgent)?.[0];

/** The first product of every browser, and of the web views of apps. */
const browserProduct = 'Mozilla';

/** Reads the app and its system from a normalised user agent, by the lists that counting uses. */
export function traceApp(rules: UserAgentRules, userAgent: string): AppTrace {
  const { kind, name, device } = rules.match(userAgent);
  const system = systems.find((each) => device.startsWith(`${each} `));
  if (kind === 'app' || kind === 'bot') return { app: name, system };
  const product = kind === 'unknown' ? firstProduct(userAgent) : undefined;
  return { app: product === browserProduct ? undefined : product, system };
}
