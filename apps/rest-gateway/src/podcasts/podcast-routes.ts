import { productCatalog } from '@longwave/command-catalog';
import { z } from 'zod';
import { change, remove } from '../resource-routes.ts';
import type { Route } from '../route.ts';

/** PUT and DELETE of the intro or the outro; the audio is prepared afterwards. */
export const templatePart = (path: string, part: 'intro' | 'outro'): readonly Route[] => [
  change('PUT', path, `podcast.set_${part}`),
  remove(path, `podcast.clear_${part}`),
];

/** POST and DELETE of one collaborator; the latter by `email` as a parameter, because not every client sends a body with it. */
export const collaborators = (path: string): readonly Route[] => [
  change('POST', path, 'podcast.invite_collaborator'),
  remove(
    path,
    'podcast.remove_collaborator',
    z.strictObject(productCatalog.commands['podcast.remove_collaborator'].changes.shape),
  ),
];
