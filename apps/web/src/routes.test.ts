import { createMemoryHistory, createRouter } from '@tanstack/react-router';
import { QueryClient } from '@tanstack/react-query';
import { expect, test } from '@jest/globals';
import { addressesOfOthers } from '../vite/addresses-of-others.ts';
import { navigation } from './root-route.ts';
import { routeTree } from './routes.ts';

const { routesByPath } = createRouter({
  routeTree,
  context: { queries: new QueryClient() },
  history: createMemoryHistory(),
});
const paths = Object.keys(routesByPath);

test('no page has an address that belongs to an API, to the account pages or to files of the build', () => {
  expect(paths.filter((each) => [...addressesOfOthers, '/assets'].includes(`/${each.split('/')[1] ?? ''}`))).toEqual(
    [],
  );
});

test('every place of the rail is a page, and marks itself', () => {
  for (const { place, to } of navigation) {
    const route = routesByPath[to];
    expect([to, route.options.staticData?.place]).toEqual([to, place]);
  }
});

test('every page belongs to a place of the rail', () => {
  const placeOf = (route: (typeof routesByPath)[keyof typeof routesByPath]): string | undefined => {
    const own = (route.options as { staticData?: { place?: string } }).staticData?.place;
    const parent = (route as { parentRoute?: typeof route }).parentRoute;
    return own ?? (parent && placeOf(parent));
  };
  expect(Object.values(routesByPath).filter((route) => placeOf(route) === undefined)).toEqual([]);
});
