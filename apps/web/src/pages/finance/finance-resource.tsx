import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { resourceQuery, type Attributes, type Resource } from '../../api/management.ts';
import { useWorkspace, type Workspace } from '../../api/me.ts';
import type { TypeForms } from '../../commands/type-forms.ts';
import { ProblemPage } from '../../parts/problem.tsx';
import { Skeleton } from '../../parts/skeleton.tsx';
import { NotFoundPage } from '../../shell/not-found-page.tsx';
import { useForms, type FormType } from '../ads/type-forms.ts';

/** What the page of one resource is made of. */
export interface PageOf<A extends Attributes = Attributes> {
  readonly workspace: Workspace;
  readonly forms: TypeForms;
  readonly resource: Resource<A>;
}

/** The page of a resource once it has been read; until then lines, or the problem. */
export function FinanceResource<A extends Attributes>({
  ws,
  type,
  id,
  children,
}: {
  readonly ws: string;
  readonly type: FormType;
  readonly id: string;
  readonly children: (page: PageOf<A>) => ReactNode;
}) {
  const workspace = useWorkspace(ws);
  const forms = useForms(type);
  const { data, error, refetch } = useQuery(resourceQuery<A>(ws, type, id));
  if (!workspace) return <NotFoundPage />;
  if (error && !data) return <ProblemPage error={error} onRetry={() => void refetch()} />;
  return data ? children({ workspace, forms, resource: data }) : <Skeleton lines={8} />;
}
