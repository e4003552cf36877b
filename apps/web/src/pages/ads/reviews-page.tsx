import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { CheckCheck } from 'lucide-react';
import { useMe, useWorkspace, type Workspace } from '../../api/me.ts';
import { resourcesQuery, type Resource } from '../../api/management.ts';
import { t } from '../../messages/messages.ts';
import { Card } from '../../parts/card.tsx';
import { Empty } from '../../parts/empty.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { Page } from '../../parts/page.tsx';
import { Time } from '../../parts/time.tsx';
import { NotFoundPage } from '../../shell/not-found-page.tsx';
import { ResourceName } from './attribute-value.tsx';
import { LifecycleBadge } from './lifecycle-badge.tsx';
import { mayDecide, reviewTitle, type Review } from './review.ts';
import styles from './ads.module.css';

const route = getRouteApi('/w/$ws/review_tasks');

function Rows({
  workspace,
  rows,
  none,
}: {
  readonly workspace: Workspace;
  readonly rows: readonly Resource<Review>[];
  readonly none: string;
}) {
  if (rows.length === 0) return <p className={styles.none}>{none}</p>;
  return (
    <ul className={styles.below}>
      {rows.map(({ id, attributes, lifecycle_state: state }) => (
        <li key={id}>
          <Link to="/w/$ws/review_tasks/$id" params={{ ws: workspace.id, id }}>
            {reviewTitle(attributes)}
          </Link>
          {attributes.subject.version > 0 && <ResourceName workspace={workspace.id} id={attributes.subject.id} />}
          <span className={styles.none}>
            {t('field.due_at')} <Time at={attributes.due_at} form="moment" />
          </span>
          <LifecycleBadge type="review_tasks" state={state} />
        </li>
      ))}
    </ul>
  );
}

/** Commands that wait for a second person: those that I may decide, and those that I asked for. */
export function ReviewsPage() {
  const { ws } = route.useParams();
  const workspace = useWorkspace(ws);
  const person = useMe()?.personId;
  const query = useQuery(resourcesQuery<Review>(ws, 'review_tasks', { state: 'open,changes_requested' }));
  if (!workspace) return <NotFoundPage />;
  const isMine = ({ attributes }: Resource<Review>) => attributes.requested_by === person;
  const isForMe = ({ attributes }: Resource<Review>) => mayDecide(attributes, person, workspace.roles);
  return (
    <Page title={t('types.review_tasks')}>
      <Loaded query={query} lines={4}>
        {(rows) =>
          rows.length === 0 ? (
            <Empty icon={CheckCheck} title="ads.no_reviews" why="ads.no_reviews_why" />
          ) : (
            <>
              <Card title={t('ads.reviews_for_me')}>
                <Rows workspace={workspace} rows={rows.filter(isForMe)} none={t('ads.no_reviews')} />
              </Card>
              <Card title={t('ads.asked_by_me')}>
                <Rows workspace={workspace} rows={rows.filter(isMine)} none={t('ads.none_asked')} />
              </Card>
            </>
          )
        }
      </Loaded>
    </Page>
  );
}
