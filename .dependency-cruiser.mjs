/** Imports that no tag of nx can forbid: circles, types included, and the insides of other areas. */
const area = (name) => `^apps/management/src/${name}/`;

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
      name: 'what-both-use-knows-neither',
      severity: 'error',
      from: { path: area('(workspace|background|outside)') },
      to: { path: area('(hosting|advertising)') },
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
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: 'generated/|/dist/' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'node', 'default'] },
  },
};
