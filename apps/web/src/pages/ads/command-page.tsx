import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useWorkspace, type Workspace } from '../../api/me.ts';
import { resourceQuery, type Operation, type Resource } from '../../api/management.ts';
import { makingCommand } from '../../commands/allowed.ts';
import { CommandForm } from '../../commands/command-form.tsx';
import { draftOf, type Draft } from '../../commands/form-value.ts';
import { hintsOf } from '../../commands/hints.ts';
import { nameOf } from '../../commands/name-of.ts';
import type { CommandFormOptions } from '../../commands/use-command-form.ts';
import type { CommandForm as Form } from '../../commands/type-forms.ts';
import { commandName, typeName } from '../../commands/words.ts';
import { Card } from '../../parts/card.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { Page } from '../../parts/page.tsx';
import { Skeleton } from '../../parts/skeleton.tsx';
import { NotFoundPage } from '../../shell/not-found-page.tsx';
import { ReachCard } from './line-item/reach-card.tsx';
import { tellOutcome } from './resource-actions.tsx';
import { hasForms, useForms, type FormType } from './type-forms.ts';
import styles from './ads.module.css';

const newRoute = getRouteApi('/w/$ws/$type/new');
const commandRoute = getRouteApi('/w/$ws/$type/$id/$command');

const listLink = (ws: string, type: string) => (
  <Link to="/w/$ws/$type" params={{ ws, type }}>
    {typeName(type)}
  </Link>
);

/** Commands of line items that are not sold yet: how many plays are left is shown beside them. */
const withReach = ['line_item.create', 'line_item.revise'];

/** A form in its card, with what helps to fill it in at its side. */
function FormCard({ title, ...options }: { readonly title: string } & CommandFormOptions) {
  const { workspace, form, start } = options;
  const [draft, setDraft] = useState(start);
  const card = (
    <Card title={title}>
      <CommandForm {...options} onDraft={setDraft} />
    </Card>
  );
  if (!withReach.includes(form.type)) return card;
  return (
    <div className={styles.columns}>
      {card}
      <ReachCard workspace={workspace} schema={form.schema} draft={draft} />
    </div>
  );
}

/** What a new one begins with: what the link to the page names, and what is most frequent. */
const startOf = ({ schema }: Form, type: string, named: Draft, zone?: string): Draft =>
  draftOf(schema, { ...hintsOf(type, zone).start, ...named });

function NewOf({ workspace, type }: { readonly workspace: Workspace; readonly type: FormType }) {
  const forms = useForms(type);
  const named = newRoute.useSearch();
  const navigate = useNavigate();
  const form = makingCommand(forms, workspace.roles);
  if (!form) return <NotFoundPage />;
  const goOn = async (operation: Operation) => {
    tellOutcome(operation);
    const { id, version } = operation.subject;
    const params = { ws: workspace.id, type, id };
    // What waits for its review cannot be read yet.
    if (version > 0) await navigate({ to: '/w/$ws/$type/$id', params });
    else await navigate({ to: '/w/$ws/$type', params });
  };
  const scoped = type === 'serving_halts' && named['creative_id'] !== undefined;
  const start = scoped
    ? { scope: { kind: 'creative', creative_id: named['creative_id'] } }
    : startOf(form, type, named, workspace.timeZone);
  return (
    <Page title={commandName(form.type, type)} crumbs={[listLink(workspace.id, type)]}>
      <FormCard
        title={typeName(type)}
        {...{ workspace, type, form, start }}
        resource={undefined}
        draftId={`${workspace.id}:${form.type}:${JSON.stringify(named)}`}
        onDone={goOn}
      />
    </Page>
  );
}

/** Makes a resource of a type. */
export function NewPage() {
  const { ws, type } = newRoute.useParams();
  const workspace = useWorkspace(ws);
  if (!workspace || !hasForms(type)) return <NotFoundPage />;
  return <NewOf key={type} workspace={workspace} type={type} />;
}

function CommandOf({
  workspace,
  form,
  resource,
}: {
  readonly workspace: Workspace;
  readonly form: Form;
  readonly resource: Resource;
}) {
  const navigate = useNavigate();
  const { resource_type: type, id } = resource;
  const params = { ws: workspace.id, type, id };
  const back = (
    <Link to="/w/$ws/$type/$id" params={params}>
      {nameOf(resource)}
    </Link>
  );
  const goBack = async (operation: Operation) => {
    tellOutcome(operation);
    await navigate({ to: '/w/$ws/$type/$id', params });
  };
  // What a form begins with of a resource is not among its changes; what is most frequent is.
  const start = {
    ...startOf(form, form.type === 'creative.submit' ? type : '', {}),
    ...draftOf(form.schema, resource.attributes),
  };
  return (
    <Page title={`${commandName(form.type)}: ${nameOf(resource)}`} crumbs={[listLink(workspace.id, type), back]}>
      <FormCard
        title={commandName(form.type)}
        {...{ workspace, type, form, resource, start }}
        draftId={`${workspace.id}:${form.type}:${id}`}
        onDone={goBack}
      />
    </Page>
  );
}

function CommandIn({
  workspace,
  type,
  id,
  command,
}: {
  readonly workspace: Workspace;
  readonly type: FormType;
  readonly id: string;
  readonly command: string;
}) {
  const form = useForms(type).commands.find((each) => each.type === command);
  const query = useQuery(resourceQuery(workspace.id, type, id));
  // The form stays on the version that it opens on: one of an earlier page is read anew first.
  const [isRead, setRead] = useState(!query.isFetching);
  if (!isRead && !query.isFetching) setRead(true);
  if (!form) return <NotFoundPage />;
  if (!isRead) return <Skeleton lines={6} />;
  return (
    <Loaded query={query} lines={6}>
      {(resource) => <CommandOf key={command} workspace={workspace} form={form} resource={resource} />}
    </Loaded>
  );
}

/** Sends one command about a resource. */
export function CommandPage() {
  const { ws, type, id, command } = commandRoute.useParams();
  const workspace = useWorkspace(ws);
  if (!workspace || !hasForms(type)) return <NotFoundPage />;
  return <CommandIn workspace={workspace} type={type} id={id} command={command} />;
}
