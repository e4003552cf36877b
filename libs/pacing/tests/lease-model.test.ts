import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { quarterMs } from '../src/cohort.ts';
import type { GoalBasis, PacedLine } from '../src/index.ts';
import { createTables, type Pending, type Statement } from './_tables.ts';

const hourMs = 3_600_000;
const runs = 100;
const maxLive = 9;

const kinds = [
  ...['use', 'use', 'use', 'see', 'see', 'see', 'lower', 'lower', 'lower', 'raise', 'raise', 'raise', 'tick', 'tick'],
  ...['term', 'term', 'crash', 'join', 'count', 'late', 'late', 'repeat', 'repeat', 'report', 'watermark', 'advance'],
  ...['overtaken', 'overtaken', 'spent', 'spent'],
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
      /** Raisings of the newest term that were run. */
      let raised: Statement[] = [];
      let [atMs, decidedNow, beforeStep] = [0, 0, 0];
      let live = [0, 1, 2, 3];

      /** Whatever statement runs, and however late: nothing is granted beyond the goal, and never less than is used. */
      function runNow(statement: Statement) {
        const before = model.committedAndOpen();
        const changed = model.run(statement);
        expect(model.committedAndOpen()).toBeLessThanOrEqual(Math.max(goal, before) + 1e-6);
        expect([...rows.values()].filter((row) => row.used > row.granted)).toEqual([]);
        if (changed && statement.kind === 'raise') raised.push(statement);
        return changed;
      }

      const takeTerm = () => {
        raised = [];
        return model.takeTerm();
      };

      const join = () => (live = [...live, Math.max(...rows.keys(), ...live) + 1]);
      const use = (node: number, slots: number) => {
        if (model.use(node, slots)) decidedNow += slots;
      };

      /** Runs a statement, unless its answer is lost: then nobody knows when it runs, and the pacer gives up its term. */
      function send(pacer: Pacer, statement: Statement, isLost: boolean): boolean {
        if (isLost) {
          late.push(statement);
          Object.assign(pacer, { term: undefined, seen: undefined });
          return false;
        }
        const changed = runNow(statement);
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
          use(live[fault % live.length]!, 1 + (amount % 6));
        },
        see: (_, pacer) => see(pacer),
        lower: ({ fault }, pacer) => lower(pacer, fault === 0),
        raise: ({ fault }, pacer) => raise(pacer, fault === 0),
        tick: (_, pacer) => {
          see(pacer);
          lower(pacer);
          raise(pacer);
        },
        term: (_, pacer) => Object.assign(pacer, { term: takeTerm(), seen: undefined }),
        crash: ({ fault }) => {
          const node = live[fault % live.length]!;
          model.close(node);
          // A node that was taken for dead gives nothing more.
          expect(model.use(node, 1)).toBe(false);
          join();
          live = live.filter((each) => each !== node);
        },
        join: () => void (live.length < maxLive && join()),
        count: (_, { term }) => {
          if (term !== undefined) model.count(term);
        },
        late: () => {
          for (const statement of late) runNow(statement);
          late = [];
        },
        // One that had run already. A lease that by chance has again what it names is left out: no statement runs again after a later one.
        repeat: ({ amount }) => {
          const statement = raised[amount % Math.max(1, raised.length)];
          if (!statement) return;
          const grants = statement.grants.filter(({ node, known }) => rows.get(node)?.granted !== known);
          model.run({ ...statement, grants });
          raised = raised.filter((one) => one !== statement);
          expect(model.committedAndOpen()).toBeLessThanOrEqual(Math.max(goal, beforeStep) + 1e-6);
        },
        // A pacer that stops before it raises: nodes join, and another one shares the rest among more of them.
        overtaken: ({ amount, fault }, pacer) => {
          pacer.term = takeTerm();
          see(pacer);
          lower(pacer);
          const statement = pacer.seen?.raising(pacer.term);
          for (let joined = 0; joined < 1 + (fault % 3) && live.length < maxLive; joined++) join();
          const other = pacers.find((each) => each !== pacer)!;
          other.term = takeTerm();
          for (let at = 0; at < 2; at++) {
            see(other);
            lower(other);
            raise(other);
            use(live[amount % live.length]!, 1 + (amount % 3));
          }
          if (statement) runNow(statement);
        },
        // What a pacer lowers is given away after it looked.
        spent: ({ amount }, pacer) => {
          pacer.term ??= takeTerm();
          if (live.length < maxLive) join();
          see(pacer);
          for (const node of live) {
            const row = rows.get(node);
            if (row && row.granted > row.used) use(node, Math.max(1, row.granted - row.used - (amount % 2)));
          }
          lower(pacer);
          raise(pacer);
        },
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
        beforeStep = model.committedAndOpen();
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
