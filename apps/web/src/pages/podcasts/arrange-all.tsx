import { useQuery } from '@tanstack/react-query';
import { get, type Answer } from '../../api/queries.ts';
import { useSend } from '../../api/send.ts';
import { t } from '../../messages/messages.ts';
import { Button } from '../../parts/button.tsx';
import { ProblemBanner } from '../../parts/problem.tsx';
import { Way } from '../../parts/way.tsx';
import styles from './sound-card.module.css';

type Batch = Answer<'/batch_encodings'>;

/** How often a batch that is under way is read again. */
const againMs = 2000;

const isUnderway = ({ state }: Pick<Batch, 'state'>): boolean => state === 'pending' || state === 'running';

/** The latest batch of a podcast; one that is known not to be there is not asked for. */
function useLatestBatch(podcastId: string): Batch | undefined {
  const query = { podcast_id: podcastId };
  const known = useQuery(get('/batch_encodings/state', { query }));
  const latest = useQuery({
    ...get('/batch_encodings', { query }),
    enabled: known.data !== undefined && known.data.state !== 'none',
    refetchInterval: ({ state: { data } }) => (data && isUnderway(data.data) ? againMs : false),
  });
  return latest.data;
}

/** How far a batch is, or how it ended, in a sentence. */
function sentenceOf({ state, done, failed, total, reverts }: Batch): string {
  if (state === 'cancelled') return t('sound.cancelled', { done, total });
  if (state === 'failed') return t('sound.ended_early', { done, total });
  const back = reverts !== undefined;
  if (isUnderway({ state })) return t(back ? 'sound.reverting' : 'sound.running', { done, total });
  return failed > 0
    ? t('sound.done_but', { done, total, failed })
    : t(back ? 'sound.reverted' : 'sound.done', { done, total });
}

function Progress({ batch }: { readonly batch: Batch }) {
  const { id, done, failed, total, problem } = batch;
  const cancel = useSend('post', '/batch_encodings/{id}/cancel');
  const revert = useSend('post', '/batch_encodings/{id}/revert');
  const path = { id };
  const fault = cancel.error ?? revert.error;
  const goesOn = isUnderway(batch);
  return (
    <div className={styles.batch}>
      {goesOn && <progress value={done + failed} max={Math.max(1, total)} aria-label={t('sound.progress')} />}
      <div className={styles.end}>
        <p role="status">{sentenceOf(batch)}</p>
        {goesOn && (
          <Button size="small" busy={cancel.isPending} onClick={() => cancel.mutate({ path, body: {} })}>
            {t('sound.cancel')}
          </Button>
        )}
        {!goesOn && batch.reverts === undefined && done > 0 && (
          <Button size="small" busy={revert.isPending} onClick={() => revert.mutate({ path, body: {} })}>
            {t('sound.revert')}
          </Button>
        )}
      </div>
      {problem && <p lang="en">{problem.detail}</p>}
      {fault !== null && <ProblemBanner error={fault} />}
    </div>
  );
}

/** Gives the present intro and outro to every episode that is here, shows how far that is, and takes it back. */
export function ArrangeAll({ podcastId }: { readonly podcastId: string }) {
  const batch = useLatestBatch(podcastId);
  const start = useSend('post', '/batch_encodings');
  const body = { podcast_id: podcastId, initiator: 'intro_outro' } as const;
  const goesOn = batch !== undefined && isUnderway(batch);
  return (
    <>
      <Way help={t('sound.all_help')}>
        <Button busy={start.isPending || goesOn} onClick={() => start.mutate({ body })}>
          {t('sound.all')}
        </Button>
      </Way>
      {start.error !== null && <ProblemBanner error={start.error} />}
      {batch && <Progress batch={batch} />}
    </>
  );
}
