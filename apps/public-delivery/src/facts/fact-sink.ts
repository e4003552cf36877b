import type { EventBus } from '@longwave/event-bus';
import { deliveryFactSchema, topics, type DeliveryFact } from '@longwave/events';
import { Problem } from '@longwave/problems';
import type { Logger } from '@longwave/service-kit';
import { newId } from '@longwave/ids';
import { z } from 'zod';
import { openFactJournal } from './fact-journal.ts';

/** Takes facts; they reach the bus at least once, in order per key. */
export interface FactSink extends AsyncDisposable {
  add(fact: DeliveryFact): void;
  /** Takes facts that somebody was promised. Rejects with `temporarily_unavailable` when they cannot be kept. */
  keep(facts: readonly DeliveryFact[]): Promise<void>;
  /** Resolves when everything added before is in the journal, or the journal cannot be written: that has been told. */
  settled(): Promise<void>;
  /** Reports a user agent the first time this process sees it on a UTC day: those that nobody uses any more are forgotten. */
  sawUserAgent(digest: string | null, userAgent: string, at: Date): void;
}

/** User agents remembered as reported today; a repetition is harmless. */
const knownAgentsMax = 50_000;
const batchMessages = 500;

const types = {
  byte_range_served: 'byte_range.served',
  user_agent_seen: 'user_agent.seen',
  delivery_event: 'delivery_event.received',
} as const;

/** Facts of one listener and episode keep their order. */
const keyOf = (fact: DeliveryFact) =>
  fact.kind === 'user_agent_seen' ? fact.user_agent_digest : `${fact.listener_key}:${fact.episode_id}`;

const lineSchema = z.string().transform((line, context): DeliveryFact => {
  try {
    return deliveryFactSchema.parse(JSON.parse(line));
  } catch {
    context.addIssue({ code: 'custom', message: 'not a fact' });
    return z.NEVER;
  }
});

/** Opens the journal of this process and publishes to `delivery.facts` from it. */
export async function openFactSink(bus: EventBus, folder: string, logger: Logger): Promise<FactSink> {
  const publish = async (lines: readonly string[]) => {
    const facts = lines.flatMap((line) => {
      const fact = lineSchema.safeParse(line);
      if (!fact.success) logger.warn({}, 'facts.unreadable_line');
      return fact.success ? [fact.data] : [];
    });
    for (let at = 0; at < facts.length; at += batchMessages)
      await bus.publish(
        facts.slice(at, at + batchMessages).map((fact) => ({
          topic: topics.deliveryFacts,
          key: keyOf(fact),
          id: fact.fact_id,
          type: types[fact.kind],
          payload: fact,
        })),
      );
  };
  const journal = await openFactJournal({ folder, publish, logger, flushEveryMs: 200, rewindBytes: 1 << 20 });
  const known = new Set<string>();
  let knownOn = '';
  const add = (fact: DeliveryFact) => journal.append(JSON.stringify(fact));
  return {
    add,
    keep: (facts) =>
      journal.keep(facts.map((fact) => JSON.stringify(fact))).catch((cause: unknown) => {
        throw new Problem('temporarily_unavailable', undefined, { cause, retryAfterSeconds: 5 });
      }),
    settled: () => journal.keep([]).catch(() => undefined),
    sawUserAgent: (digest, userAgent, at) => {
      const day = at.toISOString().slice(0, 10);
      if (day !== knownOn || known.size >= knownAgentsMax) known.clear();
      knownOn = day;
      if (digest === null || known.has(digest)) return;
      known.add(digest);
      add({
        kind: 'user_agent_seen',
        fact_id: newId('fct'),
        at: at.toISOString(),
        user_agent_digest: digest,
        user_agent: userAgent,
      });
    },
    [Symbol.asyncDispose]: () => journal[Symbol.asyncDispose](),
  };
}
