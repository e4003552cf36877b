import { expect, test } from '@jest/globals';
import { productCatalog, type CommandDefinition } from '@longwave/command-catalog';
import { grantedRoles, ownerRoles, roles as everyRole, type Role } from '@longwave/principal';
import fc from 'fast-check';
import { peopleWith, type RoleHolder } from '../people/role-holder.ts';
import { appliedMode, requiredReview, reviewAmong, stricterReview } from './required-review.ts';

const definition = (review: CommandDefinition['review']): CommandDefinition => ({
  ...productCatalog.commands['workspace.suspend'],
  review,
});

test.each([
  ['single', 0, 'none'],
  ['single', 1, 'single'],
  ['single', 9, 'single'],
  ['dual', 0, 'none'],
  ['dual', 1, 'single'],
  ['dual', 2, 'dual'],
  ['dual', 9, 'dual'],
  ['host', 0, 'none'],
  ['host', 1, 'single'],
  ['policy', 9, 'none'],
  ['single', undefined, 'single'],
  ['dual', undefined, 'dual'],
  ['host', undefined, 'none'],
  ['policy', undefined, 'none'],
] as const)('a review declared as %s with %s eligible other people applies as %s', (review, others, applied) => {
  expect(appliedMode(requiredReview(definition(review)), others)).toBe(applied);
});

test('every command of the catalog with a review has one, and a host review is for publishers', () => {
  for (const command of Object.values(productCatalog.commands as Readonly<Record<string, CommandDefinition>>)) {
    if (command.review === 'none') expect(() => requiredReview(command)).toThrow(command.type);
    else expect(requiredReview(command).declared).toBe(command.review);
    if (command.review === 'host') expect(requiredReview(command).roles).toEqual(['publisher']);
  }
});

test('no command with a review is open to the roles of collaborators alone: management does not know who these are', () => {
  const known: readonly Role[] = [...ownerRoles, ...grantedRoles];
  for (const { type, review, roles } of Object.values(
    productCatalog.commands as Readonly<Record<string, CommandDefinition>>,
  ))
    if (review !== 'none') expect([type, roles.filter((role) => !known.includes(role))]).toEqual([type, []]);
});

const people: readonly string[] = ['ann', 'bob', 'cy', 'dee'];
const person = fc.constantFrom(...people);
const podcast: fc.Arbitrary<string> = fc.constantFrom('pod_1', 'pod_2');
const holder: fc.Arbitrary<RoleHolder> = fc.record(
  { person, podcastId: podcast, roles: fc.subarray([...everyRole]) },
  { requiredKeys: ['person', 'roles'] },
);

test('people are counted once, only with one of the roles where it holds, and never when they are excluded; more holders never count fewer', () => {
  fc.assert(
    fc.property(
      fc.array(holder),
      holder,
      fc.subarray([...everyRole]),
      fc.option(podcast, { nil: undefined }),
      fc.uniqueArray(person),
      (holders, another, roles, podcastId, except) => {
        const need = { roles, podcastId, except };
        const found = peopleWith(holders, need);
        for (const one of people) {
          const held = holders
            .filter((each) => each.person === one && [undefined, podcastId].includes(each.podcastId))
            .flatMap((each) => each.roles);
          expect(found.has(one)).toBe(!except.includes(one) && roles.some((role) => held.includes(role)));
        }
        expect(peopleWith([...holders, another], need).size).toBeGreaterThanOrEqual(found.size);
      },
    ),
  );
});

const someRoles = fc.subarray([...everyRole], { minLength: 1 });
const declaredReview = fc.constantFrom('single' as const, 'dual' as const, 'host' as const, 'policy' as const);
const strictness = ['none', 'single', 'dual'];

test('a policy never lowers the review that applies, never takes a host away, and asks for no more people than there are', () => {
  fc.assert(
    fc.property(
      fc.record({ review: declaredReview, reviewers: someRoles }),
      fc.record({ mode: fc.constantFrom('single' as const, 'dual' as const), roles: someRoles }),
      fc.option(fc.array(holder), { nil: undefined }),
      fc.option(podcast, { nil: undefined }),
      fc.uniqueArray(person),
      ({ review, reviewers }, demand, holders, podcastId, except) => {
        const builtIn = requiredReview({ ...definition(review), reviewers });
        const own = reviewAmong(builtIn, podcastId, { holders, except });
        const demanded = reviewAmong({ ...demand, declared: demand.mode }, undefined, { holders, except });
        const counted = stricterReview(own, demanded);
        const { applied, requiredRoles, firstApprovalRoles = requiredRoles } = counted;
        for (const { reduced } of [own, demanded])
          expect(strictness.indexOf(applied)).toBeGreaterThanOrEqual(strictness.indexOf(reduced.applied));
        if (review === 'host' && own.reduced.applied !== 'none')
          expect([firstApprovalRoles, counted.podcastId]).toEqual([['publisher'], podcastId]);
        if (!holders || applied === 'none') return;
        const [first, further] = [firstApprovalRoles, requiredRoles].map((roles) => [
          ...peopleWith(holders, { roles, podcastId: counted.podcastId, except }),
        ]);
        expect(first!.some((one) => applied === 'single' || further!.some((other) => other !== one))).toBe(true);
      },
    ),
    { numRuns: 500 },
  );
});

test('of reviews that apply alike the policy that asked for more people keeps its reviewers', () => {
  const people = {
    holders: [
      { person: 'ann', roles: ['finance'] },
      { person: 'bob', roles: ['admin'] },
    ] as const,
    except: [],
  };
  const builtIn = reviewAmong(requiredReview({ ...definition('single'), reviewers: ['admin'] }), undefined, people);
  const demanded = (mode: 'single' | 'dual') =>
    reviewAmong({ declared: mode, mode, roles: ['finance'] }, undefined, people);
  expect(stricterReview(builtIn, demanded('dual'))).toMatchObject({ applied: 'single', requiredRoles: ['finance'] });
  expect(stricterReview(builtIn, demanded('single'))).toMatchObject({ applied: 'single', requiredRoles: ['admin'] });
});
