import path from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { makeAudio } from '@longwave/test-kit';
import { uploadFile } from '@longwave/test-kit/clients';
import { allowed, nearly, type JsonSchema } from '@longwave/test-kit/schema-values';
import fc from 'fast-check';
import { z } from 'zod';
import {
  encodedEpisode,
  hostingWorldOf,
  publishedPodcast,
  startHostingFleet,
  type HostingWorld,
} from '../_hosting-world.ts';

interface Answer {
  readonly description?: string;
  readonly content?: Readonly<Record<string, { readonly schema: JsonSchema }>>;
}
interface Operation {
  readonly parameters?: readonly {
    readonly name: string;
    readonly in: 'path' | 'query' | 'header';
    readonly required?: boolean;
    readonly schema: JsonSchema;
  }[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: JsonSchema }>> };
  readonly responses: Readonly<Record<string, Answer>>;
}
interface OpenApi {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, JsonSchema>> };
}

const requests = Number(process.env['GENERATED_REQUESTS'] ?? 5_000);

let world: HostingWorld;
let apiKey: string;
let document: OpenApi;
/** Ids that exist, so that requests get past "not found". */
const ids: Record<string, string> = {};

beforeAll(async () => {
  world = hostingWorldOf(await startHostingFleet());
  const owner = await world.account('owner');
  apiKey = owner.apiKey;
  const podcastId = await publishedPodcast(owner.rest, 'Harbour Light');
  const { episodeId, productionId } = await encodedEpisode(world, owner.rest, podcastId, {
    title: 'First light',
    publish: true,
  });
  const { fileUrl } = await uploadFile(owner.rest, makeAudio(path.join(world.folder, 'a.mp3'), 2));
  const [clip] = await owner.rest.get<{ id: string }[]>(`/media_clips?episode_id=${episodeId}`);
  const endpoint = await owner.rest.post<{ id: string }>('/webhook_endpoints', {
    ...{ url: 'https://webhooks.invalid/hook', events: ['podcast.created'] },
  });
  Object.assign(ids, {
    podcasts: podcastId,
    podcast_id: podcastId,
    episodes: episodeId,
    episode_id: episodeId,
    productions: productionId,
    media_clips: clip?.id ?? 'none',
    webhook_endpoints: endpoint.id,
    uploads: /upl_[0-9a-z]{26}/.exec(fileUrl)?.[0] ?? 'none',
    file_url: fileUrl,
  });
  document = (await (await fetch(`${world.fleet.urls.base}/api/v1/docs`)).json()) as OpenApi;
});
afterAll(async () => world?.[Symbol.asyncDispose]());

/** One schema per component, with the others as definitions of its own. */
function answerParser(schema: JsonSchema): z.ZodType {
  const local = JSON.parse(
    JSON.stringify({ ...schema, $defs: document.components.schemas }).replaceAll('#/components/schemas/', '#/$defs/'),
  ) as Parameters<typeof z.fromJSONSchema>[0];
  return z.fromJSONSchema(local);
}

interface Generated {
  readonly route: string;
  readonly method: string;
  readonly url: string;
  readonly body: unknown;
}

/** Requests of one operation: known ids mostly, parameters and body as the document allows them, or nearly so. */
function requestsOf(route: string, method: string, operation: Operation): fc.Arbitrary<Generated> {
  const known = ids[route.split('/')[1]!];
  const id = known
    ? fc.oneof({ weight: 4, arbitrary: fc.constant(known) }, fc.string({ minLength: 1, maxLength: 40 }))
    : fc.string({ minLength: 1, maxLength: 40 });
  const query = (operation.parameters ?? []).filter((each) => each.in === 'query');
  const parameters = fc.record(
    Object.fromEntries(
      query.map(({ name, schema }) => [
        name,
        ids[name]
          ? fc.oneof({ weight: 4, arbitrary: fc.constant<unknown>(ids[name]) }, nearly(schema))
          : fc.oneof({ weight: 4, arbitrary: allowed(schema) }, nearly(schema)),
      ]),
    ),
    { requiredKeys: [] },
  );
  const schema = operation.requestBody?.content['application/json']?.schema;
  const body = schema
    ? fc.tuple(nearly(schema), fc.boolean()).map(([value, fill]) => withKnownIds(value, schema, fill))
    : fc.constant(undefined);
  return fc.tuple(id, parameters, body).map(([chosen, values, sent]) => {
    const search = new URLSearchParams();
    for (const [name, value] of Object.entries(values))
      for (const each of Array.isArray(value) ? value : [value])
        search.append(name, typeof each === 'string' ? each.toWellFormed() : JSON.stringify(each));
    const place = route.replace('{id}', encodeURIComponent(chosen.toWellFormed()));
    return { route, method, url: `${place}${search.size > 0 ? `?${search.toString()}` : ''}`, body: sent };
  });
}

