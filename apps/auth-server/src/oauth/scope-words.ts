import type { ApiScope, DiagnosticsPurpose } from '@longwave/principal';

/** What each permission means to the person who gives it. */
export const scopeWords: Readonly<Record<ApiScope, string>> = {
  'api:read': 'See the account with its members and names of keys, podcasts, episodes and audio files',
  'api:write':
    'Create, change, publish and delete podcasts with their settings and collaborators, episodes and audio files',
  'api:uploads.write': 'Upload files',
  'api:analytics.read': 'See listening figures and reports',
  'mcp:read': 'See the account, podcasts, episodes and audio files',
  'mcp:analytics.read': 'See listening figures and reports',
  'mcp:episodes.write':
    'Create episodes, and change podcasts and episodes, those that are published too: texts, settings, payments, chapters and transcripts',
  'mcp:media.write': 'Upload and encode audio',
  'mcp:episodes.publish': 'Publish, schedule and withdraw episodes',
  'mcp:content.delete': 'Delete episodes and audio files',
  'mcp:ads.read': 'See advertising campaigns and their figures',
  'management:read': 'See everything in the workspace, with reports and receipts',
  'management:write': 'Execute commands in the workspace, as for campaigns and money',
  'management:diagnostics': 'See traces of single decisions and deliveries',
  'management:bootstrap': 'Set up the workspace of the account, once',
  'exchange:write': 'Send source events',
  'exchange:read': 'Read source events',
  'audience:write': 'Send measurements',
  'audience:read': 'Read the state of measurements that were sent',
};

/** What each purpose of diagnostics means to the person who chooses it. */
export const purposeWords: Readonly<Record<DiagnosticsPurpose, string>> = {
  delivery_dispute: 'Settle a dispute about what was delivered',
  campaign_troubleshooting: 'Find out why a campaign does not deliver',
  quality_assurance: 'Check the quality of decisions',
  audit: 'Account for what was decided',
};
