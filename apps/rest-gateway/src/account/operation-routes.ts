import { operation } from '@longwave/hosting-client';
import { defineRoute } from '../route.ts';

/** GET /operations/{id}. */
export const readOperation = (path: string) =>
  defineRoute({
    method: 'GET',
    path,
    operation: 'operationGet',
    summary: 'Reads the operation, the durable record of one command.',
    answer: { name: 'Operation', schema: operation },
    refusals: [404],
    run: async ({ caller, id }, { management }) => ({ status: 200, body: await management.findOperation(caller, id) }),
  });
