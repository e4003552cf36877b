import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { paths } from '../generated/openapi.d.ts';
import { rest } from './client.ts';
import { createRequestKeys } from './request-key.ts';

type Method = 'post' | 'put' | 'delete';

/** Paths of REST v1 with a method. */
type WritePath<M extends Method> = {
  [P in keyof paths]: paths[P] extends Record<M, { responses: unknown }> ? P : never;
}[keyof paths];

type Write<M extends Method, P extends WritePath<M>> = paths[P] extends Record<M, infer O> ? O : never;
type BodyOf<O> = O extends { requestBody?: { content: { 'application/json': infer B } } }
  ? { readonly body?: B }
  : unknown;
type PathOf<O> = O extends { parameters: { path: infer T } } ? { readonly path: T } : unknown;
type QueryOf<O> = O extends { parameters: { query?: infer T } } ? { readonly query?: T } : unknown;

/** What a change says: `{ path: { id }, body, version }`. `version` is what the person saw (`versionOf`); the change is refused with 412 if there is a newer one. */
export type Change<M extends Method, P extends WritePath<M>> = BodyOf<Write<M, P>> &
  PathOf<Write<M, P>> &
  QueryOf<Write<M, P>> & { readonly version?: string | undefined };

/** What a change answers. */
type Changed<M extends Method, P extends WritePath<M>> =
  Write<M, P> extends { responses: { 200: { content: { 'application/json': infer T } } } }
    ? T
    : Write<M, P> extends { responses: { 201: { content: { 'application/json': infer T } } } }
      ? T
      : Write<M, P> extends { responses: { 202: { content: { 'application/json': infer T } } } }
        ? T
        : undefined;

interface AnyChange {
  readonly path?: unknown;
  readonly query?: unknown;
  readonly body?: unknown;
  readonly version?: string | undefined;
}
type AnySend = (
  path: string,
  init: { readonly params: unknown; readonly body: unknown },
) => Promise<{ readonly data?: unknown }>;
// The client's own types ask for literal paths; `WritePath` and `Change` have checked them.
const senders = { post: rest.POST, put: rest.PUT, delete: rest.DELETE } as unknown as Record<Method, AnySend>;

/**
 * A change by REST v1, for one form or button. Sent again after a failure it has the same key, so it is done once; nothing is sent again by itself. When it
 * is done, everything that is shown is read anew.
 * @param onDone called afterwards, even where the part that sent it is shown no longer; before what is shown is read, where the thing itself is gone
 */
export function useSend<M extends Method, P extends WritePath<M>>(method: M, path: P, onDone?: () => unknown) {
  const queries = useQueryClient();
  const [keys] = useState(() => createRequestKeys());
  return useMutation({
    mutationFn: async (change: Change<M, P>): Promise<Changed<M, P>> => {
      const { path: places, query, body, version } = change as AnyChange;
      const header = { 'Idempotency-Key': keys.keyOf(change), ...(version !== undefined && { 'If-Match': version }) };
      const { data } = await senders[method](path, { params: { path: places, query, header }, body });
      return data as Changed<M, P>;
    },
    retry: false,
    onSuccess: async () => {
      keys.end();
      const isGone = method === 'delete';
      if (isGone) await onDone?.();
      await queries.invalidateQueries();
      if (!isGone) await onDone?.();
    },
  });
}
