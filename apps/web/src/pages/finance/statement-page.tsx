import { getRouteApi } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { choiceName, fieldName } from '../../commands/words.ts';
import { t } from '../../messages/messages.ts';
import { Card, Column, Pairs } from '../../parts/card.tsx';
import { CopyButton } from '../../parts/copy-button.tsx';
import { numberText } from '../../parts/format.ts';
import { moneyText } from '../../parts/money-text.ts';
import { periodText } from '../../parts/period-text.ts';
import { Time } from '../../parts/time.tsx';
import { usePlace } from '../../shell/place.ts';
import adLooks from '../ads/ads.module.css';
import { AttributeValue, ResourceName } from '../ads/attribute-value.tsx';
import { Figure, Figures } from '../ads/figure.tsx';
import { HistoryCard } from '../ads/history-card.tsx';
import { ResourceFrame } from '../ads/resource-frame.tsx';
import { Downloads, type Format } from './downloads.tsx';
import { FinanceResource, type PageOf } from './finance-resource.tsx';
import { LinesCard } from './statement-lines.tsx';
import { basesOf, linesByKind, type Statement } from './statement.ts';
import styles from './finance.module.css';

const route = getRouteApi('/w/$ws/$type/$id');

const formats: readonly Format[] = [
  { format: 'html', name: 'finance.document_html', isShown: true },
  { format: 'csv', name: 'finance.document_csv' },
  { format: 'json', name: 'finance.document_json', isShown: true },
];

/** The sum, the period, and by which numbers it is charged. */
function Totals({
  of: { total_micros: total, inputs, lines = [], kind, reversal },
  state,
}: {
  readonly of: Statement;
  readonly state: string;
}) {
  const place = usePlace();
  const { charged, currency, time_zone: zone, known_at: knownAt } = inputs;
  // Where nothing is charged, the prices still say by what it would be.
  const priced = lines.length > 0 ? lines : inputs.line_items.flatMap(({ rates }) => rates);
  const basis = basesOf(priced).map(choiceName).join(', ');
  const voided = t(reversal ? 'finance.voided_note' : 'finance.discarded_note');
  const note = { draft: t('finance.draft_note'), voided }[state];
  return (
    <Figures>
      <Figure
        name={choiceName(kind)}
        value={total === undefined ? '–' : moneyText(total, currency, place.language)}
        note={note ?? t('finance.no_taxes')}
      />
      <Figure
        name={t('finance.charged_period')}
        value={<div className={styles.words}>{periodText(charged.start, charged.end, { ...place, zone })}</div>}
        note={t('finance.charged_note')}
      />
      <Figure
        name={t('finance.basis')}
        value={<div className={styles.words}>{basis === '' ? '–' : basis}</div>}
        note={
          <>
            {t('finance.known')} <Time at={knownAt} form="moment" />
          </>
        }
      />
    </Figures>
  );
}

/** By which reconciliations it is charged, or why without one. */
function ReconciledBy({
  workspace,
  of: { inputs },
}: {
  readonly workspace: string;
  readonly of: Statement;
}): ReactNode {
  const { reconciliation_ids: ids, reconciliation_waiver: waiver } = inputs;
  if (waiver !== undefined) return t('finance.waived', { reason: waiver });
  return ids.length > 0 ? <AttributeValue workspace={workspace} value={ids} /> : undefined;
}

/** How anybody computes the statement again, and its files. */
function ProofCard({
  workspace,
  id,
  state,
  of,
}: {
  readonly workspace: string;
  readonly id: string;
  readonly state: string;
  readonly of: Statement;
}) {
  const { documents, number, evidence } = of;
  if (number === undefined)
    return state === 'draft' ? (
      <Card title={t('finance.proof')}>
        <p className={styles.help}>{t('finance.proof_later')}</p>
      </Card>
    ) : null;
  const command = `npx longwave billing verify ${id}`;
  return (
    <Card title={t('finance.proof')}>
      <div className={styles.stack}>
        <p className={styles.help}>{t('finance.proof_help')}</p>
        <div className={styles.command}>
          <code>{command}</code>
          <CopyButton name="finance.copy_command" text={command} size="small" />
        </div>
        {evidence && (
          <Pairs of={[[t('finance.digest'), <code className={styles.digest}>{evidence.inputs_digest}</code>]]} />
        )}
        {documents ? (
          <>
            <Downloads path={`/workspaces/${workspace}/billing-statements/${id}/document`} formats={formats} />
            <Pairs
              of={documents.map(({ format, sha256 }) => [
                t('finance.sha256', { format: format.toUpperCase() }),
                <code className={styles.digest}>{sha256}</code>,
              ])}
            />
          </>
        ) : (
          <p role="status">{t('finance.documents_later')}</p>
        )}
      </div>
    </Card>
  );
}

