import { expect, test } from '@jest/globals';
import { services } from '@longwave/services';
import { pageRoutes, type PageRoutesDeps } from './page-routes.ts';

test('every page lies under a path that the edge passes to this service', () => {
  const prefixes = services['auth-server'].http?.base ?? [];
  const paths = pageRoutes({} as PageRoutesDeps).map(({ path }) => path);
  const isOwn = (path: string) => prefixes.some((prefix) => path === prefix || path.startsWith(`${prefix}/`));
  expect(paths.filter((path) => !isOwn(path))).toEqual([]);
});
