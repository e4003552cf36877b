/** Imports that no tag of nx can forbid: circles, types included, and the insides of other areas. */
const area = (name) => `^apps/management/src/${name}/`;
const delivery = (name) => `^apps/public-delivery/src/${name}/`;

export default {
  forbidden: [
    {
      name: 'no-circles',
      comment: 'Two files that import each other are one file, or a third is missing.',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    {
      name: 'hosting-is-not-advertising',
      comment: 'The two meet in resources and events, never in code.',
      severity: 'error',
      from: { path: area('hosting') },
      to: { path: area('advertising') },
    },
    {
      name: 'advertising-is-not-hosting',
      severity: 'error',
      from: { path: area('advertising') },
      to: { path: area('hosting') },
    },
    {
      name: 'the-exchange-is-neither',
      comment: 'It meets both in resources, events and commands.',
      severity: 'error',
      from: { path: area('exchange') },
      to: { path: area('(hosting|advertising)') },
    },
    {
      name: 'neither-is-the-exchange',
      severity: 'error',
      from: { path: area('(hosting|advertising)') },
      to: { path: area('exchange') },
    },
    {
      name: 'what-all-use-knows-none',
      severity: 'error',
      from: { path: area('(workspace|background|outside)') },
      to: { path: area('(hosting|advertising|exchange)') },
    },
    {
      name: 'layers-of-the-pipeline',
      comment: 'execute uses review, read and store; review and read use store; outbox stands alone.',
      severity: 'error',
      from: { path: '^libs/command-pipeline/src/(store|read|review|outbox)/' },
      to: {
        path: '^libs/command-pipeline/src/(execute|review|read|outbox)/',
        pathNot: '^libs/command-pipeline/src/$1/',
      },
    },
    {
      name: 'delivery-foundations-stand-alone',
      comment:
        'Each can be read without the rest of public-delivery. Applying an event may use what renders files from it.',
      severity: 'error',
      from: { path: delivery('(http|listeners|facts|segments|projection)'), pathNot: delivery('projection/apply') },
      to: { path: delivery('[^/]+'), pathNot: delivery('$1') },
    },
    {
      name: 'plays-know-no-format',
      comment:
        'What a listener gets is decided and bound once, whatever files, playlists and documents it is delivered as.',
      severity: 'error',
      from: { path: delivery('(arrangements|decisions|plays)') },
      to: { path: delivery('(progressive|companions|feeds|reports|projection/apply)') },
    },
    {
      name: 'requests-apply-no-events',
      severity: 'error',
      from: { path: delivery('[^/]+'), pathNot: delivery('projection/apply') },
      to: { path: delivery('projection/apply') },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: 'generated/|/dist/' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'node', 'default'] },
  },
};
