import { afterEach, expect, jest, test } from '@jest/globals';
import { askManagement } from './management.ts';

afterEach(() => void jest.restoreAllMocks());

test('an answer that breaks off is no success: what became of the request is not known', async () => {
  jest.spyOn(globalThis, 'fetch').mockResolvedValue(new Response('{"id": "op_', { status: 202 }));
  await expect(askManagement('/workspaces/ws_1/commands/advertiser.create', { method: 'POST' })).rejects.toMatchObject({
    ...{ status: 0, slug: 'no_answer' },
  });
});
