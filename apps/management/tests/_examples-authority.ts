import { creates, on, type Examples } from './_example.ts';
import { hour, service } from './_values.ts';

const cause = 'The contract has ended.';

/** Valid requests for the commands of workspaces, authority grants and machine keys. */
export const authorityExamples = {
  'workspace.configure': async (w) => on(await w.workspace(), { time_zone: 'Europe/Berlin' }, w.actor),
  'workspace.suspend': async (w) => on(await w.workspace(), { cause }, w.actor),
  'workspace.resume': async (w) => on(await w.suspended(), { cause }, w.actor),
  'workspace.close': async (w) => on(await w.suspended(), { confirm_name: 'A' }, w.actor),
  'workspace.complete_close': async (w) => {
    const closing = await w.send('workspace.close', await w.suspended(), { confirm_name: 'A' }, service('operator'));
    return on(closing, {}, service('management'));
  },
  'authority_grant.propose': async (w) => creates('authority_grants', w.grantChanges(), w.actor),
  'authority_grant.activate': async (w) => on(await w.proposedPlatform(), {}, w.actor),
  'authority_grant.revoke': async (w) => on(await w.proposed(), { cause }, w.actor),
  'authority_grant.expire': async (w) => {
    const grant = await w.proposed(undefined, { expires_at: w.inTime(hour / 60) });
    w.ahead(hour / 30);
    return on(grant, {}, service('management'));
  },
  'machine_key.register': async (w) => {
    const { grant } = await w.granted();
    return creates('machine_keys', await w.registration(grant.id), w.actor);
  },
  'machine_key.activate': async (w) => on(await w.pendingKey(), {}, w.actor),
  'machine_key.retire': async (w) => {
    const { grant } = await w.granted();
    const [key, successor] = [await w.activeKey(grant.id), await w.activeKey(grant.id)];
    return on(key, { successor_id: successor.id, overlap_until: w.inTime(24 * hour) }, w.actor);
  },
  'machine_key.revoke': async (w) => on(await w.activeKey(), { cause, suspect_since: w.inTime(-hour) }, w.actor),
  'machine_key.expire': async (w) => {
    const { grant } = await w.granted();
    const changes = await w.registration(grant.id, { not_after: w.inTime(hour / 60) });
    const key = await w.send('machine_key.register', null, changes, service('operator'));
    w.ahead(hour / 30);
    return on(key, {}, service('management'));
  },
} satisfies Examples;
