import type { Route } from './route.ts';

const contract = JSON.stringify({ name: 'Public Delivery API', version: '1.3.1', status: 'current', deprecations: [] });

/** Name and version of this surface. */
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
