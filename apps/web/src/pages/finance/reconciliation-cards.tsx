import type { Attributes } from '../../api/management.ts';
import { choiceName, fieldName } from '../../commands/words.ts';
import { t } from '../../messages/messages.ts';
import { Card, Pairs } from '../../parts/card.tsx';
import { numberText, zoneName } from '../../parts/format.ts';
import { Time } from '../../parts/time.tsx';
import { usePlace } from '../../shell/place.ts';
import { AttributeValue } from '../ads/attribute-value.tsx';
import styles from './finance.module.css';

/** What the pages read of a reconciliation. */
export interface Reconciliation extends Attributes {
  readonly scope: { readonly campaign_ids?: readonly string[]; readonly line_item_ids?: readonly string[] };
  readonly time_zone: string;
  readonly tolerance_pct?: number;
  readonly smallest_difference: number;
  readonly provisional: boolean;
  readonly known_at?: string;
  readonly sources: readonly {
    readonly name: string;
    readonly kind: string;
    readonly counting_basis: string;
    readonly time_zone?: string;
  }[];
  readonly totals?: {
    readonly items: number;
    readonly ours: number;
    readonly theirs: number;
    readonly for_people: number;
    readonly undecided: number;
  };
  readonly found?: readonly {
    readonly name: string;
    readonly rows: number;
    readonly outside_period: number;
    readonly outside_scope: number;
    readonly unknown_rows: number;
    readonly unknown_ids: readonly { readonly id: string; readonly line: number; readonly units: number }[];
  }[];
  readonly problem?: { readonly code: string; readonly detail: string };
  readonly findings?: readonly { readonly source: string; readonly line?: number; readonly detail: string }[];
  readonly closed?: { readonly known_at: string; readonly adjustments: number; readonly units: number };
}

/** What of a file could not be read, line by line, or why closing did not go through. */
export function FindingsCard({ of: { problem, findings = [] } }: { readonly of: Reconciliation }) {
  if (!problem) return null;
  return (
    <Card title={t(findings.length > 0 ? 'finance.unreadable' : 'field.problem')}>
      <p lang="en">{problem.detail}</p>
      {findings.length > 0 && (
        <>
          <ul className={styles.findings}>
            {findings.map(({ source, line, detail }, at) => (
              <li key={at}>
                <b>{line === undefined ? source : t('finance.line_of', { line, source })}</b>{' '}
                <span lang="en">{detail}</span>
              </li>
            ))}
          </ul>
          <p>{t('finance.unreadable_help')}</p>
        </>
      )}
    </Card>
  );
}

/** What each source had, and what of it led to nothing. */
export function FoundCard({ of: { sources, found = [] } }: { readonly of: Reconciliation }) {
  const { language } = usePlace();
  const count = (value: number) => numberText(value, language);
  return sources.map(({ name, kind, counting_basis: basis, time_zone: zone }) => {
    const had = found.find((each) => each.name === name);
    return (
      <Card key={name} title={t('finance.source_named', { name })} basis={choiceName(kind)}>
        <Pairs
          of={[
            [fieldName('counting_basis'), choiceName(basis)],
            [fieldName('time_zone'), zone === undefined ? t('finance.zone_unknown') : zoneName(zone)],
            [t('field.row_count'), had && count(had.rows)],
            [t('finance.outside_period'), had && had.outside_period > 0 && count(had.outside_period)],
            [t('finance.outside_scope'), had && had.outside_scope > 0 && count(had.outside_scope)],
            [t('finance.unknown_rows'), had && had.unknown_rows > 0 && count(had.unknown_rows)],
          ].map(([label, value]) => [label, value === false ? undefined : value] as [string, string | undefined])}
        />
        {had && had.unknown_ids.length > 0 && (
          <div className={styles.after}>
            <p className={styles.help}>{t('finance.unknown_help')}</p>
            <ul className={styles.findings}>
              {had.unknown_ids.map(({ id, line, units }) => (
                <li key={id}>
                  <code>{id}</code> {t('finance.unknown_of', { line, units: count(units) })}
                </li>
              ))}
            </ul>
          </div>
        )}
      </Card>
    );
  });
}

/** What is compared, and by which rules. */
export function FactsCard({
  workspace,
  of,
  name,
}: {
  readonly workspace: string;
  readonly of: Reconciliation;
  readonly name: string;
}) {
  const { language } = usePlace();
  const { scope, closed, known_at: knownAt, tolerance_pct: tolerance, smallest_difference: least } = of;
  const about = [...(scope.campaign_ids ?? []), ...(scope.line_item_ids ?? [])];
  return (
    <Card title={t('ads.facts')}>
      <Pairs
        of={[
          [fieldName('period'), name],
          [fieldName('time_zone'), zoneName(of.time_zone)],
          [t('finance.scope'), <AttributeValue workspace={workspace} value={about} />],
          [
            t('finance.tolerance'),
            tolerance === undefined ? t('finance.tolerance_by_kind') : t('finance.percent', { value: tolerance }),
          ],
          [t('finance.least'), t('finance.least_units', { units: numberText(least, language) })],
          [fieldName('provisional'), of.provisional ? t('ads.yes') : undefined],
          [fieldName('known_at'), knownAt === undefined ? undefined : <Time at={knownAt} form="moment" />],
          [
            t('finance.posted'),
            closed &&
              t('finance.posted_units', {
                adjustments: numberText(closed.adjustments, language),
                units: numberText(closed.units, language),
              }),
          ],
        ]}
      />
    </Card>
  );
}
