import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { productCatalog, reviewTasks } from '@longwave/command-catalog';
import {
  createApprovedRunner,
  createCommandExecutor,
  createReceiptSigner,
  publicReceiptKey,
  type Actor,
  type OperationView,
} from '@longwave/command-pipeline';
import { exportLine, verifyChain } from '@longwave/command-pipeline/receipts';
import { newId } from '@longwave/ids';
import { databaseOutage, type Pool } from '@longwave/postgres';
import { Problem } from '@longwave/problems';
import fc from 'fast-check';
import { advertiserRules } from '../src/advertising/advertisers/advertiser-rules.ts';
import { decideReview } from '../src/workspace/reviews/decide-review.ts';
import { reviewRules } from '../src/workspace/reviews/review-rules.ts';
import { startTestManagement, type TestManagement } from './_management.ts';
import { hour, person, service } from './_values.ts';

let management: TestManagement;
beforeAll(async () => {
  management = await startTestManagement();
});
afterAll(async () => management[Symbol.asyncDispose]());

const { commands: all, resources } = productCatalog;
const catalog = {
  resources: { advertisers: resources.advertisers, review_tasks: reviewTasks },
  commands: {
    'advertiser.create': all['advertiser.create'],
    'advertiser.revise': all['advertiser.revise'],
    'advertiser.activate': all['advertiser.activate'],
    'advertiser.suspend': all['advertiser.suspend'],
    'advertiser.reinstate': all['advertiser.reinstate'],
    'advertiser.archive': all['advertiser.archive'],
    'review.approve': all['review.approve'],
    'review.decline': all['review.decline'],
    'review.request_changes': all['review.request_changes'],
    'review.withdraw': all['review.withdraw'],
    'review.expire': all['review.expire'],
    'operation.cancel': all['operation.cancel'],
  },
} as const;
type Command = keyof typeof catalog.commands;

/** What goes wrong with one command: its connection breaks before a statement, or after the commit, so that the answer is lost. */
type Fault = { readonly kind: 'none' | 'lost_answer' } | { readonly kind: 'killed'; readonly statement: number };
const fault: fc.Arbitrary<Fault> = fc.oneof(
  { weight: 3, arbitrary: fc.constant<Fault>({ kind: 'none' }) },
  { weight: 1, arbitrary: fc.constant<Fault>({ kind: 'lost_answer' }) },
  { weight: 2, arbitrary: fc.nat({ max: 8 }).map((statement): Fault => ({ kind: 'killed', statement })) },
);

/** How often each fault happened, so that the test proves something. */
const faultsMet = { killed: 0, lost_answer: 0 };

/** A pool whose next transaction meets a fault. */
function unreliable(pool: Pool): { readonly pool: Pool; meet: (next: Fault) => void } {
  let next: Fault = { kind: 'none' };
  const connect = async () => {
    const client = await pool.connect();
    const { stream } = (client as unknown as { connection: { stream: { destroy(): void } } }).connection;
    let met = next;
    next = { kind: 'none' };
    let statements = 0;
    return new Proxy(client, {
      get: (target, name) => {
        const value: unknown = Reflect.get(target, name);
        if (typeof value !== 'function') return value;
        const call = value.bind(target) as (...args: unknown[]) => unknown;
        if (name !== 'query') return call;
        return async (...args: unknown[]) => {
          if (met.kind === 'killed' && statements++ === met.statement) {
            faultsMet.killed++;
            stream.destroy();
          }
          const result = await call(...args);
          if (met.kind !== 'lost_answer' || args[0] !== 'COMMIT') return result;
          met = { kind: 'none' };
          faultsMet.lost_answer++;
          throw new Error('Connection terminated: the answer is lost');
        };
      },
    });
  };
  return {
    pool: new Proxy(pool, {
      get: (target, name) => {
        if (name === 'connect') return connect;
        const value: unknown = Reflect.get(target, name);
        // Reads of the pool itself take connections without faults.
        return typeof value === 'function' ? (value.bind(target) as unknown) : value;
      },
    }),
    meet: (fault) => (next = fault),
  };
}

