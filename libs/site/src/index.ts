export { embedCode } from './embed-code.ts';
export { renderEpisodePage } from './render-episode-page.ts';
export { renderShowPage } from './render-show-page.ts';
export { maxSitemapUrls, renderSitemap } from './render-sitemap.ts';
export type { SiteEpisode, SiteEpisodeDetails, SiteShow } from './site.ts';
export { siteStyle } from './site-style.ts';
