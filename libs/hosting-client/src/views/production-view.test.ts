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

test('a production shows what was found wrong with its file, and nothing when all is well', async () => {
  const warnings = [{ code: 'media_damaged' as const, detail: 'The file is damaged in one place.', places: 1 }];
  expect(await productionView.render(encoded({ warnings }), context)).toMatchObject({ state: 'encoded', warnings });
  expect(await productionView.render(encoded({}), context)).not.toHaveProperty('warnings');
});
