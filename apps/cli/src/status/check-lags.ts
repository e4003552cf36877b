import type { Check } from '../checks/check.ts';
import { describeBytes, describeSeconds } from '../checks/sizes.ts';
import type { Sample } from './read-metrics.ts';

/** A metric whose greatest value is compared with a limit: that of its alert in docs/observe.md. */
interface Lag {
  readonly metric: string;
  readonly part: string;
  readonly limit: number;
  readonly unit: NonNullable<Check['unit']>;
  readonly nameOf: (labels: Sample['labels']) => string;
  readonly says: (value: number) => string;
  readonly advice: string;
}

const count = (one: string) => (value: number) => `${value} ${value === 1 ? one : `${one}s`}`;

const lags: readonly Lag[] = [
  {
    metric: 'longwave_outbox_lag',
    part: 'relay',
    limit: 60,
    unit: 'seconds',
    nameOf: ({ topic = '' }) => topic,
    says: (value) => (value === 0 ? 'nothing waits' : `the oldest event waits for ${describeSeconds(value)}`),
    advice: 'The bus is away or the relay fails: look for relay.failed with npx longwave logs.',
  },
  {
    metric: 'longwave_follower_lag',
    part: 'followers',
    limit: 10_000,
    unit: 'messages',
    nameOf: ({ topic = '', group = '' }) => `${group} of ${topic}`,
    says: (value) => `${count('message')(value)} behind`,
    advice: 'Its service is away or too slow: read its log with npx longwave logs.',
  },
  {
    metric: 'longwave_jobs',
    part: 'jobs',
    limit: 100,
    unit: 'jobs',
    nameOf: ({ kind = '' }) => kind,
    says: (value) => `${count('job')(value)} waiting`,
    advice: 'More work comes than the workers finish, or they are away: read the log of encoder and management.',
  },
  {
    metric: 'longwave_facts_backlog',
    part: 'facts',
    limit: 50e6,
    unit: 'bytes',
    nameOf: () => 'journal',
    says: (value) => (value === 0 ? 'every fact is on the bus' : `${describeBytes(value)} not on the bus yet`),
    advice: 'Downloads are not counted until the bus is back; look for facts.publish_failed with npx longwave logs.',
  },
  {
    metric: 'longwave_exchange_intents_overdue',
    part: 'exchange',
    limit: 0,
    unit: 'intents',
    nameOf: () => 'serving intents',
    says: (value) => `${value} not acknowledged for too long`,
    advice: 'A hosting platform does not answer: npx longwave exchange intents shows which.',
  },
];

/** Every process of a service reports the same number, so the greatest is taken. */
const greatest = (samples: readonly Sample[]) => Math.max(...samples.map(({ value }) => value));

/** The lags that the services report: of relays, followers, waiting jobs, facts and intents. */
export const checkLags = (samples: readonly Sample[]): Check[] =>
  lags.flatMap(({ metric, part, limit, unit, nameOf, says, advice }) => {
    const found = samples.filter(({ name, labels }) => name === metric && labels['state'] !== 'running');
    return [...Map.groupBy(found, ({ labels }) => nameOf(labels))].map(([name, ofName]) => {
      const value = greatest(ofName);
      const well = value <= limit;
      return { part, name, well, says: says(value), ...(!well && { advice }), value, unit };
    });
  });

/** A follower: a topic and the group that follows it. */
export interface Follower {
  readonly topic: string;
  readonly group: string;
}

/** The followers that run, as they report themselves. */
export function followersOf(samples: readonly Sample[]): readonly Follower[] {
  const found = samples.filter(({ name }) => name === 'longwave_follower_dead_letters_total');
  const pairs = found.map(({ labels: { topic = '', group = '' } }) => [`${topic} ${group}`, { topic, group }] as const);
  return [...new Map(pairs).values()];
}
