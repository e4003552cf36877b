import type { Pool, Transaction } from '@longwave/postgres';
import type { Columns } from '../generated/rows.ts';
import type { Artwork, ShownEpisode } from '../projection/projected.ts';

/** A file that a podcast or an episode shows, as its public address names it. */
export interface ShownFile {
  readonly kind: 'artwork' | 'chapters' | 'transcript';
  readonly digest: string;
  readonly name: string;
  readonly contentType: string;
  readonly sizeBytes: number;
  readonly storageKey?: string;
  readonly document?: Buffer;
}

type Rendition = Artwork['renditions'][number];

const extensions: Readonly<Record<Rendition['content_type'], string>> = {
  'image/jpeg': 'jpg',
  'image/png': 'png',
  'image/webp': 'webp',
};

/** "3000.jpg" */
const artworkName = ({ size, content_type }: Pick<Rendition, 'size' | 'content_type'>): string =>
  `${size}.${extensions[content_type]}`;

export const artworkPath = (rendition: Rendition): string =>
  `/delivery/v1/i/${rendition.sha256}/${artworkName(rendition)}`;

export const artworkFiles = (artwork: Artwork | undefined): ShownFile[] =>
  (artwork?.renditions ?? []).map((rendition) => ({
    kind: 'artwork',
    digest: rendition.sha256,
    name: artworkName(rendition),
    contentType: rendition.content_type,
    sizeBytes: rendition.size_bytes,
    storageKey: rendition.storage_key,
  }));

export const transcriptFiles = (transcripts: ShownEpisode['transcripts'] = []): ShownFile[] =>
  transcripts.map(({ sha256: digest, language: name, size_bytes: sizeBytes, storage_key: storageKey }) => ({
    ...{ kind: 'transcript', digest, name, contentType: 'application/json', sizeBytes, storageKey },
  }));

/** Makes these the files that the subject shows, and no others. */
export async function replaceShownFiles(
  tx: Transaction,
  subjectId: string,
  files: readonly ShownFile[],
): Promise<void> {
  await tx.query('delete from shown_file where subject_id = $1', [subjectId]);
  for (const { kind, digest, name, contentType, sizeBytes, storageKey, document } of files)
    await tx.query(
      `insert into shown_file (kind, digest, subject_id, name, content_type, size_bytes, storage_key, document)
       values ($1, $2, $3, $4, $5, $6, $7, $8) on conflict do nothing`,
      [kind, digest, subjectId, name, contentType, sizeBytes, storageKey, document],
    );
}

/** Artwork of a podcast that is not archived, also of a draft. */
export async function findArtwork(
  pool: Pool,
  digest: string,
  name: string,
): Promise<{ readonly contentType: string; readonly sizeBytes: number } | undefined> {
  const { rows } = await pool.query<Columns<'shown_file', 'content_type' | 'size_bytes'>>({
    name: 'artwork',
    text: `select f.content_type, f.size_bytes from shown_file f left join episode e on e.id = f.subject_id
             join podcast p on p.id = coalesce(e.podcast_id, f.subject_id)
           where f.kind = 'artwork' and f.digest = $1 and f.name = $2 and p.state <> 'archived'
             and e.state is distinct from 'archived' limit 1`,
    values: [digest, name],
  });
  return rows[0] && { contentType: rows[0].content_type, sizeBytes: rows[0].size_bytes };
}

const published = `join episode e on e.id = f.subject_id and e.state = 'published'
  join podcast p on p.id = e.podcast_id and p.state = 'published'`;

/** The chapters document of a published episode. */
export async function findChapters(pool: Pool, digest: string): Promise<Buffer | undefined> {
  const { rows } = await pool.query<Columns<'shown_file', 'document'>>({
    name: 'chapters',
    text: `select f.document from shown_file f ${published} where f.kind = 'chapters' and f.digest = $1 limit 1`,
    values: [digest],
  });
  return rows[0]?.document ?? undefined;
}

/** The storage key of a transcript of a published episode whose content begins at `shiftMs`. */
export async function findTranscript(pool: Pool, digest: string, shiftMs: number): Promise<string | undefined> {
  const { rows } = await pool.query<Columns<'shown_file', 'storage_key'>>({
    name: 'transcript',
    text: `select f.storage_key from shown_file f ${published} where f.kind = 'transcript' and f.digest = $1
             and coalesce((e.attributes->'intro'->>'duration_ms')::int, 0) = $2 limit 1`,
    values: [digest, shiftMs],
  });
  return rows[0]?.storage_key ?? undefined;
}