function FactsCard({ workspace, of }: { readonly workspace: string; readonly of: Statement }) {
  const { language } = usePlace();
  const { inputs, parties, evidence, reversal } = of;
  return (
    <Card title={t('ads.facts')}>
      <Pairs
        of={[
          [fieldName('campaign_id'), <ResourceName workspace={workspace} id={of.campaign_id} />],
          [t('finance.advertiser'), parties?.advertiser_name],
          [fieldName('io_number'), parties?.io_number],
          [t('finance.issued_at'), of.issued_at && <Time at={of.issued_at} form="moment" />],
          [fieldName('corrects'), of.corrects && <ResourceName workspace={workspace} id={of.corrects} />],
          [t('finance.reconciled'), <ReconciledBy workspace={workspace} of={of} />],
          [fieldName('adjustments'), evidence && numberText(evidence.adjustments.count, language)],
          [
            t('finance.earlier'),
            inputs.earlier_statement_ids.length > 0 && (
              <AttributeValue workspace={workspace} value={inputs.earlier_statement_ids} />
            ),
          ],
          [t('finance.method'), evidence?.methodology_version],
          [fieldName('tax_note'), of.tax_note],
          [fieldName('payment_ref'), of.payment_ref],
          [t('finance.reversed'), reversal && moneyText(reversal.total_micros, inputs.currency, language)],
        ].map(([name, value]) => [name, value === false ? undefined : value] as [string, ReactNode])}
      />
    </Card>
  );
}

function StatementOf({ page }: { readonly page: PageOf<Statement> }) {
  const { workspace, forms, resource } = page;
  const { attributes, lifecycle_state: state, id } = resource;
  const { lines, problem, inputs } = attributes;
  const { charges, corrections } = linesByKind(lines ?? []);
  const common = { currency: inputs.currency, workspace: workspace.id };
  const basisOf = (some: typeof charges) => basesOf(some).map(choiceName).join(', ');
  return (
    <ResourceFrame {...{ workspace, forms, resource }}>
      {problem && (
        <Card title={t('field.problem')}>
          <p lang="en">{problem.detail}</p>
        </Card>
      )}
      {!lines && !problem && state === 'draft' && <p role="status">{t('finance.computing')}</p>}
      {state === 'draft' && lines && <p className={styles.settled}>{t('finance.issue_help')}</p>}
      <Totals of={attributes} state={state} />
      {charges.length > 0 && (
        <LinesCard {...common} title={t('finance.charges')} basis={basisOf(charges)} lines={charges} />
      )}
      {corrections.length > 0 && (
        <LinesCard
          {...common}
          title={t('finance.corrections')}
          basis={t('finance.corrections_basis')}
          lines={corrections}
        />
      )}
      {lines?.length === 0 && <p>{t('finance.no_lines')}</p>}
      <div className={adLooks.columns}>
        <Column>
          <ProofCard workspace={workspace.id} id={id} state={state} of={attributes} />
          <HistoryCard workspace={workspace.id} type="billing_statements" id={id} />
        </Column>
        <FactsCard workspace={workspace.id} of={attributes} />
      </div>
    </ResourceFrame>
  );
}

/** One statement: what is charged, by which numbers, and how anybody computes it again. */
export function StatementPage() {
  const { ws, id } = route.useParams();
  return (
    <FinanceResource<Statement> key={id} ws={ws} type="billing_statements" id={id}>
      {(page) => <StatementOf page={page} />}
    </FinanceResource>
  );
}