function withKnownIds(value: unknown, schema: JsonSchema, fill: boolean): unknown {
  if (!fill || typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const fields = Object.keys(schema.properties ?? {}).filter((name) => ids[name]);
  return { ...value, ...Object.fromEntries(fields.map((name) => [name, ids[name]])) };
}

/** Whether an operation would end the objects that all others need. */
const isLasting = (route: string, method: string) =>
  (method === 'delete' && /^\/(podcasts|episodes|productions|media_clips|webhook_endpoints)\/\{id\}$/.test(route)) ||
  (method === 'post' && /\/(redirect|unpublish|disable)$/.test(route));

test(`${requests} generated requests meet no 5xx, no undocumented status and no undocumented field`, async () => {
  const operations = Object.entries(document.paths).flatMap(([route, methods]) =>
    Object.entries(methods)
      .filter(([, { responses }]) => !Object.values(responses).some((each) => each.content?.['text/event-stream']))
      .map(([method, operation]) => ({ route, method, operation })),
  );
  const parsers = new Map<Answer, z.ZodType>();
  const seen = new Map<string, number>();
  const perOperation = Math.ceil(requests / operations.length);
  const failures: string[] = [];

  for (const { route, method, operation } of operations) {
    const generated = fc.sample(requestsOf(route, method, operation), { numRuns: perOperation, seed: 42 });
    // What would end the objects of this world is asked of ids that do not exist.
    const safe = isLasting(route, method)
      ? generated.map((each) => ({ ...each, url: each.url.replaceAll(ids[route.split('/')[1]!] ?? ' ', 'none') }))
      : generated;
    await inParallel(safe, 8, async ({ url, body }) => {
      const response = await fetch(`${world.fleet.urls.base}/api/v1${url}`, {
        method: method.toUpperCase(),
        headers: { token: apiKey, ...(body !== undefined && { 'content-type': 'application/json' }) },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      const text = await response.text();
      const answer = operation.responses[String(response.status)];
      seen.set(`${method} ${route} ${response.status}`, (seen.get(`${method} ${route} ${response.status}`) ?? 0) + 1);
      const shown = `${method} ${url} ${JSON.stringify(body)?.slice(0, 300) ?? ''} → ${response.status} ${text.slice(0, 300)}`;
      if (response.status >= 500 || !answer) return void failures.push(shown);
      const schema = answer.content?.['application/json']?.schema;
      if (!schema) {
        if (text !== '' && !answer.content) failures.push(`${shown}: a body where none is documented`);
        return;
      }
      let parser = parsers.get(answer);
      if (!parser) parsers.set(answer, (parser = answerParser(schema)));
      if (text === '' && answer.description?.includes('The body is empty')) return;
      const parsed = text === '' ? { success: false as const, error: 'empty' } : parser.safeParse(JSON.parse(text));
      if (!parsed.success) failures.push(`${shown}: ${JSON.stringify(parsed.error).slice(0, 300)}`);
    });
  }
  expect(failures.slice(0, 20)).toEqual([]);
  const succeeded = new Set([...seen.keys()].filter((key) => / 2\d\d$/.test(key)).map((key) => key.slice(0, -4)));
  // Requests that never get past the checks prove little.
  // An import needs the feed of another host, which is not in this world.
  const possible = operations.filter(({ route }) => !/\/import(\/|$)/.test(route));
  expect(succeeded.size).toBeGreaterThanOrEqual(possible.length * 0.6);
});

async function inParallel<T>(items: readonly T[], width: number, work: (item: T) => Promise<void>): Promise<void> {
  let next = 0;
  await Promise.all(
    Array.from({ length: width }, async () => {
      while (next < items.length) await work(items[next++]!);
    }),
  );
}
