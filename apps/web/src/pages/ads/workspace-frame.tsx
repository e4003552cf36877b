import { getRouteApi, Outlet } from '@tanstack/react-router';
import { Suspense } from 'react';
import { useLive } from '../../api/live.ts';
import { useMe, useWorkspace } from '../../api/me.ts';
import { t } from '../../messages/messages.ts';
import { FullPage } from '../../parts/problem.tsx';
import { Skeleton } from '../../parts/skeleton.tsx';
import styles from './ads.module.css';

const route = getRouteApi('/w/$ws');

/** What all pages of a workspace have: they follow its changes, and say when they cannot. */
export function WorkspaceFrame() {
  const { ws } = route.useParams();
  const me = useMe();
  const workspace = useWorkspace(ws);
  if (me && !workspace) return <FullPage title={t('ads.workspace_gone')} help={t('ads.workspace_gone_why')} />;
  return <Followed workspace={ws} isKnown={workspace !== undefined} />;
}

function Followed({ workspace, isKnown }: { readonly workspace: string; readonly isKnown: boolean }) {
  const isSilent = useLive(workspace);
  return (
    <>
      <div role="status" className={styles.silent} hidden={!isSilent}>
        {isSilent && t('ads.not_live')}
      </div>
      <Suspense fallback={<Skeleton lines={6} />}>{isKnown ? <Outlet /> : <Skeleton lines={6} />}</Suspense>
    </>
  );
}
