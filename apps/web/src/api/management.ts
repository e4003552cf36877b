import { keepPreviousData, queryOptions, useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { ApiProblem, problemOf } from './problems.ts';
import { createRequestKeys } from './request-key.ts';
import { session } from './session.ts';

/** Attributes of a resource, as its type declares them. */
export type Attributes = Readonly<Record<string, unknown>>;

/** A resource of a workspace. */
export interface Resource<A = Attributes> {
  readonly resource_type: string;
  readonly id: string;
  readonly version: number;
  readonly lifecycle_state: string;
  readonly state_reason?: string;
  readonly attributes: A;
  readonly links: Readonly<Record<string, string>>;
  readonly created_at: string;
  readonly updated_at: string;
  readonly updated_by: { readonly operation_id: string };
}

/** One step of a JSON Patch over `{lifecycle_state, attributes}`. */
export interface Step {
  readonly op: 'add' | 'remove' | 'replace';
  readonly path: string;
  readonly value?: unknown;
}

/** A version of a resource, with what it changed. */
export interface Version {
  readonly version: number;
  readonly lifecycle_state: string;
  readonly attributes: Attributes;
  readonly updated_by: { readonly operation_id: string; readonly service?: string; readonly process?: string };
  readonly created_at: string;
  readonly difference?: readonly Step[];
}

/** What became of a command. */
export interface Operation {
  readonly id: string;
  readonly command_type: string;
  readonly state: 'accepted' | 'running' | 'waiting_review' | 'succeeded' | 'failed' | 'cancelled';
  readonly subject: { readonly type: string; readonly id: string; readonly version: number };
  readonly receipt_id: string;
  readonly problem?: { readonly code: string; readonly detail: string };
  readonly review_task_id?: string;
}

/**
 * Asks the Management API of this origin, with the session's cookie. A refusal is thrown as `ApiProblem`, and so is an answer
 * that breaks off; 401 ends the session of the tab.
 */
export async function askManagement<T>(path: string, init: RequestInit = {}): Promise<T> {
  const response = await fetch(`/management/v1${path}`, init).catch((cause: unknown) => {
    if (init.signal?.aborted) throw cause;
    throw new ApiProblem('', { status: 0, slug: 'no_answer', cause });
  });
  const body: unknown = await response.json().catch(() => undefined);
  if (response.ok && body === undefined) throw new ApiProblem('', { status: 0, slug: 'no_answer' });
  if (response.ok) return body as T;
  if (response.status === 401) session.end();
  throw problemOf(response, body);
}

/** The key of everything that is read of a workspace. A resource: `['management', ws, type, id, …]`. */
const keyOf = (workspace: string, ...rest: readonly unknown[]) => ['management', workspace, ...rest] as const;

const read = <T>(workspace: string, key: readonly unknown[], path: string) =>
  queryOptions({
    queryKey: keyOf(workspace, ...key),
    queryFn: ({ signal }) => askManagement<T>(`/workspaces/${workspace}${path}`, { signal }),
  });

/** One resource. */
export const resourceQuery = <A = Attributes>(workspace: string, type: string, id: string) =>
  read<Resource<A>>(workspace, [type, id], `/resources/${type}/${id}`);

/** What an operation is now. */
export const operationQuery = (workspace: string, id: string) =>
  read<Operation>(workspace, ['operations', id], `/operations/${id}`);

/** The newest versions of a resource, with what each changed. */
export const versionsQuery = (workspace: string, type: string, id: string) =>
  read<{ readonly rows: readonly Version[]; readonly next_cursor?: string }>(
    workspace,
    [type, id, 'versions'],
    `/resources/${type}/${id}/versions?difference=true&limit=100`,
  );

/** What the command of an open review would change. Read once for each version of the task: a review that is over is refused. */
export const differenceQuery = (workspace: string, id: string, version: number) =>
  queryOptions({
    queryKey: ['differences', workspace, id, version] as const,
    queryFn: ({ signal }) =>
      askManagement<{
        readonly subject: { readonly lifecycle_state?: string; readonly attributes?: Attributes };
        readonly difference: readonly Step[];
      }>(`/workspaces/${workspace}/resources/review_tasks/${id}/difference`, { signal }),
  });

const rowsMax = 500;

/** A list of resources: its pages one after the other, up to 500. */
export const resourcesQuery = <A = Attributes>(
  workspace: string,
  type: string,
  about: { readonly parent?: string; readonly state?: string; readonly sort?: string } = {},
) =>
  queryOptions({
    queryKey: keyOf(workspace, type, 'list', about),
    placeholderData: keepPreviousData,
    queryFn: async ({ signal }): Promise<readonly Resource<A>[]> => {
      const rows: Resource<A>[] = [];
      for (let cursor: string | undefined; ;) {
        const query = new URLSearchParams({ sort: '-created_at', ...about, limit: '200', ...(cursor && { cursor }) });
        type Page = { readonly rows: readonly Resource<A>[]; readonly next_cursor?: string };
        const page = await askManagement<Page>(`/workspaces/${workspace}/resources/${type}?${query}`, { signal });
        rows.push(...page.rows);
        cursor = page.next_cursor;
        if (cursor === undefined || rows.length >= rowsMax) return rows;
      }
    },
  });

/** A command as a form or a button sends it. */
export interface Command {
  readonly type: string;
  /** `id` is null for a command that makes its subject. */
  readonly subject: { readonly type: string; readonly id: string | null };
  /** The version that the person saw. */
  readonly version?: number | undefined;
  readonly changes: Attributes;
}

/** Sends a command; where no answer came, says what became of it, and sends nothing anew. */
export async function sendCommand(
  workspace: string,
  { type, subject, version, changes }: Command,
  key: string,
): Promise<Operation> {
  const path = `/workspaces/${workspace}/commands/${type}`;
  const headers = { 'Content-Type': 'application/json', 'Idempotency-Key': key };
  const about = version === undefined ? subject : { ...subject, version };
  try {
    return await askManagement<Operation>(path, {
      ...{ method: 'POST', headers, body: JSON.stringify({ subject: about, changes }) },
    });
  } catch (error) {
    if (!(error instanceof ApiProblem) || (error.status !== 0 && error.status !== 502 && error.status !== 504))
      throw error;
    const query = new URLSearchParams({ idempotency_key: key, command_type: type });
    return askManagement<Operation>(`/workspaces/${workspace}/operations?${query}`).catch(() => {
      throw error;
    });
  }
}

/**
 * Commands of one form or button. Sent again after a failure a command has the same key, so it is done once; one that says something else has another.
 * Afterwards everything of the workspace is read anew.
 */
export function useCommand(workspace: string, onDone?: (operation: Operation) => unknown) {
  const queries = useQueryClient();
  const [keys] = useState(() => createRequestKeys());
  return useMutation({
    mutationFn: (command: Command) => sendCommand(workspace, command, keys.keyOf(command)),
    retry: false,
    // Somebody else was first: what is shown is read anew, so that the next try names the version that the person sees.
    onError: (error) => {
      if (error instanceof ApiProblem && [404, 409, 412].includes(error.status))
        void queries.invalidateQueries({ queryKey: keyOf(workspace) });
    },
    onSuccess: async (operation) => {
      keys.end();
      await onDone?.(operation);
      await queries.invalidateQueries({ queryKey: keyOf(workspace) });
    },
  });
}
