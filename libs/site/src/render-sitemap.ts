import { textElement } from '@longwave/xml';

/** The most addresses that a sitemap may have (sitemaps.org). */
export const maxSitemapUrls = 50_000;

/** The sitemap of these pages (sitemaps.org, 0.9). */
export const renderSitemap = (urls: readonly string[]): string =>
  [
    '<?xml version="1.0" encoding="UTF-8"?>',
    '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">',
    ...urls.slice(0, maxSitemapUrls).map((url) => `<url>${textElement('loc', url).join('')}</url>`),
    '</urlset>',
    '',
  ].join('\n');
