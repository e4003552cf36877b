import { Link } from '@tanstack/react-router';
import type { Resource } from '../../api/management.ts';
import { nameOf } from '../../commands/name-of.ts';
import type { Column } from '../../parts/table.tsx';
import type { MessageKey } from '../../messages/messages.ts';
import { Time } from '../../parts/time.tsx';
import { AttributeValue } from './attribute-value.tsx';
import { LifecycleBadge } from './lifecycle-badge.tsx';

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
      cell: ({ attributes }) => <AttributeValue workspace={workspace} value={attributes[name]} />,
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
