import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { FileChartColumn, ReceiptText, Scale, type LucideIcon } from 'lucide-react';
import type { ReactNode } from 'react';
import { useWorkspace, type Workspace } from '../../api/me.ts';
import { resourcesQuery, type Attributes, type Resource } from '../../api/management.ts';
import { nameOf } from '../../commands/name-of.ts';
import { typeName } from '../../commands/words.ts';
import { t, type MessageKey } from '../../messages/messages.ts';
import { Card } from '../../parts/card.tsx';
import { Empty } from '../../parts/empty.tsx';
import { numberText } from '../../parts/format.ts';
import { Loaded } from '../../parts/loaded.tsx';
import { moneyText } from '../../parts/money-text.ts';
import { Page } from '../../parts/page.tsx';
import { Tabs } from '../../parts/tabs.tsx';
import { adPlaceTypes, financeReaders } from '../../shell/ad-place-types.ts';
import { NotFoundPage } from '../../shell/not-found-page.tsx';
import { usePlace } from '../../shell/place.ts';
import adLooks from '../ads/ads.module.css';
import { NameOf } from '../ads/attribute-value.tsx';
import { LifecycleBadge } from '../ads/lifecycle-badge.tsx';
import { NewLink } from '../ads/list-page.tsx';
import { Reconciled } from '../ads/reconciled.tsx';
import { useForms, type FormType } from '../ads/type-forms.ts';
import type { Reconciliation } from './reconciliation-cards.tsx';
import type { Statement } from './statement.ts';
import styles from './finance.module.css';

const route = getRouteApi('/w/$ws/finance');
const shownMax = 6;

/** The newest of a type: those that are under way before the others. */
function LatestCard<A extends Attributes>({
  workspace,
  type,
  icon,
  about,
}: {
  readonly workspace: Workspace;
  readonly type: FormType;
  readonly icon: LucideIcon;
  readonly about: (resource: Resource<A>) => ReactNode;
}) {
  const forms = useForms(type);
  const query = useQuery(resourcesQuery<A>(workspace.id, type));
  const making = <NewLink workspace={workspace} forms={forms} />;
  const isOver = ({ lifecycle_state: state }: Resource<A>) => forms.terminalStates.includes(state);
  return (
    <Card title={typeName(type)} end={query.data && query.data.length > 0 ? making : undefined}>
      <Loaded query={query} lines={3}>
        {(rows) =>
          rows.length === 0 ? (
            <Empty icon={icon} title="ads.none" why={`ads.none_why_${type}` as MessageKey} next={making} />
          ) : (
            <ul className={styles.latest}>
              {[...rows.filter((row) => !isOver(row)), ...rows.filter(isOver)].slice(0, shownMax).map((row) => (
                <li key={row.id}>
                  <Link to="/w/$ws/$type/$id" params={{ ws: workspace.id, type, id: row.id }}>
                    {nameOf(row)}
                  </Link>
                  <span>{about(row)}</span>
                  <LifecycleBadge type={type} state={row.lifecycle_state} />
                </li>
              ))}
            </ul>
          )
        }
      </Loaded>
    </Card>
  );
}

/** What waits in finance: reconciliations with open differences, statements to issue and to be paid, runs of reports. */
export function FinancePage() {
  const { ws } = route.useParams();
  const { language } = usePlace();
  const workspace = useWorkspace(ws);
  if (!workspace) return <NotFoundPage />;
  const tabs = adPlaceTypes.reconciliations.map((each): ReactNode => (
    <Link key={each} to="/w/$ws/$type" params={{ ws, type: each }}>
      {typeName(each)}
    </Link>
  ));
  const mayRead = financeReaders.some((role) => workspace.roles.includes(role));
  return (
    <Page title={t('nav.finance')}>
      <Tabs name={t('nav.finance')} links={tabs} />
      {mayRead && (
        <>
          <LatestCard<Reconciliation>
            {...{ workspace, type: 'reconciliations', icon: Scale }}
            about={({ attributes }) => (
              <>
                <Reconciled workspace={ws} of={attributes} />
                {attributes.totals && attributes.totals.undecided > 0 && (
                  <span>
                    {t('finance.open_count', {
                      ...{
                        open: attributes.totals.undecided,
                        shown: numberText(attributes.totals.undecided, language),
                      },
                    })}
                  </span>
                )}
              </>
            )}
          />
          <LatestCard<Statement>
            {...{ workspace, type: 'billing_statements', icon: ReceiptText }}
            about={({ attributes: { campaign_id: campaign, total_micros: total, inputs } }) => (
              <>
                <NameOf workspace={ws} id={campaign} />
                {total !== undefined && <b className="number">{moneyText(total, inputs.currency, language)}</b>}
              </>
            )}
          />
        </>
      )}
      <LatestCard<Attributes & { readonly definition_id: string }>
        {...{ workspace, type: 'report_runs', icon: FileChartColumn }}
        about={({ attributes: { definition_id: report } }) => <NameOf workspace={ws} id={report} />}
      />
      <p className={adLooks.none}>{t('finance.basis_note')}</p>
    </Page>
  );
}
