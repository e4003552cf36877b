import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { FileChartColumn } from 'lucide-react';
import { resourceQuery, resourcesQuery } from '../../api/management.ts';
import { useWorkspace, type Workspace } from '../../api/me.ts';
import { makingCommand } from '../../commands/allowed.ts';
import { CommandForm } from '../../commands/command-form.tsx';
import { lastMonth } from '../../commands/hints.ts';
import { nameOf } from '../../commands/name-of.ts';
import type { CommandForm as Form } from '../../commands/type-forms.ts';
import { typeName } from '../../commands/words.ts';
import { t } from '../../messages/messages.ts';
import { Card } from '../../parts/card.tsx';
import { Empty } from '../../parts/empty.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { Page } from '../../parts/page.tsx';
import { NotFoundPage } from '../../shell/not-found-page.tsx';
import adLooks from '../ads/ads.module.css';
import { NewLink } from '../ads/list-page.tsx';
import { tellOutcome } from '../ads/resource-actions.tsx';
import { useForms } from '../ads/type-forms.ts';
import { withFixed } from './decide-card.tsx';

const route = getRouteApi('/w/$ws/report_runs/new');

/** The form of a run, whose window is no flight. */
const named = (form: Form): Form => {
  const { schema } = form;
  const window = { ...schema.properties?.['window'], title: t('finance.window') };
  return { ...form, schema: { ...schema, properties: { ...schema.properties, window } } };
};

/** The reports that can be run: one is chosen by its name. */
function ChooseReport({ workspace }: { readonly workspace: Workspace }) {
  const query = useQuery(resourcesQuery(workspace.id, 'report_definitions', { state: 'active' }));
  const forms = useForms('report_definitions');
  return (
    <Card title={t('finance.choose_report')}>
      <Loaded query={query} lines={3}>
        {(rows) =>
          rows.length === 0 ? (
            <Empty
              icon={FileChartColumn}
              title="ads.none"
              why="finance.no_active_report"
              next={<NewLink workspace={workspace} forms={forms} />}
            />
          ) : (
            <ul className={adLooks.below}>
              {rows.map((report) => (
                <li key={report.id}>
                  <Link to="/w/$ws/report_runs/new" params={{ ws: workspace.id }} search={{ definition_id: report.id }}>
                    {nameOf(report)}
                  </Link>
                </li>
              ))}
            </ul>
          )
        }
      </Loaded>
    </Card>
  );
}

/** The window over which a report is run. The run keeps the version of the report that is shown. */
function RunReport({ workspace, report }: { readonly workspace: Workspace; readonly report: string }) {
  const form = makingCommand(useForms('report_runs'), workspace.roles);
  const query = useQuery(resourceQuery(workspace.id, 'report_definitions', report));
  const navigate = useNavigate();
  if (!form) return <NotFoundPage />;
  return (
    <Loaded query={query} lines={4}>
      {(definition) => {
        const fixed = { definition_id: definition.id, definition_version: definition.version };
        return (
          <Card title={nameOf(definition)} basis={t('ads.version', { version: definition.version })}>
            <CommandForm
              key={definition.version}
              {...{ workspace, type: 'report_runs', form: withFixed(named(form), fixed), resource: undefined }}
              button={t('finance.run_report')}
              start={{ ...fixed, window: lastMonth(workspace.timeZone) }}
              draftId={`${workspace.id}:report.run:${definition.id}:${definition.version}`}
              onDone={async (operation) => {
                tellOutcome(operation);
                const params = { ws: workspace.id, type: 'report_runs', id: operation.subject.id };
                await navigate({ to: '/w/$ws/$type/$id', params });
              }}
            />
          </Card>
        );
      }}
    </Loaded>
  );
}

/** Runs a report over a window. */
export function NewRunPage() {
  const { ws } = route.useParams();
  const { definition_id: report } = route.useSearch();
  const workspace = useWorkspace(ws);
  if (!workspace) return <NotFoundPage />;
  const list = (
    <Link to="/w/$ws/$type" params={{ ws, type: 'report_runs' }}>
      {typeName('report_runs')}
    </Link>
  );
  return (
    <Page title={t('finance.run_report')} crumbs={[list]}>
      {report === undefined ? (
        <ChooseReport workspace={workspace} />
      ) : (
        <RunReport key={report} workspace={workspace} report={report} />
      )}
    </Page>
  );
}
