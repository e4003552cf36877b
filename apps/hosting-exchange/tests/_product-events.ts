import type { DomainEvent } from '@longwave/events';
import { newId } from '@longwave/ids';

/** An event of management about a resource as it is now. */
export const eventOf = (
  workspaceId: string,
  subject: { readonly type: string; readonly id: string; readonly version: number; readonly state: string },
  attributes: Record<string, unknown>,
): DomainEvent => ({
  id: newId('evt'),
  type: 'something.changed',
  workspace_id: workspaceId,
  subject,
  operation_id: newId('op'),
  occurred_at: '2026-11-25T12:00:00.000Z',
  after: {
    resource_type: subject.type,
    id: subject.id,
    workspace_id: workspaceId,
    version: subject.version,
    lifecycle_state: subject.state,
    attributes,
    links: {},
    digest: '',
    created_at: '2026-11-25T12:00:00.000Z',
    updated_at: '2026-11-25T12:00:00.000Z',
    updated_by: { operation_id: newId('op') },
  },
});
