import type { EventBus } from '@longwave/event-bus';
import type { Check } from '../checks/check.ts';
import { within } from '../checks/within.ts';
import { openBus, type BusAccess } from '../operator/dead-letter-commands.ts';
import type { Follower } from './check-lags.ts';

async function checkFollower(bus: EventBus, { topic, group }: Follower): Promise<Check> {
  const letters = await bus.listDeadLetters(topic, group);
  return {
    part: 'dead letters',
    name: `${group} of ${topic}`,
    well: letters.length === 0,
    says: String(letters.length),
    ...(letters.length > 0 && {
      advice: `npx longwave dead-letters list --topic ${topic} --group ${group} shows them; dead-letters redrive sends them again.`,
    }),
    value: letters.length,
    unit: 'messages',
  };
}

/** The messages that each follower has given up. */
export async function checkDeadLetters(access: BusAccess, followers: readonly Follower[]): Promise<Check[]> {
  const check = async () => {
    await using bus = await openBus(access);
    return await Promise.all(followers.map((follower) => checkFollower(bus, follower)));
  };
  try {
    return await within(check);
  } catch (error) {
    return [{ part: 'dead letters', name: 'all', well: false, says: `not known: ${(error as Error).message}` }];
  }
}
