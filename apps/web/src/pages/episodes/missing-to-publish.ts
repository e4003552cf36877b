import type { Answer, Item } from '../../api/queries.ts';
import type { Upload } from '../../api/upload/queue.ts';

type Episode = Pick<Answer<'/episodes/{id}'>, 'title' | 'description'>;
type Production = Pick<Item<'/productions'>, 'state'>;

/** What an episode needs before listeners can have it; `notes` is good manners, not needed. */
export interface Point {
  readonly point: 'title' | 'notes' | 'file' | 'encoded';
  readonly isDone: boolean;
}

/** The list of what an episode needs, each with whether it is there. */
export const missingToPublish = (
  { title, description = '' }: Episode,
  production: Production | undefined,
  upload: Pick<Upload, 'phase'> | undefined,
): readonly Point[] => [
  { point: 'title', isDone: title.trim() !== '' },
  { point: 'notes', isDone: description.trim() !== '' },
  { point: 'file', isDone: upload ? upload.phase === 'sent' : production !== undefined },
  { point: 'encoded', isDone: upload === undefined && production?.state === 'encoded' },
];