interface Advertiser {
  readonly id: string;
  version: number;
  state: string;
}
interface Task {
  readonly id: string;
  version: number;
  state: string;
  readonly operationId: string;
  readonly command: 'advertiser.activate' | 'advertiser.reinstate';
  readonly advertiser: Advertiser;
  readonly requestedOf: number;
}
/** What the store must hold. */
interface Model {
  readonly advertisers: Advertiser[];
  readonly tasks: Task[];
  readonly operations: Map<string, string>;
  /** [resource, version, event], in the order of commits. */
  readonly changes: (readonly [string, number, string])[];
  receipts: number;
}

/** One workspace, its people and its unreliable executor. */
async function createReal() {
  const workspaceId = newId('ws');
  const broken = unreliable(management.pool);
  let aheadMs = 0;
  const options = {
    pool: broken.pool,
    catalog,
    rules: { ...advertiserRules, ...reviewRules },
    signReceipt: createReceiptSigner(management.receiptKey),
    clock: () => new Date(Date.now() + aheadMs),
    decideReview,
  };
  const execute = createCommandExecutor(options);
  const runApproved = createApprovedRunner(options);

  /** Tries until it is answered: after a fault with the same content, so nothing may happen twice. */
  async function insist<T>(work: () => Promise<T>): Promise<T> {
    for (;;)
      try {
        return await work();
      } catch (error) {
        if (!databaseOutage(error)) throw error;
      }
  }
  const requester = person(workspaceId, ['sales', 'finance', 'admin']);
  return {
    workspaceId,
    requester,
    reviewer: person(workspaceId, ['viewer', 'reviewer']),
    meet: broken.meet,
    aWeekLater: () => void (aheadMs += 7 * 24 * hour),
    runApproved: (taskId: string) => insist(() => runApproved(workspaceId, taskId)),
    /** The operation of an accepted command, or the code of its refusal. */
    async send(commandType: Command, subject: { id: string | null; version?: number }, changes: object, as: Actor) {
      const { subject: type } = catalog.commands[commandType];
      const idempotencyKey = newId('req');
      const request = { workspaceId, commandType, idempotencyKey, subject: { type, ...subject }, changes };
      try {
        const { operationJson } = await insist(() => execute(request, as));
        const again = await execute(request, as);
        expect(again).toMatchObject({ operationJson, replayed: true });
        return JSON.parse(operationJson) as OperationView;
      } catch (error) {
        if (error instanceof Problem) return error.code;
        throw error;
      }
    },
  };
}
type Real = Awaited<ReturnType<typeof createReal>>;
type Step = fc.AsyncCommand<Model, Real>;

/** A step that always applies; it compares what happened with the model. */
const step = (name: string, fault: Fault, run: (model: Model, real: Real) => Promise<void>): Step => ({
  check: () => true,
  run: async (model, real) => {
    real.meet(fault);
    await run(model, real);
    real.meet({ kind: 'none' });
  },
  toString: () => `${name}${fault.kind === 'none' ? '' : ` (${JSON.stringify(fault)})`}`,
});

const accepted = (model: Model, answer: OperationView | string): OperationView => {
  if (typeof answer === 'string') throw new Error(`refused: ${answer}`);
  model.receipts++;
  model.operations.set(answer.id, answer.state);
  return answer;
};
const pick = <T>(list: readonly T[], n: number): T | undefined => list[n % Math.max(1, list.length)];
const cause = 'The customer asked for it.';

const moves: Readonly<
  Record<string, { from: readonly string[]; to?: string; changes: object; event: string; reviewed?: true }>
> = {
  'advertiser.revise': { from: ['draft', 'active'], changes: { billing_ref: 'D-1' }, event: 'advertiser.revised' },
  'advertiser.activate': { from: ['draft'], to: 'active', changes: {}, event: 'advertiser.activated', reviewed: true },
  'advertiser.suspend': { from: ['active'], to: 'suspended', changes: { cause }, event: 'advertiser.suspended' },
  'advertiser.reinstate': {
    from: ['suspended'],
    to: 'active',
    changes: { cause },
    event: 'advertiser.reinstated',
    reviewed: true,
  },
  'advertiser.archive': {
    from: ['draft', 'active', 'suspended'],
    to: 'archived',
    changes: {},
    event: 'advertiser.archived',
  },
};

