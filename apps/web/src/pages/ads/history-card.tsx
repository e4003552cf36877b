import { useQuery } from '@tanstack/react-query';
import { operationQuery, versionsQuery, type Version } from '../../api/management.ts';
import { commandName, stateName } from '../../commands/words.ts';
import { t } from '../../messages/messages.ts';
import { Card } from '../../parts/card.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { Time } from '../../parts/time.tsx';
import { Difference } from './difference.tsx';
import styles from './ads.module.css';

function Entry({
  workspace,
  version,
  before,
}: {
  readonly workspace: string;
  readonly version: Version;
  readonly before: Version | undefined;
}) {
  const { operation_id: id, service, process } = version.updated_by;
  const { data } = useQuery(operationQuery(workspace, id));
  const who = process === undefined ? (service ?? t('ads.by_person')) : t('ads.by_clock');
  return (
    <li>
      <div className={styles.entry}>
        <b>{data ? commandName(data.command_type) : stateName(version.lifecycle_state)}</b>
        <span>{t('ads.version', { version: version.version })}</span>
        <span>{who}</span>
        <Time at={version.created_at} form="moment" />
      </div>
      {version.difference && before && <Difference workspace={workspace} steps={version.difference} before={before} />}
      {data && (
        <small className={styles.receipt}>
          {t('ads.receipt')} <code>{data.receipt_id}</code>
        </small>
      )}
    </li>
  );
}

/** Every version of a resource, newest first: which command made it, what it changed, and its receipt. */
export function HistoryCard({
  workspace,
  type,
  id,
}: {
  readonly workspace: string;
  readonly type: string;
  readonly id: string;
}) {
  const query = useQuery(versionsQuery(workspace, type, id));
  return (
    <Card title={t('ads.history')}>
      <Loaded query={query} lines={3}>
        {({ rows }) => (
          <ol className={styles.history}>
            {rows.map((version, at) => (
              <Entry key={version.version} workspace={workspace} version={version} before={rows[at + 1]} />
            ))}
          </ol>
        )}
      </Loaded>
    </Card>
  );
}
