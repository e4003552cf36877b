import { z } from 'zod';
import type { FleetAccess } from '@longwave/fleet/running';
import type { Check } from '../checks/check.ts';
import { parseMetrics, type Sample } from './read-metrics.ts';

const readinessSchema = z.object({ failed: z.array(z.string()).default([]) });
const answerMs = 5_000;

/** Asks the private port of a service. */
const ask = (address: string, path: string) =>
  fetch(`http://${address}${path}`, { signal: AbortSignal.timeout(answerMs) });

async function readinessOf(name: string, address: string): Promise<Pick<Check, 'well' | 'says' | 'advice'>> {
  const advice = `Read why: npx longwave logs ${name} --level warn`;
  let answer: Response;
  try {
    answer = await ask(address, '/readyz');
  } catch {
    return { well: false, says: 'does not answer', advice };
  }
  const { failed } = readinessSchema.parse(await answer.json());
  return answer.ok ? { well: true, says: 'ready' } : { well: false, says: `not ready: ${failed.join(', ')}`, advice };
}

/** What `/readyz` of every service says. */
export const checkServices = ({ adminAddresses }: Pick<FleetAccess, 'adminAddresses'>): Promise<Check[]> =>
  Promise.all(
    Object.entries(adminAddresses).map(async ([name, address]) => ({
      part: 'services',
      name,
      ...(await readinessOf(name, address)),
    })),
  );

/** The samples of every service that answers `/metrics`. */
export async function readSamples({ adminAddresses }: Pick<FleetAccess, 'adminAddresses'>): Promise<Sample[]> {
  const texts = await Promise.all(
    Object.values(adminAddresses).map(async (address) => {
      try {
        return await (await ask(address, '/metrics')).text();
      } catch {
        return '';
      }
    }),
  );
  return texts.flatMap(parseMetrics);
}
