import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { RotateCw } from 'lucide-react';
import { get, type Answer } from '../../api/queries.ts';
import { t } from '../../messages/messages.ts';
import { Badge } from '../../parts/badge.tsx';
import { Button, buttonClass } from '../../parts/button.tsx';
import { Card } from '../../parts/card.tsx';
import { ProblemBanner } from '../../parts/problem.tsx';
import { Skeleton } from '../../parts/skeleton.tsx';
import { Time } from '../../parts/time.tsx';
import styles from './feed-page.module.css';
import { remedyOf, type Finding } from './feed-remedy.ts';

function FoundOne({ finding, podcastId }: { readonly finding: Finding; readonly podcastId: string }) {
  const place = remedyOf(finding);
  const params = { podcastId };
  return (
    <li className={styles.finding}>
      {finding.severity === 'error' ? <Badge tone="bad" name="feed.must" /> : <Badge tone="warn" name="feed.should" />}
      <p lang="en">{finding.text}</p>
      {place === 'settings' && (
        <Link className={buttonClass({ size: 'small' })} to="/podcasts/$podcastId/settings" params={params}>
          {t('feed.to_settings')}
        </Link>
      )}
      {place === 'episodes' && (
        <Link className={buttonClass({ size: 'small' })} to="/podcasts/$podcastId" params={params}>
          {t('feed.to_episodes')}
        </Link>
      )}
      {place === 'host' && <span className={styles.host}>{t('feed.to_host')}</span>}
    </li>
  );
}

function Found({
  check: { findings, acceptable, checked_at: checkedAt },
  podcastId,
}: {
  readonly check: Answer<'/podcasts/{id}/feed_check'>;
  readonly podcastId: string;
}) {
  const [errors, warnings] = [findings.filter(({ severity }) => severity === 'error').length, findings.length];
  return (
    <div className={styles.stack}>
      <p role="status">
        <b>{acceptable ? t('feed.acceptable') : t('feed.not_acceptable', { errors })}</b>{' '}
        {warnings > errors && t('feed.warnings', { warnings: warnings - errors })}{' '}
        <small>
          <Time at={checkedAt} form="moment" />
        </small>
      </p>
      {findings.length > 0 && (
        <ul className={styles.findings}>
          {findings.map((finding) => (
            <FoundOne key={`${finding.code} ${finding.text}`} finding={finding} podcastId={podcastId} />
          ))}
        </ul>
      )}
    </div>
  );
}

/** Fetches the public feed as directories do when one asks for it, and says where each finding is mended. */
export function FeedCheckCard({ podcastId }: { readonly podcastId: string }) {
  const path = { id: podcastId };
  const { data, error, isFetching, refetch } = useQuery({
    ...get('/podcasts/{id}/feed_check', { path }),
    enabled: false,
    retry: false,
  });
  return (
    <Card
      title={t('feed.check')}
      basis={t('feed.check_basis')}
      end={
        <Button icon={RotateCw} busy={isFetching} onClick={() => void refetch()}>
          {t(data ? 'feed.check_again' : 'feed.check_now')}
        </Button>
      }
    >
      {isFetching ? (
        <>
          <p role="status">{t('feed.checking')}</p>
          <Skeleton lines={3} />
        </>
      ) : error ? (
        <ProblemBanner error={error} onRetry={() => void refetch()} />
      ) : data ? (
        <Found check={data} podcastId={podcastId} />
      ) : (
        <p>{t('feed.check_help')}</p>
      )}
    </Card>
  );
}
