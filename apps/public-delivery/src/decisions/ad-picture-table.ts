import { adPicturesSchema, type AdPictures } from './ad-pictures.ts';
import type { Pool } from '@longwave/postgres';
import type { Columns } from '../generated/rows.ts';
import type { PlayAds } from './play-ads.ts';

/** The pictures of creatives for HLS. Sound is never inside, so all loudnesses have the same. */
export type PicturesByCreative = ReadonlyMap<string, AdPictures>;

/**
 * Part of one statement: inserts the pictures of its parameter $5, `adPicturesValue`. The first ones of a creative stay. The rows are sorted,
 * so that two processes that store the same ones wait for each other and never deadlock.
 */
export const insertAdPictures = `
  pictured as (insert into ad_picture (creative_id, pictures)
    select creative_id, pictures from json_to_recordset($5) as given (creative_id text, pictures jsonb)
    order by creative_id on conflict do nothing)`;

/** The pictures that a decision answered. */
export const adPicturesOf = ({ breaks, counted }: PlayAds): PicturesByCreative =>
  new Map(
    breaks.flatMap(({ ads }) =>
      ads.flatMap(({ slot, pictures }) => {
        const creative = counted[slot]?.creative_id;
        return pictures && creative !== undefined ? [[creative, pictures] as const] : [];
      }),
    ),
  );

export const adPicturesValue = (pictures: PicturesByCreative): string =>
  JSON.stringify([...pictures].map(([creative_id, each]) => ({ creative_id, pictures: each })));

/** The pictures of the creatives that have some. */
export async function findAdPictures(
  pool: Pick<Pool, 'query'>,
  creativeIds: readonly string[],
): Promise<PicturesByCreative> {
  const { rows } = await pool.query<Columns<'ad_picture', 'creative_id' | 'pictures'>>({
    name: 'ad_pictures',
    text: 'select creative_id, pictures from ad_picture where creative_id = any($1)',
    values: [creativeIds],
  });
  return new Map(rows.map(({ creative_id, pictures }) => [creative_id, adPicturesSchema.parse(pictures)]));
}
