import { createEventBus } from '@longwave/event-bus';
import { topics } from '@longwave/events';
import { kafkaSecurity, readKafkaConfig } from '@longwave/service-kit';
import { namesOf, services } from '@longwave/services';
import { sha256, until } from '@longwave/test-kit';
import { createRestClient } from '@longwave/test-kit/clients';
import pg from 'pg';
// eslint-disable-next-line @nx/enforce-module-boundaries -- what `longwave restore` verifies is verified here, by the same code
import { recountFacts } from '../../apps/cli/src/restore/recount-facts.ts';
// eslint-disable-next-line @nx/enforce-module-boundaries -- the same
import { verifyChains } from '../../apps/cli/src/restore/verify-chains.ts';
import type { Installation } from '../_fleet.ts';
import type { Delivered } from './_attempts.ts';
import type { Record } from './_load.ts';
import type { Show } from './_show.ts';

/** Facts about one response in the database: the bytes that they name, and how many of them are named once more. */
interface Written {
  readonly ranges: readonly (readonly [from: number, to: number])[];
  readonly doubled: number;
}

/** What an installation has stored, beside what its clients saw. */
export interface Truth extends AsyncDisposable {
  /** Names what everything that was acknowledged until an instant still waits for, but for what is uncertain; none: all has arrived everywhere. */
  readonly waitingFor: (
    record: Record,
    untilMs: number,
    uncertain: (delivered: Delivered) => boolean,
  ) => Promise<readonly string[]>;
  /** Sentences about what was lost or doubled; none when all is well. */
  readonly violations: (record: Record, uncertain: (delivered: Delivered) => boolean) => Promise<readonly string[]>;
}

const parseRanges = (text: string) =>
  [...text.matchAll(/\[(\d+),(\d+)\)/g)].map(([, from, to]) => [Number(from), Number(to)] as const);

const some = (names: readonly string[]) => `${names.length}, for example ${names.slice(0, 3).join(', ')}`;

/** Follows all events of product from the beginning, as a service does. */
async function followEvents({ fleet }: Installation) {
  const seen = new Map<string, string>();
  const changed: string[] = [];
  const bus = await createEventBus(
    fleet.kafkaBrokers
      ? {
          ...{ kind: 'kafka', brokers: fleet.kafkaBrokers.split(','), clientId: 'faults' },
          security: kafkaSecurity(readKafkaConfig({ KAFKA_BROKERS: fleet.kafkaBrokers, ...fleet.kafkaSecurity })),
        }
      : { kind: 'redis', redisUrl: fleet.redisUrl, clientName: 'faults' },
  );
  await bus.subscribe({
    ...{ topic: topics.product, group: 'faults' },
    handle: async (messages) => {
      for (const { id, payload } of messages) {
        const digest = sha256(Buffer.from(JSON.stringify(payload)));
        const before = seen.get(id);
        if (before !== undefined && before !== digest) changed.push(id);
        seen.set(id, digest);
      }
    },
  });
  /** How many messages each follower has given up. */
  const deadLetters = async () => {
    const followers = namesOf(services).flatMap((name) => services[name].redis?.follows ?? []);
    const letters = await Promise.all(
      followers.map(async ([topic, group]) => ({ topic, group, n: (await bus.listDeadLetters(topic, group)).length })),
    );
    return letters.flatMap(({ topic, group, n }) => (n > 0 ? [`${n} dead letters of ${group} in ${topic}`] : []));
  };
  return { seen, changed, deadLetters, close: () => bus[Symbol.asyncDispose]() };
}

