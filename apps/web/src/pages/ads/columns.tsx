import { Link } from '@tanstack/react-router';
import type { Attributes, Resource } from '../../api/management.ts';
import { nameOf } from '../../commands/name-of.ts';
import type { Column } from '../../parts/table.tsx';
import type { MessageKey } from '../../messages/messages.ts';
import { Time } from '../../parts/time.tsx';
import { AttributeValue } from './attribute-value.tsx';
import { LifecycleBadge } from './lifecycle-badge.tsx';
import { Reconciled } from './reconciled.tsx';

/** What a list shows of a type, beside name, state and last change. */
const shownOf: Readonly<Record<string, readonly string[]>> = {
  campaigns: ['advertiser_id', 'window'],
  line_items: ['campaign_id', 'type', 'window'],
  creatives: ['advertiser_id', 'production'],
  creative_assignments: ['line_item_id', 'creative_id'],
  inventory_units: ['kind', 'parent_id'],
  serving_plans: ['effective_from'],
  serving_halts: ['cause'],
  tracking_endpoints: ['events'],
  makegoods: ['for_line_item'],
  forecasts: ['window'],
  policies: ['kind', 'scope'],
  authority_grants: ['expires_at'],
  machine_keys: ['authority_id', 'not_after'],
  reconciliations: ['scope', 'items', 'undecided'],
  billing_statements: ['campaign_id', 'total'],
  report_definitions: ['metrics', 'schedule'],
  report_runs: ['definition_id', 'row_count'],
};

/** What stands deeper inside a resource. */
const inside: Readonly<Record<string, (attributes: Attributes) => unknown>> = {
  items: ({ totals }) => (totals as Attributes | undefined)?.['items'],
  undecided: ({ totals }) => (totals as Attributes | undefined)?.['undecided'],
  total: ({ total_micros: micros, inputs }) =>
    micros === undefined ? undefined : { amount_micros: micros, currency: (inputs as Attributes)['currency'] },
};

/** The columns of a list of a type; the first is the link to the page. */
export function columnsOf(workspace: string, type: string): readonly Column<Resource>[] {
  return [
    {
      key: 'name',
      name: 'field.name',
      sortBy: nameOf,
      cell: (row) => (
        <Link to="/w/$ws/$type/$id" params={{ ws: workspace, type, id: row.id }}>
          {nameOf(row)}
        </Link>
      ),
    },
    {
      key: 'state',
      name: 'ads.states',
      sortBy: ({ lifecycle_state: state }) => state,
      cell: ({ lifecycle_state: state }) => <LifecycleBadge type={type} state={state} />,
    },
    ...(shownOf[type] ?? []).map((name): Column<Resource> => ({
      key: name,
      name: `field.${name}` as MessageKey,
      cell: ({ attributes }) =>
        type === 'reconciliations' && name === 'scope' ? (
          <Reconciled workspace={workspace} of={attributes} />
        ) : (
          <AttributeValue workspace={workspace} value={inside[name]?.(attributes) ?? attributes[name]} />
        ),
    })),
    {
      key: 'updated',
      name: 'ads.updated',
      descendingFirst: true,
      sortBy: ({ updated_at: at }) => Date.parse(at),
      cell: ({ updated_at: at }) => <Time at={at} form="moment" />,
    },
  ];
}