const create = fault.map((met) =>
  step('create', met, async (model, real) => {
    const changes = { legal_name: 'Tidewater', brands: [], ad_product_categories: [] };
    const answer = await real.send('advertiser.create', { id: null, version: 0 }, changes, real.requester);
    const { id } = accepted(model, answer).subject;
    model.advertisers.push({ id, version: 1, state: 'draft' });
    model.changes.push([id, 1, 'advertiser.created']);
  }),
);

const move = fc
  .tuple(fc.constantFrom(...Object.keys(moves)), fc.nat(), fc.integer({ min: -1, max: 6 }), fault)
  .map(([type, n, guard, met]) =>
    step(`${type} of ${n}${guard < 0 ? ', stale' : ''}`, met, async (model, real) => {
      const subject = pick(model.advertisers, n);
      if (!subject) return;
      const { from, to = subject.state, changes, event, reviewed } = moves[type]!;
      const version = guard < 0 ? subject.version + 1 : subject.version;
      const answer = await real.send(type as Command, { id: subject.id, version }, changes, real.requester);
      if (guard < 0) return expect(answer).toBe('version_conflict');
      if (!from.includes(subject.state)) return expect(answer).toBe('state_not_allowed');
      const waits = ({ command, advertiser, requestedOf, operationId }: Task) =>
        command === type &&
        advertiser === subject &&
        requestedOf === version &&
        model.operations.get(operationId) === 'waiting_review';
      if (model.tasks.some(waits)) return expect(answer).toBe('review_waiting');
      const operation = accepted(model, answer);
      if (!reviewed) {
        Object.assign(subject, { version: version + 1, state: to });
        model.changes.push([subject.id, version + 1, event]);
        return undefined;
      }
      expect(operation.state).toBe('waiting_review');
      const task: Task = {
        id: operation.review_task_id!,
        version: 1,
        state: 'open',
        operationId: operation.id,
        command: type as Task['command'],
        advertiser: subject,
        requestedOf: version,
      };
      model.tasks.push(task);
      model.changes.push([task.id, 1, 'review.requested']);
      return undefined;
    }),
  );

const verdicts = {
  approve: { from: ['open', 'changes_requested'], state: 'approved', ends: undefined, event: 'review.approved' },
  decline: { from: ['open', 'changes_requested'], state: 'declined', ends: 'failed', event: 'review.declined' },
  request_changes: { from: ['open'], state: 'changes_requested', ends: undefined, event: 'review.changes_requested' },
  withdraw: { from: ['open', 'changes_requested'], state: 'withdrawn', ends: 'cancelled', event: 'review.withdrawn' },
} as const;

/** The follower carries out the approved command, or fails its operation. */
async function carryOut(model: Model, real: Real, task: Task): Promise<void> {
  await real.runApproved(task.id);
  await real.runApproved(task.id);
  const { advertiser, command, requestedOf, operationId } = task;
  const { to, event } = moves[command]!;
  const isCurrent = advertiser.version === requestedOf;
  model.operations.set(operationId, isCurrent ? 'succeeded' : 'failed');
  if (!isCurrent) return;
  Object.assign(advertiser, { version: requestedOf + 1, state: to! });
  model.changes.push([advertiser.id, requestedOf + 1, event]);
  model.receipts++;
}

const decide = fc
  .tuple(fc.constantFrom('approve', 'approve', 'decline', 'request_changes', 'withdraw'), fc.nat(), fault)
  .map(([verdict, n, met]) =>
    step(`${verdict} task ${n}`, met, async (model, real) => {
      const task = pick(model.tasks, n);
      if (!task) return;
      const { from, state, ends, event } = verdicts[verdict];
      const changes = verdict === 'withdraw' ? {} : { note: 'Seen.' };
      const as = verdict === 'withdraw' ? real.requester : real.reviewer;
      const answer = await real.send(`review.${verdict}`, { id: task.id, version: task.version }, changes, as);
      if (!(from as readonly string[]).includes(task.state)) return expect(answer).toBe('state_not_allowed');
      accepted(model, answer);
      Object.assign(task, { state, version: task.version + 1 });
      model.changes.push([task.id, task.version, event]);
      if (ends) model.operations.set(task.operationId, ends);
      if (verdict === 'approve') await carryOut(model, real, task);
      return undefined;
    }),
  );