/** Opens what an installation has stored. Its engines may be killed meanwhile. */
export async function openTruth(world: Installation, show: Show): Promise<Truth> {
  await using stack = new AsyncDisposableStack();
  const { fleet } = world;
  const pool = stack.adopt(new pg.Pool({ connectionString: fleet.adminDatabaseUrl, max: 2 }), (it) => it.end());
  pool.on('error', () => undefined);
  const rest = createRestClient(fleet.urls.base, show.apiKey);
  const events = await followEvents(world);
  stack.defer(events.close);
  const rows = async <R extends pg.QueryResultRow>(text: string, values: readonly unknown[] = []) =>
    (await pool.query<R>(text, [...values])).rows;

  async function writtenOf(delivered: readonly Delivered[]): Promise<ReadonlyMap<string, Written>> {
    const found = await rows<{ request_id: string; union: string; doubled: string }>(
      `select request_id, range_agg(piece)::text as union,
         (sum(upper(piece) - lower(piece)) - (select sum(upper(u) - lower(u)) from unnest(range_agg(piece)) u))::text as doubled
       from audience.fact, unnest(written) piece where request_id = any($1) group by request_id`,
      [delivered.map(({ requestId }) => requestId)],
    );
    return new Map(
      found.map((row) => [row.request_id, { ranges: parseRanges(row.union), doubled: Number(row.doubled) }]),
    );
  }
  const isRecorded = ({ from, to, isWhole }: Delivered, written: Written | undefined) =>
    written?.ranges.length === 1 &&
    written.ranges[0]![0] === from &&
    (isWhole ? written.ranges[0]![1] === to : written.ranges[0]![1] >= to);

  async function eventsUnseen(): Promise<string[]> {
    const all = await rows<{ event_id: string }>(`select event_id from product.outbox`);
    return all.flatMap(({ event_id: id }) => (events.seen.has(id) ? [] : [id]));
  }
  async function episodeViolations({ episodes }: Record): Promise<string[]> {
    const ids = episodes.map(({ id }) => id);
    const stored = await rows<{ id: string; version: number; operations: number }>(
      `select id, version, (select count(*)::int from product.operation o where o.subject_id = r.id) as operations
       from product.resource r where id = any($1)`,
      [ids],
    );
    const unlike = stored.filter(({ version, operations }) => version !== 2 || operations !== 2);
    const projected = await rows<{ id: string }>('select id from delivery.episode where id = any($1) and version = 2', [
      ids,
    ]);
    const list = await until(
      'the list of episodes',
      () => rest.get<{ id: string; title: string }[]>(`/podcasts/${show.podcastId}/episodes`),
      { despiteErrors: true },
    );
    const titles = new Map(list.map(({ id, title }) => [id, title]));
    const unread = episodes.filter(({ id, title }) => titles.get(id) !== title);
    const doubledTitles = list.length - new Set(list.map(({ title }) => title)).size;
    return [
      ...(new Set(ids).size === ids.length ? [] : ['two commands made the same episode']),
      ...(stored.length === ids.length ? [] : [`${ids.length - stored.length} acknowledged episodes are lost`]),
      ...(unlike.length === 0
        ? []
        : [`episodes with more or fewer operations than two: ${some(unlike.map((one) => one.id))}`]),
      ...(projected.length === ids.length ? [] : [`${ids.length - projected.length} episodes are not projected`]),
      ...(unread.length === 0 ? [] : [`episodes that are not read back: ${some(unread.map((one) => one.id))}`]),
      ...(doubledTitles === 0 ? [] : [`${doubledTitles} episodes were made twice`]),
    ];
  }
  async function productionViolations({ productions }: Record): Promise<string[]> {
    const stored = await rows<{ id: string; lifecycle_state: string; version: number; jobs: string }>(
      `select id, lifecycle_state, version,
         (select string_agg(state, ',') from product.job where subject_id = r.id and kind = 'encode_production') as jobs
       from product.resource r where id = any($1)`,
      [productions.map(({ id }) => id)],
    );
    // Created, started, encoded; behind it a track of HLS is started and recorded.
    const isOnce = ({ version }: { readonly version: number }) => version >= 3 && version <= 5;
    const wrong = stored.filter((one) => one.lifecycle_state !== 'encoded' || !isOnce(one) || one.jobs !== 'done');
    return [
      ...(stored.length === productions.length ? [] : ['started productions are lost']),
      ...wrong.map((one) => `production ${one.id} is ${one.lifecycle_state}, version ${one.version}, jobs ${one.jobs}`),
    ];
  }
  async function deliveryViolations({ delivered }: Record, uncertain: (one: Delivered) => boolean): Promise<string[]> {
    const written = await writtenOf(delivered);
    const lost = delivered.filter((one) => !isRecorded(one, written.get(one.requestId)) && !uncertain(one));
    const doubled = [...written].filter(([, one]) => one.doubled > 0).map(([id]) => id);
    const said = (one: Delivered) =>
      `${one.requestId} got ${one.from}-${one.to}${one.isWhole ? '' : ' (cut)'}, facts say ${JSON.stringify(written.get(one.requestId)?.ranges)}`;
    return [
      ...(lost.length === 0 ? [] : [`delivered bytes without facts: ${some(lost.map(said))}`]),
      ...(doubled.length === 0 ? [] : [`bytes with two facts: ${some(doubled)}`]),
    ];
  }
  async function eventViolations(): Promise<string[]> {
    const unseen = await eventsUnseen();
    const waiting = await rows<{ n: number }>(
      'select count(*)::int as n from product.outbox where published_at is null',
    );
    return [
      ...(unseen.length === 0 ? [] : [`events that a follower never saw: ${some(unseen)}`]),
      ...(events.changed.length === 0 ? [] : [`events that came with two contents: ${some(events.changed)}`]),
      ...(waiting[0]!.n === 0 ? [] : [`${waiting[0]!.n} events were never published`]),
      ...(await events.deadLetters()),
    ];
  }

  const owned = stack.move();
  return {
    async waitingFor(record, untilMs, uncertain) {
      const before = <T extends { readonly endedMs: number }>(list: readonly T[]) =>
        list.filter(({ endedMs }) => endedMs <= untilMs);
      const unpublished = await rows<{ schema: string }>(
        ['product', 'identity', 'exchange']
          .map(
            (schema) =>
              `select '${schema}' as schema from (select from ${schema}.outbox where published_at is null limit 1) s`,
          )
          .join(' union all '),
      );
      const episodes = before(record.episodes).map(({ id }) => id);
      const projected = await rows('select from delivery.episode where id = any($1) and version = 2', [episodes]);
      const productions = before(record.productions).map(({ id }) => id);
      const encoded = await rows(
        `select from product.resource where id = any($1) and (lifecycle_state = 'error'
           or lifecycle_state = 'encoded' and attributes #>> '{tracks,a192,state}' in ('ready', 'failed'))`,
        [productions],
      );
      const delivered = before(record.delivered);
      const written = await writtenOf(delivered);
      const unrecorded = delivered.filter((one) => !written.has(one.requestId) && !uncertain(one));
      return [
        ...unpublished.map(({ schema }) => `the outbox of ${schema}`),
        ...(projected.length < episodes.length ? [`${episodes.length - projected.length} projections`] : []),
        ...(encoded.length < productions.length ? [`${productions.length - encoded.length} encodings`] : []),
        ...(unrecorded.length > 0 ? [`facts of ${unrecorded.length} responses`] : []),
        ...((await eventsUnseen()).length > 0 ? ['the follower'] : []),
      ];
    },
    async violations(record, uncertain) {
      const chains = await verifyChains(fleet.adminDatabaseUrl);
      const counted = recountFacts(fleet.databaseUrls['audience']!, world.folder);
      return [
        ...(await episodeViolations(record)),
        ...(await productionViolations(record)),
        ...(await deliveryViolations(record, uncertain)),
        ...(await eventViolations()),
        ...chains.problems,
        ...(counted.differing === 0
          ? []
          : [`${counted.differing} of ${counted.numbers} numbers differ from a recount`]),
      ];
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}
