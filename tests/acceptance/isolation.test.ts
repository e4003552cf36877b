import path from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { uploadFile } from '@longwave/test-kit/clients';
import { makeAudio, until } from '@longwave/test-kit';
import { encodedEpisode, hostingWorldOf, publishedPodcast, type HostingWorld } from '../_hosting-world.ts';
import { openSharedInstallation } from '../_shared-installation.ts';

/** The part of the OpenAPI document that these tests read. */
interface Operation {
  readonly operationId: string;
  readonly deprecated?: boolean;
  readonly parameters?: readonly { readonly name: string; readonly in: string; readonly required?: boolean }[];
  readonly requestBody?: {
    readonly content: Readonly<
      Record<string, { readonly schema: { readonly properties?: Readonly<Record<string, unknown>> } }>
    >;
  };
}

let world: HostingWorld;
let document: { readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>> };
let stranger: string;
/** Ids of the owner's things, by the field or path that names them. */
const owned: Record<string, string> = {};

beforeAll(async () => {
  world = hostingWorldOf(await openSharedInstallation());
  const owner = await world.account('owner');
  stranger = (await world.account('stranger')).apiKey;
  const podcastId = await publishedPodcast(owner.rest, 'Harbour Light');
  const { episodeId, productionId } = await encodedEpisode(world, owner.rest, podcastId, {
    title: 'First light',
    publish: true,
  });
  const clip = await until('the clip', async () => {
    const [found] = await owner.rest.get<{ id: string }[]>(`/media_clips?episode_id=${episodeId}`);
    return found;
  });
  await owner.rest.post('/batch_encodings', { podcast_id: podcastId, initiator: 'intro' });
  const batch = await owner.rest.get<{ id: string }>(`/batch_encodings?podcast_id=${podcastId}`);
  const { fileUrl } = await uploadFile(owner.rest, makeAudio(path.join(world.folder, 'a.mp3'), 3));
  Object.assign(owned, {
    podcasts: podcastId,
    podcast_id: podcastId,
    episodes: episodeId,
    episode_id: episodeId,
    productions: productionId,
    media_clips: clip.id,
    batch_encodings: batch.id,
    file_url: fileUrl,
    keys: (await owner.rest.get<{ id: string }[]>('/account/keys'))[0]!.id,
  });
  document = (await (await fetch(`${world.fleet.urls.base}/api/v1/docs`)).json()) as typeof document;
});
afterAll(async () => world?.[Symbol.asyncDispose]());

const missingIdOf = (id: string) => `${id.split('_')[0]}_${'7'.padEnd(26, '0')}`;

async function ask(method: string, route: string, body: unknown) {
  const response = await fetch(`${world.fleet.urls.base}/api/v1${route}`, {
    method: method.toUpperCase(),
    headers: { token: stranger, ...(body !== undefined && { 'content-type': 'application/json' }) },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  return { status: response.status, text: await response.text(), type: response.headers.get('content-type') };
}

test("no route shows, changes or even admits another account's things: every answer is that of a missing id, byte for byte", async () => {
  const differing: string[] = [];
  let asked = 0;
  for (const [route, methods] of Object.entries(document.paths))
    for (const [method, operation] of Object.entries(methods)) {
      const noun = route.split('/')[1]!;
      const inPath = route.includes('{id}') ? owned[noun] : undefined;
      const fields = operation.requestBody?.content['application/json']?.schema.properties ?? {};
      const named = [...(operation.parameters ?? []).filter((each) => each.in === 'query').map(({ name }) => name)];
      const inQuery = named.find((name) => name === 'podcast_id' || name === 'episode_id');
      const inBody = Object.keys(fields).find((name) => name === 'podcast_id' || name === 'episode_id');
      const foreign = inPath ?? (inQuery && owned[inQuery]) ?? (inBody && owned[inBody]);
      if (!foreign || noun === 'operations') continue;
      const answerTo = (id: string) =>
        ask(
          method,
          route.replace('{id}', id) + (inQuery ? `?${inQuery}=${id}` : ''),
          operation.requestBody && {
            ...(inBody && { [inBody]: id }),
            ...('file_url' in fields && { file_url: owned['file_url'] }),
          },
        );
      const [theirs, none] = [await answerTo(foreign), await answerTo(missingIdOf(foreign))];
      asked += 1;
      if (none.status !== 404) differing.push(`${method} ${route}: a missing id answers ${none.status}: ${none.text}`);
      if (
        theirs.status !== none.status ||
        theirs.type !== none.type ||
        theirs.text.replaceAll(foreign, 'ID') !== none.text.replaceAll(missingIdOf(foreign), 'ID')
      )
        differing.push(`${method} ${route}: ${theirs.status} ${theirs.text} instead of ${none.status} ${none.text}`);
    }
  expect(differing).toEqual([]);
  expect(asked).toBeGreaterThanOrEqual(40);
});

test('no list shows anything of another account', async () => {
  for (const [route, methods] of Object.entries(document.paths))
    if (methods['get'] && !route.includes('{id}')) {
      const { text } = await ask('get', route, undefined);
      for (const id of Object.values(owned)) expect([route, text.includes(id)]).toEqual([route, false]);
    }
});
