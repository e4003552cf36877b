import { Fragment } from 'react';
import type { Attributes } from '../../api/management.ts';
import { NameOf } from './attribute-value.tsx';

/** Campaigns or line items that are named. */
const namedMax = 2;

/** What a reconciliation is about: the first of its campaigns, else of its line items, by their names, and how many more there are. */
export function Reconciled({ workspace, of: { scope } }: { readonly workspace: string; readonly of: Attributes }) {
  const { campaign_ids: campaigns, line_item_ids: lines } = (scope ?? {}) as Readonly<
    Record<string, readonly string[] | undefined>
  >;
  const ids = campaigns ?? lines ?? [];
  return (
    <span>
      {ids.slice(0, namedMax).map((id, at) => (
        <Fragment key={id}>
          {at > 0 && ' · '}
          <NameOf workspace={workspace} id={id} />
        </Fragment>
      ))}
      {ids.length > namedMax && ` +${ids.length - namedMax}`}
    </span>
  );
}
