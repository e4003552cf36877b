import type { RequestHandler } from 'express';
import type { AwaitHolders } from '../verification/await-holders.ts';

/** Methods that change nothing (RFC 9110 §9.2.1). */
const safeMethods: readonly string[] = ['GET', 'HEAD', 'OPTIONS'];

/** Ends no answer to a request that may have changed something before every gateway knows of the change. */
export const holdAnswers =
  (awaitHolders: AwaitHolders): RequestHandler =>
  (request, response, next) => {
    if (!safeMethods.includes(request.method)) {
      const end = response.end.bind(response) as (...args: readonly unknown[]) => void;
      response.end = (...args: readonly unknown[]) => {
        response.end = end as typeof response.end;
        void awaitHolders().then(() => end(...args));
        return response;
      };
    }
    next();
  };
