import { answerErrors, createHttpApp, mountRoutes, problemOf } from '@longwave/http-kit';
import { databaseOutage } from '@longwave/postgres';
import type { Logger } from '@longwave/service-kit';
import type { Express, Response } from 'express';
import type { Look } from '../look.ts';
import { html } from '../pages/html.ts';
import { settingsPathOf } from '../pages/layout.ts';
import type { AwaitHolders } from '../verification/await-holders.ts';
import { createAnswerPage, sendPage, type PageDeps } from './answer-page.ts';
import { holdAnswers } from './hold-answers.ts';
import type { PageRoute } from './page-route.ts';
import { returnRoutes } from './page-routes.ts';

export interface ServerOptions extends Omit<PageDeps, 'lookPath'> {
  readonly routes: readonly PageRoute[];
  /** Puts routes of another kind before the pages, as those of OAuth. */
  readonly mount?: (app: Express) => void;
  readonly look: Look;
  readonly awaitHolders: AwaitHolders;
  readonly logger: Logger;
}

const titles: Readonly<Partial<Record<number, string>>> = {
  403: 'This was refused',
  404: 'There is no such page',
  429: 'Too many requests',
  503: 'Not possible right now',
};

/** The pages of this service over express. Every error is a page too. */
export function createServer({ routes, mount, look, awaitHolders, logger, ...deps }: ServerOptions): Express {
  const app = createHttpApp(logger, ({ route = 'none' }) => ({ route }));
  app.use(holdAnswers(awaitHolders));
  for (const { path, type, content } of look.files)
    app.get(path, (_request, response) => {
      response.set({ 'Content-Type': type, 'Cache-Control': 'public, max-age=31536000, immutable' });
      response.send(content);
    });
  mount?.(app);
  const answerPage = createAnswerPage({ ...deps, lookPath: look.path });
  mountRoutes(app, '', [...routes, ...returnRoutes(routes)], {
    answer: async (route, request, response) => {
      response.locals['route'] = `${route.method} ${route.path}`;
      await answerPage(route, request, response);
    },
  });
  app.use(
    answerErrors({
      logger,
      toFailure: (error) => problemOf(error, databaseOutage),
      render: ({ code, status, message, context: { retryAfterSeconds } }, response: Response) => {
        if (retryAfterSeconds !== undefined) response.set('Retry-After', String(retryAfterSeconds));
        // The key of a form names one sending of it.
        const isRepeated = code === 'idempotency_conflict';
        const title = isRepeated ? 'This was already done' : (titles[status] ?? 'This did not work');
        const body = html`<h1>${title}</h1>
          <p>${isRepeated ? 'The form was sent before, and a form counts once.' : message}</p>
          <p>
            ${
              isRepeated
                ? html`<a href="${settingsPathOf(response.req.path)}">Back to the page</a>`
                : html`<a href="/settings">Go to the settings</a>`
            }
          </p>`;
        sendPage(response, { title, status, body }, { lookPath: look.path, session: undefined, formToken: '' });
      },
    }),
  );
  return app;
}
