import { isId } from '@longwave/ids';
import type { ObjectStore } from '@longwave/object-store';
import { Problem } from '@longwave/problems';
import type { Pool } from '@longwave/postgres';
import { findPublicUpload } from '../projection/content-table.ts';
import { fromStore } from '../http/from-store.ts';
import type { Route } from '../http/route.ts';
import { sendFile } from '../http/send-file.ts';

/** Types a browser may show; anything else is only ever saved, never run in this origin. */
const shown = /^(image\/(jpeg|png|webp|gif)|audio\/[\w.+-]+|video\/[\w.+-]+)$/;

/** Public uploads (artwork, sources) straight from the object store. */
export function uploadRoutes(pool: Pool, store: ObjectStore): readonly Route[] {
  return [
    {
      name: 'file.read',
      path: '/delivery/v1/f/:upload/:filename',
      get: async (exchange) => {
        const { params } = exchange;
        const id = String(params['upload']);
        const upload = isId(id, 'upl') ? await findPublicUpload(pool, id) : undefined;
        if (!upload || upload.filename !== params['filename']) throw new Problem('not_found');
        if (upload.expired) throw new Problem('resource_gone');
        const object = await fromStore(store.find(upload.storageKey));
        if (!object) throw new Problem('not_found');
        await sendFile(exchange, {
          etag: `"${object.etag}"`,
          modifiedAt: object.modifiedAt,
          sizeBytes: object.sizeBytes,
          headers: {
            'cache-control': 'public, max-age=3600',
            'content-type': upload.contentType,
            'content-security-policy': "default-src 'none'; sandbox",
            'content-disposition': shown.test(upload.contentType) ? 'inline' : 'attachment',
          },
          open: (interval) => store.get(upload.storageKey, interval),
        });
      },
    },
  ];
}
