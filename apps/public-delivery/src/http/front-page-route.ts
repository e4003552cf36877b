import { serveFrontPage } from '@longwave/api-docs';
import express from 'express';
import type { Route } from './route.ts';

/** The page at the root of `{media_url}`. */
export function frontPageRoute(baseUrl: string): Route {
  const page = express().disable('x-powered-by').disable('etag');
  const serve = serveFrontPage({
    about:
      'Podcast hosting with an audio ad server. This is the host of feeds and audio, which podcast apps and their listeners ask for.',
    links: [
      {
        href: '/delivery/v1/contract',
        name: 'Public Delivery API',
        about: 'Its version, as JSON. It needs no credential; its addresses come from feeds.',
      },
      {
        href: `${baseUrl}/api-docs`,
        name: 'Documentation of REST API v1',
        about: 'Podcasters publish episodes and read numbers of downloads there, at another address.',
      },
    ],
  });
  page.get('/', serve);
  return {
    name: 'front_page.read',
    path: '/',
    get: async ({ request, response }) => void page(request, response),
  };
}
