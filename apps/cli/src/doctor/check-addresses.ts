import { lookup } from 'node:dns/promises';
import type { Check } from '../checks/check.ts';
import { explainNetworkError } from '../checks/explain-network-error.ts';
import { certificateEnd } from '../checks/public-certificate.ts';
import { sharedOriginFaults } from '@longwave/service-kit';
import { describeSeconds } from '../checks/sizes.ts';

const isLoopback = (host: string) => host === 'localhost' || host === '[::1]' || /^127\./.test(host);

type Finding = Pick<Check, 'well' | 'says' | 'advice'>;
const wrong = (says: string, advice: string): Finding => ({ well: false, says, advice });

/** What a listener or a program meets at a public address: its name, its certificate, an answer, the time of it. */
async function lookAt(url: URL): Promise<Finding> {
  const { hostname, protocol } = url;
  if (isLoopback(hostname)) return { well: true, says: `${url.origin}, on this machine alone` };
  if (protocol !== 'https:')
    return wrong(`${url.origin} has no TLS`, 'Put a proxy with TLS in front, and name the address with https.');
  try {
    await lookup(hostname);
  } catch {
    return wrong(`${hostname} has no address`, `Add an A or AAAA record for ${hostname} that leads to this machine.`);
  }
  let end: Date;
  try {
    end = await certificateEnd(url);
  } catch (error) {
    return wrong(
      `${url.host}: ${explainNetworkError(error)}`,
      'The proxy must listen there with a certificate of this name that browsers know; its log says why it has none.',
    );
  }
  let answer: Response;
  try {
    answer = await fetch(url, { redirect: 'manual', signal: AbortSignal.timeout(10_000) });
  } catch (error) {
    return wrong(
      `${url.origin}: ${explainNetworkError(error)}`,
      'Nothing answers behind the proxy: is the service running?',
    );
  }
  if (answer.status >= 500)
    return wrong(
      `${url.origin} answers ${answer.status}`,
      'The proxy does not reach the service: check the ports it forwards to.',
    );
  const apartS = Math.abs(Date.now() - Date.parse(answer.headers.get('date') ?? '')) / 1_000;
  if (apartS > 10)
    return wrong(`the clock there is ${describeSeconds(apartS)} away`, 'Synchronise both machines by NTP.');
  return { well: true, says: `answers ${answer.status}, certificate until ${end.toISOString().slice(0, 10)}` };
}

async function findingOf(text: string, shared: string | undefined): Promise<Finding> {
  if (!URL.canParse(text)) return wrong(`“${text}” is no address`, 'Write it like https://pod.example.');
  return shared === undefined ? lookAt(new URL(text)) : wrong(shared, 'Services refuse to start with it.');
}

/**
 * The public addresses, when they are set: what services refuse (`sharedOriginFaults`), because foreign text never shares an origin or cookies
 * with a session, is said here too.
 * @param addresses by the variable or setting that names them; those that are undefined are not looked at
 */
export async function checkAddresses(
  addresses: Readonly<Record<string, string | undefined>>,
): Promise<readonly Check[]> {
  const named = Object.entries(addresses);
  const faults = new Map(sharedOriginFaults(named));
  const findings = named.flatMap(([name, text]) =>
    text === undefined ? [] : [[name, findingOf(text, faults.get(name))] as const],
  );
  return Promise.all(findings.map(async ([name, finding]) => ({ part: 'public addresses', name, ...(await finding) })));
}
