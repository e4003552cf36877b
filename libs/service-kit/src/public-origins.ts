/** The public addresses of an installation: the four hosts, and that of uploads. */
const publicVariables = ['BASE_URL', 'MCP_URL', 'API_URL', 'MEDIA_URL', 'S3_PUBLIC_ENDPOINT'] as const;

/** Whether only programs on the same machine reach this host name of a URL. */
export const isLoopbackName = (hostname: string): boolean =>
  hostname === 'localhost' ||
  hostname.endsWith('.localhost') ||
  hostname === '[::1]' ||
  /^127(\.\d+){3}$/.test(hostname);

/**
 * Whether pages of two addresses are kept apart by browsers. Different ports keep scripts apart but not cookies (RFC 6265 §8.5), so they
 * are enough on one machine only.
 */
function areApart(one: URL, other: URL): boolean {
  if (one.hostname !== other.hostname) return true;
  return one.origin !== other.origin && isLoopbackName(one.hostname);
}

/**
 * Pairs of public addresses that browsers do not keep apart, each with a sentence: what foreigners write (feeds, audio, uploads) never shares
 * an origin with the sessions of people. Addresses that are missing or malformed are left to other checks.
 * @param addresses by the name that the sentence calls them
 */
export function sharedOriginFaults<N extends string>(
  addresses: readonly (readonly [name: N, url: string | undefined])[],
): readonly (readonly [name: N, fault: string])[] {
  const known = addresses.flatMap(([name, text]) => {
    const url = text === undefined ? null : URL.parse(text);
    return url ? [{ name, url }] : [];
  });
  return known.flatMap(({ name, url }, at) =>
    known
      .slice(0, at)
      .flatMap((earlier) =>
        areApart(earlier.url, url)
          ? []
          : [
              [
                name,
                `shares the host name ${url.hostname} with ${earlier.name}: give each public address a host name of its own` +
                  (isLoopbackName(url.hostname) ? ', or a port of its own on this machine' : ''),
              ] as const,
            ],
      ),
  );
}

/** The same for the variables of a service. */
export const publicOriginFaults = (
  environment: Readonly<Record<string, string | undefined>>,
): readonly (readonly [variable: string, fault: string])[] =>
  sharedOriginFaults(publicVariables.map((name) => [name, environment[name]] as const));
