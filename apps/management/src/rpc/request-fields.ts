import { gateways } from '@longwave/services';

/** Services that read for people, and the operator. */
export const readers = [...gateways, 'operator'] as const;

/** The workspace that a request names; empty on the wire: any. */
export const namedWorkspace = (workspaceId: string) => (workspaceId === '' ? undefined : workspaceId);
