import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import type { Workspace } from '../../../api/me.ts';
import { resourcesQuery } from '../../../api/management.ts';
import { nameOf } from '../../../commands/name-of.ts';
import { verdictName } from '../../../commands/words.ts';
import { t } from '../../../messages/messages.ts';
import { Card } from '../../../parts/card.tsx';
import { Field } from '../../../parts/field.tsx';
import { breakName } from './break-name.ts';
import type { Trace } from './decision-queries.ts';
import { fatesOf, type Fate } from './why-not.ts';
import styles from './decisions.module.css';

const route = getRouteApi('/w/$ws/decisions/$id');

/** What became of the line item in one break, in words; then everything else that speaks against it. */
function FateText({ fate }: { readonly fate: Fate }) {
  if (fate.kind === 'not_in_plan') return <>{t('decisions.not_in_plan')}</>;
  if (fate.kind === 'not_listed') return <>{t('decisions.not_listed', { listed: fate.listed, all: fate.all })}</>;
  const { verdict, codes } = fate.candidate;
  return (
    <>
      <b>{verdictName(verdict)}</b>
      <small className={styles.code}>{verdict}</small>
      {codes.length > 1 && (
        <span className={styles.also}>
          {t('decisions.also', { reasons: codes.slice(1).map(verdictName).join('; ') })}
        </span>
      )}
    </>
  );
}

/** "Why not mine?": one line item of the workspace, and what became of it in each break. */
export function WhyNotCard({ workspace, trace }: { readonly workspace: Workspace; readonly trace: Trace }) {
  const navigate = route.useNavigate();
  const { line = '' } = route.useSearch();
  const rows = useQuery(resourcesQuery(workspace.id, 'line_items')).data ?? [];
  const isKnown = line === '' || rows.some(({ id }) => id === line);
  return (
    <Card title={t('decisions.why_not')}>
      <div className={styles.why}>
        <Field label={t('decisions.line_item')}>
          {(control) => (
            <select
              {...control}
              value={line}
              onChange={({ target }) =>
                void navigate({
                  search: ({ purpose }) => ({
                    ...(purpose && { purpose }),
                    ...(target.value && { line: target.value }),
                  }),
                  replace: true,
                  resetScroll: false,
                })
              }
            >
              <option value="">{t('decisions.choose_line')}</option>
              {!isKnown && <option value={line}>{`…${line.slice(-6)}`}</option>}
              {rows.map((row) => (
                <option key={row.id} value={row.id}>
                  {nameOf(row)}
                </option>
              ))}
            </select>
          )}
        </Field>
        {line !== '' && (
          <dl className={styles.fates} aria-live="polite">
            {fatesOf(trace, line).map((fate) => (
              <div key={fate.breakKey}>
                <dt>{breakName(trace, fate.breakKey)}</dt>
                <dd>
                  <FateText fate={fate} />
                </dd>
              </div>
            ))}
          </dl>
        )}
      </div>
    </Card>
  );
}
