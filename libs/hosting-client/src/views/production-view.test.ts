import { expect, test } from '@jest/globals';
import type { Attributes, Resource } from '@longwave/command-catalog';
import type { ViewContext } from './view.ts';
import { productionView } from './production-view.ts';

const encoded = (attributes: Partial<Attributes<'productions'>>): Resource<'productions'> => ({
  ...({
    resource_type: 'productions',
    id: 'pro_1',
    workspace_id: 'ws_1',
    version: 3,
    lifecycle_state: 'encoded',
  } as const),
  ...{ links: {}, digest: '', created_at: '', updated_at: '', updated_by: { operation_id: 'op_1' } },
  attributes: {
    episode_id: 'ep_1',
    file_url: 'https://host.example/a.mp3',
    publication_flag: false,
    files: [],
    ...attributes,
  },
});
const context = { deps: { mediaUrl: 'https://media.example' } } as ViewContext;

test('each track of HLS shows its state, how far its job is, and why it failed', async () => {
  const problem = { code: 'media_picture_beyond_limits', detail: 'The picture is too large.' };
  const last = async (_id: string, track?: string) => (track === 'v1080' ? { progress: 0.25 } : undefined);
  const tracks: Attributes<'productions'>['tracks'] = {
    a192: { state: 'ready' },
    v720: { state: 'failed', problem },
    v1080: { state: 'encoding' },
    iframe: { state: 'encoding' },
  };
  const deps = { ...context.deps, progress: { last } };
  const fields = await productionView.findFields([encoded({ tracks })], { ...context, deps });
  expect(fields.get('pro_1')).toEqual({
    tracks: {
      ...{ a192: { state: 'ready', progress: 1 }, v720: { state: 'failed', progress: null, problem } },
      ...{ v1080: { state: 'encoding', progress: 0.25 }, iframe: { state: 'encoding', progress: 0 } },
    },
  });
  expect((await productionView.findFields([encoded({})], context)).size).toBe(0);
});

test('a production shows what was found wrong with its file, and nothing when all is well', async () => {
  const warnings = [{ code: 'media_damaged' as const, detail: 'The file is damaged in one place.', places: 1 }];
  expect(await productionView.render(encoded({ warnings }), context)).toMatchObject({ state: 'encoded', warnings });
  expect(await productionView.render(encoded({}), context)).not.toHaveProperty('warnings');
});
