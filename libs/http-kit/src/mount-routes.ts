import { Problem } from '@longwave/problems';
import type { Express, Request, Response } from 'express';

/** Method and path of a route; each surface adds its own fields. */
export interface RoutePlace {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** Below the base path, parameters as `{name}`. */
  readonly path: string;
}

const expressMethods = { GET: 'get', POST: 'post', PUT: 'put', DELETE: 'delete' } as const;

const expressPath = (path: string) => path.replace(/\{(\w+)\}/g, ':$1');

/** Every path once, a fixed word before a parameter in the same place: `{` sorts after letters and digits. */
const pathsOf = (routes: readonly RoutePlace[]): string[] => [...new Set(routes.map(({ path }) => path))].sort();

const noRoute = () => new Problem('not_found', 'There is no such route.');

/** The refusal of a method that a path does not have; sets `Allow` (RFC 9110 §15.5.6). HEAD goes with GET. */
export function methodNotAllowed(
  request: Request,
  response: Response,
  methods: readonly RoutePlace['method'][],
): Problem {
  response.set('Allow', methods.map((method) => (method === 'GET' ? 'GET, HEAD' : method)).join(', '));
  return new Problem('method_not_allowed', `${request.method} is not possible here.`);
}

/**
 * Puts a table of routes on an app. Every other method of a path in the table throws `method_not_allowed`, and every other path below
 * the base, also one that cannot be decoded, throws `not_found`.
 * @param options.admit runs before both refusals; false when it has sent an answer of its own
 */
export function mountRoutes<R extends RoutePlace>(
  app: Express,
  basePath: string,
  routes: readonly R[],
  options: {
    readonly answer: (route: R, request: Request, response: Response) => Promise<void>;
    readonly admit?: (request: Request, response: Response) => Promise<boolean>;
  },
): void {
  const { answer, admit = async () => true } = options;
  for (const path of pathsOf(routes)) {
    const at = app.route(basePath + expressPath(path));
    const here = routes.filter((route) => route.path === path);
    for (const route of here) at[expressMethods[route.method]]((request, response) => answer(route, request, response));
    at.all(async (request, response) => {
      if (!(await admit(request, response))) return;
      const methods = here.map(({ method }) => method);
      throw methodNotAllowed(request, response, methods);
    });
  }
  app.use(basePath, async (request, response) => {
    if (await admit(request, response)) throw noRoute();
  });
  app.use(async (error: unknown, request: Request, response: Response, _next: unknown) => {
    // A path whose parameter cannot be decoded is the path of no route.
    if (!(error instanceof URIError)) throw error;
    if (await admit(request, response)) throw noRoute();
  });
}
