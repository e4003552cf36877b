import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { resourcesQuery } from '../../api/management.ts';
import type { Workspace } from '../../api/me.ts';
import { typeName } from '../../commands/words.ts';
import { t } from '../../messages/messages.ts';
import { Card } from '../../parts/card.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import adLooks from '../ads/ads.module.css';
import { NameOf } from '../ads/attribute-value.tsx';
import { LifecycleBadge } from '../ads/lifecycle-badge.tsx';
import { NewLink } from '../ads/list-page.tsx';
import { useForms } from '../ads/type-forms.ts';

/** The makegoods of the line items that are compared: what was missing is delivered later. */
export function MakegoodsCard({
  workspace,
  lines,
}: {
  readonly workspace: Workspace;
  readonly lines: readonly string[];
}) {
  const forms = useForms('makegoods');
  const query = useQuery(resourcesQuery(workspace.id, 'makegoods'));
  const [only] = lines;
  const start: Readonly<Record<string, string>> =
    lines.length === 1 && only !== undefined ? { for_line_item: only } : {};
  return (
    <Card title={typeName('makegoods')} end={<NewLink workspace={workspace} forms={forms} start={start} />}>
      <Loaded query={query} lines={2}>
        {(all) => {
          const rows = all.filter(({ attributes }) => lines.includes(String(attributes['for_line_item'])));
          if (rows.length === 0) return <p className={adLooks.none}>{t('finance.no_makegoods')}</p>;
          return (
            <ul className={adLooks.below}>
              {rows.map(({ id, attributes, lifecycle_state: state }) => (
                <li key={id}>
                  <Link to="/w/$ws/$type/$id" params={{ ws: workspace.id, type: 'makegoods', id }}>
                    <NameOf workspace={workspace.id} id={String(attributes['for_line_item'])} />
                  </Link>
                  <LifecycleBadge type="makegoods" state={state} />
                </li>
              ))}
            </ul>
          );
        }}
      </Loaded>
    </Card>
  );
}
