import { describeApi, type ApiContract } from '@longwave/services';
import type { Route } from '../route.ts';
import { deprecationOf } from './deprecation.ts';

/** The contract document of REST API v1, derived from the route table. */
export const restContract = (routes: readonly Route[]): ApiContract =>
  describeApi({
    name: 'REST API',
    version: 'v1',
    base_path: '/api/v1',
    openapi: '/api/v1/docs',
    documentation: '/api-docs',
    operations: routes,
    deprecations: routes.filter(({ deprecated }) => deprecated).map(deprecationOf),
  });