const cancel = fc.tuple(fc.nat(), fault).map(([n, met]) =>
  step(`cancel the operation of task ${n}`, met, async (model, real) => {
    const task = pick(model.tasks, n);
    if (!task) return;
    const answer = await real.send('operation.cancel', { id: task.operationId }, { cause }, real.requester);
    if (model.operations.get(task.operationId) !== 'waiting_review') return expect(answer).toBe('state_not_allowed');
    accepted(model, answer);
    Object.assign(task, { state: 'withdrawn', version: task.version + 1 });
    model.operations.set(task.operationId, 'cancelled');
    model.changes.push([task.id, task.version, 'review.withdrawn']);
    return undefined;
  }),
);

const clock = fault.map((met) =>
  step('a week passes', met, async (model, real) => {
    real.aWeekLater();
    for (const task of model.tasks.filter(({ state }) => state === 'open' || state === 'changes_requested')) {
      const answer = await real.send(
        'review.expire',
        { id: task.id, version: task.version },
        {},
        service('management'),
      );
      accepted(model, answer);
      Object.assign(task, { state: 'expired', version: task.version + 1 });
      model.operations.set(task.operationId, 'failed');
      model.changes.push([task.id, task.version, 'review.expired']);
    }
  }),
);

/** Everything that the store holds of a workspace, in the words of the model. */
async function compare(model: Model, { workspaceId }: Real): Promise<void> {
  const read = async <T extends object>(sql: string) => (await management.pool.query<T>(sql, [workspaceId])).rows;
  const kept = await read<{ id: string }>(
    'select id, version, lifecycle_state as state from resource where workspace_id = $1 order by id',
  );
  const expected = [...model.advertisers, ...model.tasks].map(({ id, version, state }) => ({ id, version, state }));
  expect(kept).toEqual(expected.sort((a, b) => (a.id < b.id ? -1 : 1)));
  const changes = await read<{ resource_id: string; version: number; event_type: string }>(
    'select resource_id, version, event_type from change where workspace_id = $1 order by seq, position',
  );
  expect(changes.map((row) => [row.resource_id, row.version, row.event_type])).toEqual(model.changes);
  const history = await read(
    `select from revision v join resource r on r.id = v.resource_id where r.workspace_id = $1`,
  );
  expect(history).toHaveLength(model.changes.length);
  const operations = await read<{ id: string; state: string }>(
    'select id, state from operation where workspace_id = $1',
  );
  expect(new Map(operations.map(({ id, state }) => [id, state]))).toEqual(model.operations);
  const receipts = await read<{ seq: number; id: string; jws: string }>(
    'select seq, id, jws from receipt where workspace_id = $1 order by seq',
  );
  expect(receipts).toHaveLength(model.receipts);
  if (receipts.length === 0) return;
  const found = await verifyChain(receipts.map(exportLine).join(''), [publicReceiptKey(management.receiptKey)]);
  expect(found).toMatchObject({ ok: true, workspaceId });
}

test('any sequence of commands, reviews, cancellations and weeks, with broken connections and lost answers, leaves what the model says', async () => {
  const steps = fc.commands([create, move, move, decide, cancel, clock], { maxCommands: 30, size: '+1' });
  await fc.assert(
    fc.asyncProperty(steps, async (sequence) => {
      const model: Model = { advertisers: [], tasks: [], operations: new Map(), changes: [], receipts: 0 };
      const real = await createReal();
      await fc.asyncModelRun(() => ({ model, real }), sequence);
      await compare(model, real);
    }),
    { numRuns: 40 },
  );
  expect(faultsMet.killed).toBeGreaterThan(20);
  expect(faultsMet.lost_answer).toBeGreaterThan(5);
}, 120_000);
