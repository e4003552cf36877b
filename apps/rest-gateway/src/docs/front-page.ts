import type { FrontPage } from '@longwave/api-docs';

/** The page at the root of `{base_url}`. */
export const frontPage: FrontPage = {
  about:
    'Podcast hosting with an audio ad server. This is the host of REST API v1: podcasts, episodes, uploads, encoding and download numbers.',
  links: [
    { href: '/sign-up', name: 'Sign up', about: 'Make an account with your e-mail address.' },
    { href: '/settings', name: 'Sign in', about: 'Your profile, API keys, members and security.' },
    {
      href: '/settings/connectors',
      name: 'Connect an agent',
      about: 'The address of the MCP server, and the programs that you gave access.',
    },
    {
      href: '/api-docs',
      name: 'Documentation',
      about: 'Every operation with its fields and errors, and a form to try it.',
    },
    { href: '/api/v1/docs', name: 'OpenAPI document', about: 'The same for programs, in JSON.' },
    {
      href: '/api/v1/podcasts',
      name: 'Your podcasts',
      about: 'The podcasts of an account, in JSON. Send an API key in the header “Authorization: Bearer KEY”.',
    },
  ],
};
