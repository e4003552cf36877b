import type { FleetAccess } from '@longwave/fleet';
import { createAccount, createRestClient, listenerAgentOf, openOperator } from '@longwave/test-kit/clients';

export interface LoadResult {
  readonly asked: number;
  /** Each with what was asked and what came. */
  readonly failures: readonly string[];
}

const everyMs = 50;
const maxWaitMs = 10_000;

/** Asks for a part of a file as a listener does. Rejects unless it came. */
async function listen(url: string, headers: Readonly<Record<string, string>> = {}): Promise<void> {
  const response = await fetch(url, { headers, signal: AbortSignal.timeout(maxWaitMs) });
  await response.arrayBuffer();
  if (!response.ok) throw new Error(`answered ${response.status}`);
}

/**
 * Sends a request every 50 ms until it is ended, by turns: a feed, the audio to a new listener, a read and a change by the REST API.
 * Resolves when the account that reads and changes is there.
 */
export async function startSteadyLoad(
  fleet: FleetAccess,
  { feedUrl, enclosureUrl }: { readonly feedUrl: string; readonly enclosureUrl: string },
): Promise<{ readonly end: () => Promise<LoadResult> }> {
  const operator = openOperator(fleet);
  const { apiKey } = await createAccount(operator).finally(() => operator.close());
  const rest = createRestClient(fleet.urls.base, apiKey);
  const podcast = await rest.post<{ readonly id: string }>('/podcasts', { title: 'Steady', language: 'en' });
  // The listeners of the trial run have the first numbers.
  const audio = (turn: number) =>
    listen(enclosureUrl, { 'user-agent': listenerAgentOf(1_000 + turn), range: 'bytes=0-9999' });
  const requests: readonly (readonly [name: string, send: (turn: number) => Promise<unknown>])[] = [
    ['feed', () => listen(feedUrl)],
    ['audio to a new listener', audio],
    ['GET of a podcast', () => rest.get(`/podcasts/${podcast.id}`)],
    ['PUT of a podcast', (turn) => rest.put(`/podcasts/${podcast.id}`, { title: `Steady ${turn}` })],
  ];
  const sent: Promise<void>[] = [];
  const failures: string[] = [];
  const timer = setInterval(() => {
    const turn = sent.length;
    const [name, send] = requests[turn % requests.length]!;
    sent.push(send(turn).then(undefined, (error: Error) => void failures.push(`${name}: ${error.message}`)));
  }, everyMs);
  return {
    end: async () => {
      clearInterval(timer);
      await Promise.all(sent);
      return { asked: sent.length, failures };
    },
  };
}
