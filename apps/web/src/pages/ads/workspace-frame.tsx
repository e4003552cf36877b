import { getRouteApi, Outlet } from '@tanstack/react-router';
import { Suspense } from 'react';
import { useLive } from '../../api/live.ts';
import { useMe, useWorkspace, type Workspace } from '../../api/me.ts';
import { t } from '../../messages/messages.ts';
import { zoneName } from '../../parts/format.ts';
import { FullPage } from '../../parts/problem.tsx';
import { Skeleton } from '../../parts/skeleton.tsx';
import { ZoneOfPage } from '../../shell/place.ts';
import styles from './ads.module.css';

const route = getRouteApi('/w/$ws');

/** What all pages of a workspace have: they follow its changes, say when they cannot, and show times in its zone, which they name. */
export function WorkspaceFrame() {
  const { ws } = route.useParams();
  const me = useMe();
  const workspace = useWorkspace(ws);
  if (me && !workspace) return <FullPage title={t('ads.workspace_gone')} help={t('ads.workspace_gone_why')} />;
  return <Followed id={ws} workspace={workspace} />;
}

function Followed({ id, workspace }: { readonly id: string; readonly workspace: Workspace | undefined }) {
  const isSilent = useLive(id);
  return (
    <>
      <div role="status" className={styles.silent} hidden={!isSilent}>
        {isSilent && t('ads.not_live')}
      </div>
      <Suspense fallback={<Skeleton lines={6} />}>
        {workspace ? (
          <ZoneOfPage value={workspace.timeZone}>
            <Outlet />
            <p className={styles.zone}>{t('ads.zone', { zone: zoneName(workspace.timeZone) })}</p>
          </ZoneOfPage>
        ) : (
          <Skeleton lines={6} />
        )}
      </Suspense>
    </>
  );
}
