import { X509Certificate } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type { Check } from '../checks/check.ts';
import { certificateEnd } from '../checks/public-certificate.ts';
import { describeSeconds } from '../checks/sizes.ts';

/** A running service makes certificates anew 30 days before they end; one that ends sooner was not renewed. */
const leastDays = 14;

function checkEnd(name: string, end: Date, now: Date, advice: string): Check {
  const seconds = (end.getTime() - now.getTime()) / 1_000;
  const well = seconds > leastDays * 86_400;
  const until = end.toISOString().slice(0, 10);
  return {
    part: 'certificates',
    name,
    well,
    says: seconds > 0 ? `until ${until} (${describeSeconds(seconds)})` : `ended on ${until}`,
    ...(!well && { advice }),
    value: Math.round(seconds),
    unit: 'seconds',
  };
}

/** The first of the services' certificates that ends, and those of public addresses that have TLS. */
export async function checkCertificates(
  folder: string,
  addresses: readonly string[],
  now: Date,
): Promise<readonly Check[]> {
  const names = existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith('.pem')) : [];
  const ends = names.map((name) => new X509Certificate(readFileSync(path.join(folder, name))).validToDate);
  const first = new Date(Math.min(...ends.map((end) => end.getTime())));
  const internal = ends.length
    ? [checkEnd('between services', first, now, 'Restart the service: certificates are made anew at its start.')]
    : [];
  const hosts = [
    ...new Set(addresses.map((address) => new URL(address)).filter(({ protocol }) => protocol === 'https:')),
  ];
  const external = await Promise.all(
    hosts.map(async (url): Promise<Check> => {
      try {
        return checkEnd(url.host, await certificateEnd(url), now, 'Renew it, or look at what should renew it.');
      } catch (error) {
        return {
          part: 'certificates',
          name: url.host,
          well: false,
          says: (error as Error).message,
          advice: 'npx longwave doctor looks closer at the public addresses.',
        };
      }
    }),
  );
  return [...internal, ...external];
}
