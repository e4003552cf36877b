import createClient from 'openapi-fetch';
import type { paths } from '../generated/openapi.d.ts';
import { ApiProblem, problemOf } from './problems.ts';
import { session } from './session.ts';

/** Fails as a problem when no answer comes, as when the network is gone. */
async function fetchAnswer(request: Request): Promise<Response> {
  try {
    return await fetch(request);
  } catch (error) {
    if (request.signal.aborted) throw error;
    throw new ApiProblem('', { status: 0, slug: 'no_answer', cause: error });
  }
}

/**
 * REST v1 of this origin, with the session's cookie. Every answer that is no success is thrown as an `ApiProblem`, so `data` of an answer with a
 * body is there. One that says that nobody is signed in ends the session of the tab. The browser keeps no answer: what somebody may see changes with
 * plan and rights, and the version of a resource does not.
 */
export const rest = createClient<paths>({ baseUrl: '/api/v1', fetch: fetchAnswer, cache: 'no-store' });

rest.use({
  onResponse: async ({ response }) => {
    if (response.ok || response.status === 304) return;
    if (response.status === 401) session.end();
    const body: unknown = await response
      .clone()
      .json()
      .catch(() => undefined);
    throw problemOf(response, body);
  },
});
