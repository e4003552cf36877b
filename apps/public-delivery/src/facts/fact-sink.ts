import type { EventBus } from '@longwave/event-bus';
import { topics, type DeliveryFact, type FactsPublished } from '@longwave/events';
import { Problem } from '@longwave/problems';
import { meter, observeGauge, type Logger } from '@longwave/service-kit';
import { newId } from '@longwave/ids';
import { openFactJournal } from './fact-journal.ts';
import {
  decodeLine,
  encodeLine,
  isMark,
  readMark,
  toFactLine,
  toMarkLine,
  type FactLine,
  type Mark,
} from './fact-line.ts';
import { readProducerName } from './producer-name.ts';

/** Takes facts; they reach the bus at least once, in order per key. */
export interface FactSink extends AsyncDisposable {
  /** @param writtenBytes of audio that this fact adds */
  add(fact: FactLine, writtenBytes: number): void;
  /** Resolves when the facts are in the journal. Rejects with `temporarily_unavailable` when it does not take them. */
  keep(facts: readonly DeliveryFact[]): Promise<void>;
  /** Resolves when everything added before is in the journal, or the journal cannot be written, which is logged. */
  settled(): Promise<void>;
  /** Reports a user agent the first time this process sees it on a UTC day: analytics-sink forgets agents that are no longer used. */
  sawUserAgent(digest: string | null, userAgent: string, at: Date): void;
}

/** User agents remembered as reported today; a repetition is harmless. */
const maxKnownAgents = 50_000;
const batchMessages = 500;

/** Each part of the topic is read on its own, so each gets the mark. */
const publishMark = (bus: EventBus, mark: Mark) =>
  bus.publishToAll(topics.deliveryFacts, (part, parts) => {
    const payload: FactsPublished = { ...mark, part, parts };
    return { key: mark.producer, id: `${mark.producer}:${mark.until}:${part}`, type: 'facts.published', payload };
  });

interface FactSinkOptions {
  readonly bus: EventBus;
  /** Folder of the journal. */
  readonly folder: string;
  readonly logger: Logger;
  readonly now: () => Date;
  /** How often a mark says up to when facts are published. */
  readonly markEveryMs?: number;
}

/**
 * Opens the journal of this process and publishes to `delivery.facts` from it: facts and, now and then, a mark that says up to which time
 * all of them are published. A mark goes through the journal as well, so it never overtakes a fact, and none is sent while the bus is away.
 */
export async function openFactSink(options: FactSinkOptions): Promise<FactSink> {
  const { bus, folder, logger, now, markEveryMs = 15_000 } = options;
  const producer = await readProducerName(folder);
  const publish = async (lines: readonly string[]) => {
    const read = lines.flatMap((line) => {
      const decoded = decodeLine(line);
      if (!decoded) logger.warn({}, 'facts.unreadable_line');
      return decoded ? [decoded] : [];
    });
    const facts = read.filter((line) => !isMark(line));
    for (let at = 0; at < facts.length; at += batchMessages)
      await bus.publish(facts.slice(at, at + batchMessages).map((fact) => ({ topic: topics.deliveryFacts, ...fact })));
    const mark = read.findLast(isMark);
    if (mark) await publishMark(bus, readMark(mark));
  };
  const journal = await openFactJournal({ folder, publish, logger, flushEveryMs: 200, rewindBytes: 1 << 20 });
  const known = new Set<string>();
  let knownOn = '';
  const bytes = meter().createCounter('longwave.delivery.bytes', {
    unit: 'By',
    description: 'Bytes of audio that were handed to listeners',
  });
  bytes.add(0);
  const observing = observeGauge(
    'longwave.facts.backlog',
    { unit: 'By', description: 'Facts in the journal that are not on the bus' },
    () => [{ value: journal.backlogBytes() }],
  );
  const append = (line: FactLine) => journal.append(encodeLine(line));
  const addMark = (ended: boolean) =>
    append(toMarkLine({ kind: 'facts_published', producer, until: now().toISOString(), ended }));
  addMark(false);
  const marking = setInterval(() => addMark(false), markEveryMs);
  return {
    add: (fact, writtenBytes) => {
      bytes.add(writtenBytes);
      append(fact);
    },
    keep: (facts) =>
      journal.keep(facts.map((fact) => encodeLine(toFactLine(fact)))).catch((cause: unknown) => {
        throw new Problem('temporarily_unavailable', undefined, { cause, retryAfterSeconds: 5 });
      }),
    settled: () => journal.keep([]).catch(() => undefined),
    sawUserAgent: (digest, userAgent, at) => {
      const day = at.toISOString().slice(0, 10);
      if (day !== knownOn || known.size >= maxKnownAgents) known.clear();
      knownOn = day;
      if (digest === null || known.has(digest)) return;
      known.add(digest);
      append(
        toFactLine({
          kind: 'user_agent_seen',
          fact_id: newId('fct'),
          at: at.toISOString(),
          user_agent_digest: digest,
          user_agent: userAgent,
        }),
      );
    },
    [Symbol.asyncDispose]: () => {
      clearInterval(marking);
      observing[Symbol.dispose]();
      addMark(true);
      return journal[Symbol.asyncDispose]();
    },
  };
}
