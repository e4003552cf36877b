import { startOutboxRelay, subjectOf } from '@longwave/command-pipeline';
import { createRedisBus } from '@longwave/event-bus';
import { topics, type ResourceView } from '@longwave/events';
import { startTestRedis } from '@longwave/fleet';
import { createGuardedFetch } from '@longwave/guarded-fetch';
import { newId } from '@longwave/ids';
import { createLogger } from '@longwave/service-kit';
import { until } from '@longwave/test-kit';
import { discloseSecrets } from '../src/workspace/webhooks/disclose-secret.ts';
import { startWebhooks } from '../src/workspace/webhooks/start-webhooks.ts';
import { sendAsManagement } from '../src/background/send-as-management.ts';
import { followEvents } from '../src/reactions.ts';
import { startTestManagement, webhookSecrets } from './_management.ts';
import { startReceiver } from './_receiver.ts';
import { createWorld, type World } from './_world.ts';

const roots = { baseUrl: 'https://longwave.example', apiUrl: 'https://api.longwave.example' };

/** A delivery's row. */
export interface DeliveryRow {
  readonly id: string;
  readonly endpoint_id: string;
  readonly message_id: string;
  readonly message_type: string;
  readonly body: string;
  readonly state: string;
  readonly problem: string | null;
  readonly attempts: number;
  readonly next_attempt_at: Date;
}

/** Management with its relay, a real bus, the deliveries of webhooks and two hosts that receive them. */
export async function startWebhookWorld() {
  await using stack = new AsyncDisposableStack();
  const receiver = stack.use(await startReceiver());
  const otherReceiver = stack.use(await startReceiver());
  const origins = [receiver.origin, otherReceiver.origin, 'http://127.0.0.1:1'];
  // Every other name is of a private network.
  const fetch = createGuardedFetch({
    allowOrigins: origins,
    resolve: async () => [{ address: '10.1.2.3', family: 4 }],
  });
  const management = stack.use(await startTestManagement(origins));
  const redis = stack.use(await startTestRedis());
  const bus = stack.use(createRedisBus({ redisUrl: redis.url, clientName: 'test' }));
  const { pool, clock } = management;
  stack.use(
    startOutboxRelay({
      pool,
      topic: topics.product,
      publish: (messages) => bus.publish(messages),
      onError: () => undefined,
      pollMs: 20,
    }),
  );
  const logger = createLogger('test', 'silent');
  const { store, execute: executeCommand, runApproved } = management;
  const send = sendAsManagement(executeCommand, logger);
  for (const follower of followEvents({ bus, pool, store, send, runApproved, logger, clock })) stack.use(follower);
  const webhooks = stack.use(
    startWebhooks({
      ...{ pool, bus, roots, clock, fetch, secrets: webhookSecrets, allowOrigins: origins },
      ...{ execute: executeCommand, keepDays: 30, answerMs: 60_000, pollMs: 20, random: () => 0.5, logger },
    }),
  );
  const execute = discloseSecrets(executeCommand, { pool, secrets: webhookSecrets, clock });

  async function deliveriesOf(endpoint: Pick<ResourceView, 'id'>): Promise<DeliveryRow[]> {
    const { rows } = await pool.query<DeliveryRow>(
      'select * from webhook_delivery where endpoint_id = $1 order by id',
      [endpoint.id],
    );
    return rows;
  }

  /** A workspace with an endpoint at a path of its own, and its secret. */
  async function subscribe(
    events: readonly string[],
    world: World = createWorld(management),
    path = `/${newId('req')}`,
  ) {
    const outcome = await execute(
      {
        workspaceId: world.workspaceId,
        commandType: 'webhook_endpoint.create',
        idempotencyKey: newId('req'),
        subject: { type: 'webhook_endpoints', id: null },
        changes: { url: receiver.origin + path, events },
      },
      world.actor,
    );
    const endpoint = subjectOf(outcome);
    return {
      ...{ world, path, endpoint, secret: outcome.disclosed!['secret']! },
      received: () => receiver.at(path),
      deliveries: () => deliveriesOf(endpoint),
      /** Waits for a delivery that satisfies the condition. */
      delivery: (holds: (row: DeliveryRow) => boolean) => until(async () => (await deliveriesOf(endpoint)).find(holds)),
      now: async () =>
        (
          await pool.query(
            'select id, resource_type, version, lifecycle_state, attributes from resource where id = $1',
            [endpoint.id],
          )
        ).rows[0] as ResourceView,
    };
  }

  const owned = stack.move();
  return {
    ...{ management, receiver, otherReceiver, execute, bus, webhooks, subscribe, deliveriesOf },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

export type WebhookWorld = Awaited<ReturnType<typeof startWebhookWorld>>;
