import { getRouteApi } from '@tanstack/react-router';
import type { Attributes } from '../../api/management.ts';
import { choiceName, fieldName } from '../../commands/words.ts';
import { t } from '../../messages/messages.ts';
import { Card, Column, Pairs } from '../../parts/card.tsx';
import { numberText, sizeText, zoneName } from '../../parts/format.ts';
import { Time } from '../../parts/time.tsx';
import { usePlace } from '../../shell/place.ts';
import adLooks from '../ads/ads.module.css';
import { AttributeValue, ResourceName } from '../ads/attribute-value.tsx';
import { HistoryCard } from '../ads/history-card.tsx';
import { ResourceFrame } from '../ads/resource-frame.tsx';
import { Downloads, type Format } from './downloads.tsx';
import { FinanceResource, type PageOf } from './finance-resource.tsx';
import styles from './finance.module.css';

const route = getRouteApi('/w/$ws/$type/$id');

/** What the page reads of a run. */
interface Run extends Attributes {
  readonly definition_id: string;
  readonly definition_version: number;
  readonly window: { readonly start: string; readonly end: string };
  readonly dimensions: readonly string[];
  readonly metrics: readonly string[];
  readonly counting_basis: string;
  readonly time_zone: string;
  readonly row_count?: number;
  readonly files?: readonly { readonly format: string; readonly size_bytes: number; readonly sha256: string }[];
  readonly data_watermark?: string;
  readonly provisional_from?: string;
  readonly incomplete_from?: string;
  readonly restated?: readonly unknown[];
  readonly history_window?: { readonly from: string; readonly days: number };
  readonly expires_at?: string;
  readonly methodology_version?: string;
  readonly problem?: { readonly detail: string };
}

const formats: readonly Format[] = [
  { format: 'csv', name: 'finance.result_csv' },
  { format: 'jsonl', name: 'finance.result_jsonl' },
];

/** How far the run is, and its files once it is ready. */
function ResultCard({
  workspace,
  run: { id, lifecycle_state: state, attributes },
}: {
  readonly workspace: string;
  readonly run: PageOf<Run>['resource'];
}) {
  const { language } = usePlace();
  const { row_count: rows, files = [], problem, expires_at: expires } = attributes;
  const isUnderWay = state === 'queued' || state === 'running';
  return (
    <Card title={t('finance.result')}>
      {isUnderWay && (
        <div role="status" className={styles.progress}>
          <progress aria-label={t('finance.result')} />
          <p>{t(state === 'queued' ? 'finance.run_queued' : 'finance.run_running')}</p>
        </div>
      )}
      {problem && <p lang="en">{problem.detail}</p>}
      {state === 'expired' && <p>{t('finance.run_expired')}</p>}
      {state === 'ready' && (
        <>
          <Pairs
            of={[
              [t('field.row_count'), rows === undefined ? undefined : numberText(rows, language)],
              ...files.map(
                ({ format, size_bytes: size }) =>
                  [t('finance.size', { format: format.toUpperCase() }), sizeText(size, language)] as const,
              ),
              [t('finance.kept_until'), expires === undefined ? undefined : <Time at={expires} form="moment" />],
            ]}
          />
          <Downloads path={`/workspaces/${workspace}/report-runs/${id}/result`} formats={formats} />
        </>
      )}
    </Card>
  );
}

/** By which rules it was counted, and up to where. */
function CountedCard({ workspace, of }: { readonly workspace: string; readonly of: Run }) {
  const moment = (at: string | undefined) => (at === undefined ? undefined : <Time at={at} form="moment" />);
  return (
    <Card title={t('finance.counted')}>
      <Pairs
        of={[
          [fieldName('definition_id'), <ResourceName workspace={workspace} id={of.definition_id} />],
          [fieldName('definition_version'), of.definition_version],
          [t('finance.window'), <AttributeValue workspace={workspace} value={of.window} />],
          [fieldName('dimensions'), of.dimensions.map(choiceName).join(', ')],
          [fieldName('metrics'), of.metrics.map(choiceName).join(', ')],
          [fieldName('counting_basis'), choiceName(of.counting_basis)],
          [fieldName('time_zone'), zoneName(of.time_zone)],
          [t('finance.known'), moment(of.data_watermark)],
          [t('finance.provisional_from'), moment(of.provisional_from)],
          [t('finance.incomplete_from'), moment(of.incomplete_from)],
          [t('finance.history_from'), moment(of.history_window?.from)],
          [t('finance.method'), of.methodology_version],
        ]}
      />
    </Card>
  );
}

function RunOf({ page: { workspace, forms, resource } }: { readonly page: PageOf<Run> }) {
  return (
    <ResourceFrame {...{ workspace, forms, resource }}>
      <div className={adLooks.columns}>
        <Column>
          <ResultCard workspace={workspace.id} run={resource} />
          <HistoryCard workspace={workspace.id} type="report_runs" id={resource.id} />
        </Column>
        <CountedCard workspace={workspace.id} of={resource.attributes} />
      </div>
    </ResourceFrame>
  );
}

/** One run of a report: how far it is, its files, and how it was counted. */
export function ReportRunPage() {
  const { ws, id } = route.useParams();
  return (
    <FinanceResource<Run> key={id} ws={ws} type="report_runs" id={id}>
      {(page) => <RunOf page={page} />}
    </FinanceResource>
  );
}
