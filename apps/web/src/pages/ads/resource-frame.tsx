import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { Workspace } from '../../api/me.ts';
import type { Resource } from '../../api/management.ts';
import { nameOf } from '../../commands/name-of.ts';
import type { TypeForms } from '../../commands/type-forms.ts';
import { typeName } from '../../commands/words.ts';
import { t } from '../../messages/messages.ts';
import { Page } from '../../parts/page.tsx';
import { ResourceName } from './attribute-value.tsx';
import { LifecycleBadge } from './lifecycle-badge.tsx';
import { ResourceActions } from './resource-actions.tsx';

/** The head of the page of a resource: what it belongs to, its state, and what the person may do with it. */
export function ResourceFrame({
  workspace,
  forms,
  resource,
  without = [],
  before,
  children,
}: {
  readonly workspace: Workspace;
  readonly forms: TypeForms;
  readonly resource: Resource;
  /** Commands for which the page has a place of its own. */
  readonly without?: readonly string[];
  /** What stands before the commands. */
  readonly before?: ReactNode;
  readonly children: ReactNode;
}) {
  const { type } = forms;
  const parents = Object.keys(forms.links).filter((name) => typeof resource.attributes[name] === 'string');
  return (
    <Page
      title={nameOf(resource)}
      crumbs={[
        <Link to="/w/$ws/$type" params={{ ws: workspace.id, type }}>
          {typeName(type)}
        </Link>,
        ...parents
          .slice(0, 2)
          .map((name) => <ResourceName workspace={workspace.id} id={String(resource.attributes[name])} />),
      ]}
      meta={
        <>
          <LifecycleBadge type={type} state={resource.lifecycle_state} />
          <span className="number">{t('ads.version', { version: resource.version })}</span>
          {resource.state_reason !== undefined && <span>{resource.state_reason}</span>}
        </>
      }
      actions={
        <>
          {before}
          <ResourceActions {...{ workspace, forms, resource, without }} />
        </>
      }
    >
      {children}
    </Page>
  );
}
