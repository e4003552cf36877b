import { podcasts, productCatalog } from '@longwave/command-catalog';
import { z } from 'zod';
import { listQuery, renderList } from '../list-answer.ts';
import { change, permitCommand, remove } from '../resource-routes.ts';
import { defineRoute, type Route } from '../route.ts';

/** PUT and DELETE of the intro or the outro; the audio is prepared afterwards. */
export const templatePart = (path: string, part: 'intro' | 'outro'): readonly Route[] => [
  change('PUT', path, `podcast.set_${part}`),
  remove(path, `podcast.clear_${part}`),
];

const collaborator = podcasts.attributes.shape.collaborators.unwrap().element;

async function* page<T>(items: readonly T[]): AsyncGenerator<readonly T[]> {
  yield items;
}

/** GET of the accounts that work on a podcast, for those who may invite them, in the order of their invitations. */
const listCollaborators = (path: string): Route =>
  defineRoute({
    method: 'GET',
    path,
    operation: 'collaboratorList',
    summary: 'Lists the collaborators of one podcast. Only those who may invite collaborators can read it.',
    object: { type: 'podcasts', from: 'path', field: 'id' },
    permit: permitCommand('podcast.invite_collaborator'),
    query: listQuery.pick({ page: true, per_page: true }),
    answer: { name: 'Collaborator', schema: collaborator, list: true },
    refusals: [403],
    run: async ({ object, query, url }, { baseUrl }) => {
      const { collaborators: found = [] } = podcasts.attributes
        .pick({ collaborators: true })
        .strip()
        .parse(object?.attributes);
      return renderList(page(found), (each) => each, query, new URL(url, baseUrl).href);
    },
  });

/**
 * GET of all collaborators, POST and DELETE of one. DELETE takes `email` and `role` as parameters, because not every client sends a
 * body with it.
 */
export const collaborators = (path: string): readonly Route[] => [
  listCollaborators(path),
  change('POST', path, 'podcast.invite_collaborator'),
  remove(
    path,
    'podcast.remove_collaborator',
    z.strictObject(productCatalog.commands['podcast.remove_collaborator'].changes.shape),
  ),
];
