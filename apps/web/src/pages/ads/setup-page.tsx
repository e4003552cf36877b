import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useWorkspace, type Workspace } from '../../api/me.ts';
import { resourceQuery, resourcesQuery } from '../../api/management.ts';
import { reviewText } from '../../commands/allowed.ts';
import { nameOf } from '../../commands/name-of.ts';
import { commandName, typeName } from '../../commands/words.ts';
import { t, type MessageKey } from '../../messages/messages.ts';
import { Card, Cards, Column, Pairs } from '../../parts/card.tsx';
import { zoneName } from '../../parts/format.ts';
import { Loaded } from '../../parts/loaded.tsx';
import { Page } from '../../parts/page.tsx';
import { NotFoundPage } from '../../shell/not-found-page.tsx';
import { LifecycleBadge } from './lifecycle-badge.tsx';
import { NewLink } from './list-page.tsx';
import { ResourceActions } from './resource-actions.tsx';
import { useForms, type FormType } from './type-forms.ts';
import styles from './ads.module.css';

const route = getRouteApi('/w/$ws/setup');

/** Which commands of a type wait for others, and for whom. */
function WhoAgrees({ type }: { readonly type: FormType }) {
  const commands = useForms(type).commands.flatMap(({ type: command, from, review }) => {
    const who = reviewText[review as keyof typeof reviewText];
    return who === undefined ? [] : [{ name: commandName(command, from === null ? type : undefined), who }];
  });
  if (commands.length === 0) return null;
  return (
    <>
      <h3>{t('setup.reviews')}</h3>
      <Pairs of={commands.map(({ name, who }) => [name, t(who)] as const)} />
    </>
  );
}

/** The workspace itself, with what may be changed of it. */
function WorkspaceCard({ workspace }: { readonly workspace: Workspace }) {
  const forms = useForms('workspaces');
  const query = useQuery(resourceQuery(workspace.id, 'workspaces', workspace.id));
  return (
    <Card
      title={workspace.name}
      end={query.data && <ResourceActions workspace={workspace} forms={forms} resource={query.data} />}
    >
      <div className={styles.stack}>
        <Loaded query={query} lines={3}>
          {({ lifecycle_state: state }) => (
            <Pairs
              of={[
                [t('ads.states'), <LifecycleBadge type="workspaces" state={state} />],
                [t('field.currency'), t('setup.currency_why', { currency: workspace.currency })],
                [t('field.time_zone'), zoneName(workspace.timeZone)],
              ]}
            />
          )}
        </Loaded>
        <WhoAgrees type="workspaces" />
      </div>
    </Card>
  );
}

const shownMax = 8;

/** The newest of a type that have not ended, with the way to all of them and to another one. */
function TypeCard({
  workspace,
  type,
  why,
}: {
  readonly workspace: Workspace;
  readonly type: FormType;
  readonly why: MessageKey;
}) {
  const forms = useForms(type);
  const query = useQuery(resourcesQuery(workspace.id, type));
  return (
    <Card title={typeName(type)} end={<NewLink workspace={workspace} forms={forms} />}>
      <div className={styles.stack}>
        <p className={styles.none}>{t(why)}</p>
        <Loaded query={query} lines={2}>
          {(rows) => {
            const current = rows.filter(({ lifecycle_state: state }) => !forms.terminalStates.includes(state));
            return current.length === 0 ? (
              <p className={styles.none}>{t('ads.none')}</p>
            ) : (
              <ul className={styles.below}>
                {current.slice(0, shownMax).map((row) => (
                  <li key={row.id}>
                    <Link to="/w/$ws/$type/$id" params={{ ws: workspace.id, type, id: row.id }}>
                      {nameOf(row)}
                    </Link>
                    <LifecycleBadge type={type} state={row.lifecycle_state} />
                  </li>
                ))}
              </ul>
            );
          }}
        </Loaded>
        <Link to="/w/$ws/$type" params={{ ws: workspace.id, type }}>
          {t('setup.all', { type: typeName(type) })}
        </Link>
        <WhoAgrees type={type} />
      </div>
    </Card>
  );
}

/** What a workspace is, which rules it has, and who may act in it. */
export function SetupPage() {
  const { ws } = route.useParams();
  const workspace = useWorkspace(ws);
  if (!workspace) return <NotFoundPage />;
  return (
    <Page title={t('setup.title')}>
      <Cards>
        <Column>
          <WorkspaceCard workspace={workspace} />
          <TypeCard workspace={workspace} type="policies" why="setup.policies_why" />
        </Column>
        <Column>
          <TypeCard workspace={workspace} type="authority_grants" why="setup.grants_why" />
          <TypeCard workspace={workspace} type="machine_keys" why="setup.keys_why" />
          <p className={styles.none}>{t('setup.by_program')}</p>
        </Column>
      </Cards>
    </Page>
  );
}
