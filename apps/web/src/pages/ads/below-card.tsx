import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { Workspace } from '../../api/me.ts';
import { resourcesQuery, type Resource } from '../../api/management.ts';
import { nameOf } from '../../commands/name-of.ts';
import { nounName, typeName } from '../../commands/words.ts';
import { t } from '../../messages/messages.ts';
import { Card } from '../../parts/card.tsx';
import { capitalized } from '../../parts/format.ts';
import { Loaded } from '../../parts/loaded.tsx';
import { ResourceName } from './attribute-value.tsx';
import { LifecycleBadge } from './lifecycle-badge.tsx';
import { NewLink } from './list-page.tsx';
import { useForms, type FormType } from './type-forms.ts';
import styles from './ads.module.css';

/** What an assignment is called from one side: the creative on the page of a line item, the line item on that of a creative. */
const otherSide = ({ attributes }: Resource, parent: Resource): string | undefined => {
  const { line_item_id: line, creative_id: creative } = attributes;
  if (typeof line !== 'string' || typeof creative !== 'string') return undefined;
  return parent.id === line ? creative : line;
};

/** Resources of a type that belong to this one, with the way to add another. */
export function BelowCard({
  workspace,
  parent,
  type,
}: {
  readonly workspace: Workspace;
  readonly parent: Resource;
  readonly type: FormType;
}) {
  const forms = useForms(type);
  const query = useQuery(resourcesQuery(workspace.id, type, { parent: parent.id }));
  const attribute = Object.entries(forms.links).find(([, target]) => target === parent.resource_type)?.[0];
  const start = attribute === undefined ? {} : { [attribute]: parent.id };
  return (
    <Card title={typeName(type)} end={<NewLink workspace={workspace} forms={forms} start={start} />}>
      <Loaded query={query} lines={2}>
        {(rows) =>
          rows.length === 0 ? (
            <p className={styles.none}>{t('ads.none')}</p>
          ) : (
            <ul className={styles.below}>
              {rows.map((row) => {
                const other = otherSide(row, parent);
                return (
                  <li key={row.id}>
                    <Link to="/w/$ws/$type/$id" params={{ ws: workspace.id, type, id: row.id }}>
                      {other === undefined ? nameOf(row) : capitalized(nounName(type))}
                    </Link>
                    {other !== undefined && <ResourceName workspace={workspace.id} id={other} />}
                    <LifecycleBadge type={type} state={row.lifecycle_state} />
                  </li>
                );
              })}
            </ul>
          )
        }
      </Loaded>
    </Card>
  );
}
