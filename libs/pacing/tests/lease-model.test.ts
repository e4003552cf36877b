import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { quarterMs } from '../src/cohort.ts';
import type { GoalBasis, PacedLine } from '../src/index.ts';
import { createTables, type Pending, type Statement } from './_tables.ts';

const hourMs = 3_600_000;
const runs = 100;

const kinds = [
  ...['use', 'use', 'use', 'see', 'see', 'see', 'lower', 'lower', 'lower', 'raise', 'raise', 'raise', 'tick', 'tick'],
  ...['term', 'term', 'crash', 'count', 'late', 'late', 'repeat', 'report', 'watermark', 'advance'],
] as const;
const step = fc.record({ kind: fc.constantFrom(...kinds), pacer: fc.nat(1), fault: fc.nat(5), amount: fc.nat(60) });
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

const lineOf = (basis: GoalBasis, mode: PacedLine['mode'], goal: number, dailyMax: number | undefined): PacedLine => ({
  ...{ lineItemId: 'li', goal, basis, windowStartMs: 0, windowEndMs: 48 * hourMs, mode, velocity: 1.2 },
  ...{ finishEarlyPct: 0, dailyMin: undefined, dailyMax, timeZone: 'UTC' },
});

/** What a pacer has in hand between two of its statements. */
interface Pacer {
  term: number | undefined;
  seen?: Pending | undefined;
  lowered?: boolean;
}

test('after any interleaving of grants, use, reports, closing, crashes, two pacers, and late and repeated statements: C + O stays within the goal at every grant, and used within granted', () => {
  const given = fc.record({
    basis: fc.constantFrom<GoalBasis>('reserved', 'ad_delivered'),
    mode: fc.constantFrom<PacedLine['mode']>('even', 'asap'),
    goal: fc.integer({ min: 1, max: 80 }),
    dailyMax: fc.option(fc.integer({ min: 1, max: 60 }), { nil: undefined }),
    steps: fc.array(step, { minLength: 60, maxLength: 150, size: 'max' }),
  });
  let used = 0;
  fc.assert(
    fc.property(given, ({ basis, mode, goal, dailyMax, steps }) => {
      const model = createTables(lineOf(basis, mode, goal, dailyMax));
      const { tables, rows, cohorts } = model;
      const pacers: [Pacer, Pacer] = [{ term: model.takeTerm() }, { term: undefined }];
      let late: Statement[] = [];
      let last: Statement | undefined;
      let [atMs, decidedNow] = [0, 0];
      let live = [0, 1, 2, 3];

      /** Runs a statement, unless its answer is lost: then nobody knows when it runs, and the pacer gives up its term. */
      function send(pacer: Pacer, statement: Statement, isLost: boolean): boolean {
        if (isLost) {
          late.push(statement);
          Object.assign(pacer, { term: undefined, seen: undefined });
          return false;
        }
        const isRaise = statement.kind === 'raise' && statement.grants.length > 0;
        const before = isRaise ? model.committedAndOpen() : 0;
        const changed = model.run(statement);
        last = statement;
        if (isRaise) expect(model.committedAndOpen()).toBeLessThanOrEqual(Math.max(goal, before) + 1e-6);
        if (changed) pacer.seen?.replace(changed);
        else Object.assign(pacer, { term: undefined, seen: undefined });
        return changed !== undefined;
      }

      const see = (pacer: Pacer) => {
        if (pacer.term === undefined) return;
        Object.assign(pacer, { seen: model.see(Math.min(atMs, 47 * hourMs), live), lowered: false });
      };
      const lower = (pacer: Pacer, isLost = false) => {
        if (pacer.term === undefined || !pacer.seen) return;
        pacer.lowered = send(pacer, pacer.seen.lowering(pacer.term), isLost);
      };
      const raise = (pacer: Pacer, isLost = false) => {
        if (pacer.term === undefined || !pacer.seen || !pacer.lowered) return;
        send(pacer, pacer.seen.raising(pacer.term), isLost);
        pacer.seen = undefined;
      };

      const run: Readonly<Record<(typeof kinds)[number], (one: Step, pacer: Pacer) => void>> = {
        use: ({ amount, fault }) => {
          const slots = 1 + (amount % 6);
          if (model.use(live[fault % live.length]!, slots)) decidedNow += slots;
        },
        see: (_, pacer) => see(pacer),
        lower: ({ fault }, pacer) => lower(pacer, fault === 0),
        raise: ({ fault }, pacer) => raise(pacer, fault === 0),
        tick: (_, pacer) => {
          see(pacer);
          lower(pacer);
          raise(pacer);
        },
        term: (_, pacer) => Object.assign(pacer, { term: model.takeTerm(), seen: undefined }),
        crash: ({ fault }) => {
          const node = live[fault % live.length]!;
          model.close(node);
          // A node that was taken for dead gives nothing more.
          expect(model.use(node, 1)).toBe(false);
          live = [...live.filter((each) => each !== node), Math.max(...rows.keys(), ...live) + 1];
        },
        count: (_, { term }) => {
          if (term !== undefined) model.count(term);
        },
        late: () => {
          for (const statement of late) model.run(statement);
          late = [];
        },
        repeat: () => void (last && model.run(last)),
        report: ({ amount }) => {
          const quarter = Math.floor(atMs / quarterMs);
          const before = cohorts.get(quarter);
          const decided = (before?.decided ?? 0) + decidedNow;
          decidedNow = 0;
          const delivered = Math.max(before?.delivered ?? 0, Math.floor((decided * amount) / 60));
          cohorts.set(quarter, { decided, served: 0, delivered, held: 0, clientStarted: 0, clientCompleted: 0 });
        },
        watermark: ({ amount }) =>
          (tables.watermarkMs = Math.min(atMs, Math.max(0, (tables.watermarkMs ?? 0) + (amount - 10) * hourMs))),
        advance: ({ amount }) => (atMs += amount * 300_000),
      };

      for (const one of steps) {
        run[one.kind](one, pacers[one.pacer]!);
        expect([...rows.values()].filter((row) => row.used < 0 || row.used > row.granted)).toEqual([]);
        if (basis === 'reserved') expect(model.used()).toBeLessThanOrEqual(goal);
        if (dailyMax !== undefined) expect(model.used()).toBeLessThanOrEqual(dailyMax);
      }
      used += model.used() / goal;
    }),
    { numRuns: runs },
  );
  // The steps do give slots away.
  expect(used / runs).toBeGreaterThan(0.2);
});
