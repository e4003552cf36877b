import { Problem } from '@longwave/problems';
import type { Logger } from '@longwave/service-kit';
import type { Express, Response } from 'express';
import { answerErrors, problemOf } from './answer-errors.ts';
import { methodNotAllowed } from './mount-routes.ts';
import { challengeOf, protectedResourceUrl } from './protected-resource.ts';
import { renderProblem } from './render-problem.ts';
import { requestIdOf } from './track-request.ts';

/** Refuses every method but GET for documents that an app serves already. */
export function serveOnlyGet(app: Express, paths: readonly string[]): void {
  for (const path of paths)
    app.all(path, (request, response) => {
      throw methodNotAllowed(request, response, ['GET']);
    });
}

/**
 * The end of an app that serves one API with access tokens: every other path is `not_found`, and errors are answered as problems, with a
 * challenge (RFC 6750 §3) for the scope in `response.locals`.
 * @param options.resource the API's resource identifier
 * @param options.toProblem names the errors that the API knows
 * @param options.complete adds to a problem before it is answered
 */
export function endRoutes(
  app: Express,
  options: {
    readonly resource: string;
    readonly logger: Logger;
    readonly toProblem: (error: unknown) => Problem | undefined;
    readonly complete?: (problem: Problem, response: Response) => Problem;
  },
): void {
  const { resource, logger, toProblem, complete = (problem) => problem } = options;
  const metadataUrl = protectedResourceUrl(resource);
  app.use(() => {
    throw new Problem('not_found', 'There is no such route.');
  });
  app.use(
    answerErrors({
      logger,
      toFailure: (error) => problemOf(error, toProblem),
      render: (problem, response) => {
        const { scope } = response.locals as { readonly scope?: string };
        const challenge = challengeOf(problem.code, metadataUrl, scope);
        if (challenge) response.set('WWW-Authenticate', challenge);
        renderProblem(response, complete(problem, response), requestIdOf(response));
      },
    }),
  );
}
