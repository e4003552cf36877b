import { deliveryContract } from '@longwave/services';
import type { Route } from './route.ts';

const contract = JSON.stringify(deliveryContract);

/** Name and version of this API, and the surfaces that it serves. */
export const contractRoute: Route = {
  name: 'contract.read',
  path: '/delivery/v1/contract',
  get: async ({ request, response }) => {
    response.writeHead(200, {
      'content-type': 'application/json',
      'content-length': String(Buffer.byteLength(contract)),
      'cache-control': 'public, max-age=300',
    });
    response.end(request.method === 'HEAD' ? undefined : contract);
  },
};
