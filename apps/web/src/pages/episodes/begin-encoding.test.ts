import { expect, test } from '@jest/globals';
import createClient from 'openapi-fetch';
import type { paths } from '../../generated/openapi.d.ts';
import { beginEncoding } from './begin-encoding.ts';

const upload = { id: 'one', target: 'ep_1', fileUrl: 'https://media.test/one.wav' };

test.each([
  ['before it starts', '/productions', [['POST', '/productions/prd_1/start', { publish_episode: true }]]],
  [
    'while it starts',
    '/productions/prd_1/start',
    [
      ['POST', '/productions/prd_1/start', { publish_episode: false }],
      ['PUT', '/productions/prd_1', { publication_flag: true }],
    ],
  ],
])('an episode is published when ready if that is chosen %s', async (_when, during, sent) => {
  let wished = false;
  const got: unknown[] = [];
  const send = createClient<paths>({
    baseUrl: 'http://rest.test/api/v1',
    fetch: async (request) => {
      const path = new URL(request.url).pathname.replace('/api/v1', '');
      got.push([request.method, path, await request.json()]);
      if (path === during) wished = true;
      return Response.json({ id: 'prd_1' });
    },
  });
  await beginEncoding(upload, () => wished, send);
  expect(got.slice(1)).toEqual(sent);
});
