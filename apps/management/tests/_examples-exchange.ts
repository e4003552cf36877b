import { creates, on, type Examples } from './_example.ts';
import { hour, service } from './_values.ts';

const own = service('management');

/** Valid requests for the commands of the Hosting Exchange. */
export const exchangeExamples = {
  'content_snapshot.accept': async (w) => {
    const changes = { ...w.source(await w.platform(), 'ep-1'), content: w.content() };
    return creates('content_snapshots', changes, w.exchange);
  },
  'content_snapshot.map': async (w) => {
    const platform = await w.platform();
    const snapshot = await w.snapshot(platform);
    const { changes, lease } = await w.mapping(platform, snapshot);
    return on(snapshot, changes, own, lease);
  },
  'content_snapshot.record_ready': async (w) =>
    on((await w.mapped(await w.platform())).snapshot, { rendition: w.rendition, slots: [] }, own),
  'content_snapshot.record_failed': async (w) => {
    const snapshot = await w.snapshot(await w.platform());
    const problem = { code: 'media_not_as_declared', detail: 'The file is another one.' };
    return on(snapshot, { problem }, own, await w.lease('map_content', snapshot.id));
  },
  'content_snapshot.retry': async (w) => {
    const { snapshot } = await w.mapped(await w.platform());
    const problem = { code: 'media_not_as_declared', detail: 'The file is another one.' };
    return on(await w.send('content_snapshot.record_failed', snapshot, { problem }, own), {}, w.actor);
  },
  'content_snapshot.lapse': async (w) => {
    const platform = await w.platform();
    const snapshot = await w.snapshot(platform, 'ep-1', 1, { rights: { until: w.inTime(hour / 60) } });
    const { changes, lease } = await w.mapping(platform, snapshot);
    const mapped = await w.send('content_snapshot.map', snapshot, changes, own, lease);
    const ready = await w.send('content_snapshot.record_ready', mapped, { rendition: w.rendition, slots: [] }, own);
    w.ahead(hour / 30);
    return on(ready, {}, own);
  },
  'content_snapshot.supersede': async (w) => {
    const platform = await w.platform();
    const snapshot = await w.snapshot(platform);
    await w.snapshot(platform, 'ep-1', 2);
    return on(snapshot, {}, own);
  },
  'content_snapshot.revoke': async (w) => {
    const platform = await w.platform();
    const snapshot = await w.snapshot(platform);
    const { id } = await w.revocation(platform, 'ep-1', { version: 1 });
    return on(snapshot, { revocation_id: id, cause: 'A wrong file.' }, own);
  },
  'content_revocation.accept': async (w) => {
    const revocation = { revoke_version: 1, mode: 'stop_all', cause: 'A wrong file.', effective_at: w.inTime(-hour) };
    return creates('content_revocations', { ...w.source(await w.platform(), 'ep-1', 2), revocation }, w.exchange);
  },
  'content_revocation.apply': async (w) => {
    const platform = await w.platform();
    const snapshot = await w.snapshot(platform);
    return on(await w.revocation(platform, 'ep-1', { version: 1 }), { snapshot_id: snapshot.id }, own);
  },
  'surface_capability.declare': async (w) =>
    creates(
      'surface_capabilities',
      { ...w.source(await w.platform(), 'app'), capability: w.capability('app') },
      w.exchange,
    ),
  'surface_capability.revise': async (w) => {
    const platform = await w.platform();
    const surface = await w.surface(platform);
    return on(surface, { ...w.source(platform, 'app', 2), capability: w.capability('app') }, w.exchange);
  },
  'surface_capability.lapse': async (w) => {
    const surface = await w.surface(await w.platform(), 'app', { valid_until: w.inTime(hour / 60) });
    w.ahead(hour / 30);
    return on(surface, {}, own);
  },
  'delivery_alias.register': async (w) => {
    const platform = await w.platform();
    await w.surface(platform);
    return creates('delivery_aliases', { ...w.source(platform, 'one'), alias: w.aliasBody('one') }, w.exchange);
  },
  'delivery_alias.revise': async (w) => {
    const platform = await w.platform();
    await w.surface(platform);
    const alias = await w.alias(platform);
    const body = w.aliasBody('one', { supersedes_version: 1, state: 'paused' });
    return on(alias, { ...w.source(platform, 'one', 2), alias: body }, w.exchange);
  },
  'platform_evidence.accept': async (w) =>
    creates('platform_evidence', { ...w.source(await w.platform(), 'report-1'), evidence: w.evidence() }, w.exchange),
  'platform_evidence.record_ready': async (w) => on(await w.report(await w.platform()), { row_count: 3 }, w.exchange),
  'platform_evidence.record_failed': async (w) => {
    const problem = { code: 'evidence_not_fetchable', detail: 'The host answers with 404.' };
    return on(await w.report(await w.platform()), { problem }, w.exchange);
  },
  'platform_evidence.supersede': async (w) => {
    const platform = await w.platform();
    const [first, second] = [await w.report(platform, 1), await w.report(platform, 2)];
    return on(first, { successor_id: second.id }, own);
  },
  'serving_intent.publish': async (w) => {
    const { authorityId } = await w.platform();
    return creates('serving_intents', { authority_id: authorityId, plan_digest: null, actions: [] }, own);
  },
  'serving_intent.republish': async (w) => {
    const { authorityId } = await w.platform();
    const changes = { authority_id: authorityId, plan_digest: null, actions: [] };
    const intent = await w.send('serving_intent.publish', null, changes, own);
    return on(intent, { ...changes, plan_digest: 'b'.repeat(64) }, own);
  },
  'podcast.host_elsewhere': async (w) => {
    const { authorityId, streamId } = await w.platform();
    const hosted_by = { authority_id: authorityId, stream_id: streamId };
    return creates('podcasts', { title: 'Tide Tables', language: 'en', hosted_by }, own);
  },
  'episode.host_version': async (w) => {
    const { snapshot, episode } = await w.hostable(await w.platform());
    return on(episode, { snapshot_id: snapshot.id }, own);
  },
  'episode.end_plays': async (w) => on(await w.episode(), { before: w.inTime(-hour) }, own),
  'authority_grant.record_rotation': async (w) => {
    const platform = await w.platform();
    const successor = await w.activeKey(platform.authorityId);
    const grant = { resource_type: 'authority_grants', id: platform.authorityId, version: 2 };
    const rotation = {
      ...{ retired_key_id: platform.keyId, successor_key_id: successor.id },
      ...{ overlap_until: w.inTime(24 * hour), cause: 'A yearly change.' },
    };
    const source = w.source({ ...platform, keyId: successor.id }, platform.authorityId, 1);
    return {
      subject: { type: grant.resource_type, id: grant.id, version: grant.version },
      changes: { ...source, rotation },
      actor: w.exchange,
    };
  },
} satisfies Examples;
