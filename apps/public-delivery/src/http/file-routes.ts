import { pipeline } from 'node:stream/promises';
import { isId } from '@longwave/ids';
import type { ObjectStore } from '@longwave/object-store';
import { Problem } from '@longwave/problems';
import type { Pool } from '@longwave/postgres';
import { readRange } from '../media/byte-range.ts';
import { findPublicUpload } from '../projection/content-table.ts';
import { ifRangeHolds, noneMatchHolds } from './conditional.ts';
import type { Route } from './route.ts';

/** Types a browser may show; anything else is only ever saved, never run in this origin. */
const shown = /^(image\/(jpeg|png|webp|gif)|audio\/[\w.+-]+|video\/[\w.+-]+)$/;

/** Public uploads (artwork, sources) straight from the object store. */
export function fileRoutes(pool: Pool, store: ObjectStore): readonly Route[] {
  return [
    {
      name: 'file.read',
      path: '/delivery/v1/f/:upload/:filename',
      serve: async ({ request, response }) => {
        const id = String(request.params['upload']);
        const upload = isId(id, 'upl') ? await findPublicUpload(pool, id) : undefined;
        if (!upload || upload.filename !== request.params['filename']) throw new Problem('not_found');
        const object = await store.find(upload.storageKey);
        if (!object) throw new Problem('not_found');
        const { sizeBytes } = object;
        const etag = `"${object.etag}"`;
        const headers = {
          etag,
          'last-modified': object.modifiedAt.toUTCString(),
          'accept-ranges': 'bytes',
          'cache-control': 'public, max-age=3600',
          'content-type': upload.contentType,
          'content-security-policy': "default-src 'none'; sandbox",
          'content-disposition': shown.test(upload.contentType) ? 'inline' : 'attachment',
        };
        if (noneMatchHolds(request.headers['if-none-match'], etag)) return void response.writeHead(304, headers).end();
        const mayRange =
          request.method === 'GET' && ifRangeHolds(request.headers['if-range'] as string | undefined, etag);
        const range = readRange(mayRange ? request.headers.range : undefined, sizeBytes);
        if (range.kind === 'unsatisfiable') {
          response.setHeader('content-range', `bytes */${sizeBytes}`);
          throw new Problem('range_not_satisfiable');
        }
        const partial = range.kind === 'single' ? range.interval : undefined;
        const sent = partial ?? { from: 0, to: sizeBytes };
        const body =
          request.method === 'HEAD' || sizeBytes === 0 ? undefined : await store.get(upload.storageKey, partial);
        response.writeHead(partial ? 206 : 200, {
          ...headers,
          'content-length': String(sent.to - sent.from),
          ...(partial && { 'content-range': `bytes ${sent.from}-${sent.to - 1}/${sizeBytes}` }),
        });
        if (!body) return void response.end();
        await pipeline(body, response).catch(() => response.destroy());
      },
    },
  ];
}
